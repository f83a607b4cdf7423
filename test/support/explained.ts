import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { join } from 'node:path';
import { writeHooks } from '../../mail/agents/hooks.ts';
import type { Write } from '../../mail/store/engine/types.ts';

/** Reads a store, and writes down how each statement goes about it; what would write is only written down. */
export interface Explained extends Disposable {
  tx: Write;
  /** Steps of each statement, in the order in which they were asked for. */
  plans: string[][];
}

export function explained(dataDir: string): Explained {
  const db = new DatabaseSync(join(dataDir, 'mailstead.db'), { readOnly: true });
  const plans: string[][] = [];
  const explain = (sql: string, params: SQLInputValue[]): void => {
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...params);
    plans.push(plan.map(({ detail }) => String(detail)));
  };
  const all = (sql: string, ...params: SQLInputValue[]): Promise<unknown[]> => {
    explain(sql, params);
    return Promise.resolve(db.prepare(sql).all(...params));
  };
  const tx = {
    all,
    get: async (sql: string, ...params: SQLInputValue[]) => (await all(sql, ...params))[0],
    run: (sql: string, ...params: SQLInputValue[]) => {
      explain(sql, params);
      return Promise.resolve({ changes: 0, id: 0 });
    },
    send: (sql: string, ...params: SQLInputValue[]) => {
      explain(sql, params);
      return Promise.resolve();
    },
    touched: () => undefined,
    loginsEnded: () => undefined,
    hooks: writeHooks,
  };
  return { tx: tx as unknown as Write, plans, [Symbol.dispose]: () => db.close() };
}

import { setTimeout as delay } from 'node:timers/promises';
import { Lanes } from '../engine/lanes.ts';
import type { PostgresReader } from '../engine/postgres/reader.ts';
import type { Reader } from '../engine/reader.ts';
import { type AllRows, type Reads, runReads, runReadsLater } from '../engine/reads.ts';
import type { WakeUp } from '../engine/types.ts';
import type { SharedView } from './view.ts';
import type { Views } from './views.ts';

const RETRY_MS = 1_000;

/** Opens the shared views of an engine and keeps them up to date. */
export interface ViewReader {
  open(account: number, mailbox: number): Promise<SharedView>;
  /** Updates the views after a commit; undefined: they are up to date. Never rejects. */
  catchUp(wakeUps: readonly WakeUp[]): Promise<void> | undefined;
}

/** On SQLite a view is updated within a tick. */
export function sqliteViews(views: Views, reader: Reader): ViewReader {
  const snapshot = <T>(body: (all: AllRows) => T): T =>
    reader.snapshot((connection) => body((sql: string, params) => connection.all(sql, params)));
  return {
    open: (account, mailbox) => reader.between(() => runReads(views.open(account, mailbox), snapshot)),
    catchUp(wakeUps) {
      runReads(views.catchUp(wakeUps), snapshot);
      return undefined;
    },
  };
}

/**
 * On PostgreSQL the views of an account are read one after the other, each state later than the one before. While the
 * database does not answer after a commit, its reply goes out first and the views follow.
 */
export function postgresViews(views: Views, reader: PostgresReader, stop: AbortSignal): ViewReader {
  const lanes = new Lanes<number>();
  const read = <T>(reads: Reads<T>): Promise<T> => runReadsLater(reads, (body) => reader.snapshot(body));
  const retry = async (account: number, wakeUps: readonly WakeUp[]): Promise<void> => {
    const whole = wakeUps.map(({ flags: _, ...wakeUp }) => wakeUp);
    await delay(RETRY_MS, undefined, { ref: false });
    if (!stop.aborted) await update(account, whole);
  };
  const update = async (account: number, wakeUps: readonly WakeUp[]): Promise<void> => {
    try {
      await lanes.run(account, () => read(views.catchUp(wakeUps)));
    } catch {
      void retry(account, wakeUps);
    }
  };
  return {
    open: (account, mailbox) => lanes.run(account, () => read(views.open(account, mailbox))),
    catchUp(wakeUps) {
      const byAccount = Map.groupBy(wakeUps, ({ account }) => account);
      return Promise.all([...byAccount].map(([account, list]) => update(account, list))).then(() => undefined);
    },
  };
}

import { randomBytes } from 'node:crypto';
import type { Settings } from '../../config/settings.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import type { Caller } from '../../src/core/caller.ts';
import type { Operation } from '../../src/core/operation.ts';
import { perform, type OperationOutcome } from '../../src/operations/perform.ts';
import type { Refusal } from '../../src/core/refusal.ts';
import type { TestContext } from './world.ts';
import { insertOrganization } from '../../src/organizations/commands.ts';
import { ALL_ACTIONS, expandActions } from '../../src/core/token.ts';
import { testWorld, type TestWorld } from './world.ts';

const makeOrganization = command('test-make-organization', async (tx, input: { name: string }, stamp) => {
  const made = await insertOrganization(tx, { name: input.name, origin: 'claim', ip: '' }, stamp);
  await tx.run('UPDATE organization SET claimed_at = ? WHERE id = ?', stamp.now, made.id);
  return made;
});

/** For what no command does, such as time that has passed. */
const runSql = command(
  'test-run-sql',
  (tx, { sql, values }: { sql: string; values: (string | number | Uint8Array | null)[] }) => tx.run(sql, ...values),
);

/** A world in which operations are performed by organizations of their own. */
export interface Calls extends AsyncDisposable {
  world: TestContext;
  test: TestWorld;
  /** A new, claimed organization; a full token of it. */
  organization(name: string): Promise<Caller>;
  perform(caller: Caller, operation: Operation, input?: object): Promise<OperationOutcome>;
  /** The result; throws when it was refused. */
  done<T = Record<string, unknown>>(caller: Caller, operation: Operation, input?: object): Promise<T>;
  /** The refusal; throws when it was done. */
  refused(caller: Caller, operation: Operation, input?: object): Promise<Refusal>;
  rows<T = Record<string, unknown>>(sql: string): Promise<T[]>;
  run(sql: string, ...values: (string | number | null)[]): Promise<void>;
}

export async function calls(
  over: Partial<Omit<TestContext, 'settings'>> & { settings?: Partial<Settings> } = {},
): Promise<Calls> {
  const { settings, ...parts } = over;
  const test = await testWorld(parts, [makeOrganization, runSql] as never);
  const world: TestContext = { ...test.world, settings: { ...test.world.settings, ...settings } };
  const ask: Calls['perform'] = (caller, operation, input = {}) => perform(world, operation, caller, input);
  return {
    world,
    test,
    async organization(name) {
      const { id } = await world.store.write(makeOrganization, { name });
      // The token needs a row: mail of a token that no longer exists is refused.
      const sql = `INSERT INTO token (id, token_hash, organization_id, name, display_prefix, actions, owner, created_by, created_at)
        VALUES (?1, ?2, ?1, 'test', 'mst_0', 'read manage', 1, 'bootstrap', 0)`;
      await world.store.write(runSql, { sql, values: [id, Uint8Array.from(randomBytes(32))] });
      return fullToken(id);
    },
    perform: ask,
    async done<T>(caller: Caller, operation: Operation, input?: object) {
      const outcome = await ask(caller, operation, input);
      if (outcome.kind === 'done') return outcome.result as T;
      throw new Error(`${operation.name}: ${JSON.stringify(outcome.refusal)}`);
    },
    async refused(caller, operation, input) {
      const outcome = await ask(caller, operation, input);
      if (outcome.kind === 'refused') return outcome.refusal;
      throw new Error(`${operation.name} was done: ${JSON.stringify(outcome.result)}`);
    },
    rows: <T>(sql: string) =>
      world.store.read(
        query('test-rows', (rx) => rx.all(sql) as Promise<T[]>),
        undefined,
      ),
    run: async (sql, ...values) => void (await world.store.write(runSql, { sql, values })),
    [Symbol.asyncDispose]: () => test[Symbol.asyncDispose](),
  };
}

/** Everything that an organization may, as its first token does. */
export function fullToken(organization: number): Caller {
  return {
    kind: 'token',
    organization,
    actions: expandActions(ALL_ACTIONS),
    project: null,
    service: null,
    mailboxes: null,
    actor: `tok_${organization}`,
    actorName: 'test',
    way: 'rest',
    ip: '127.0.0.1',
  };
}

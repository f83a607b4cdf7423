import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { command } from '../../../mail/store/engine/types.ts';
import { firstBrokenAuditRow } from '../../../src/audit/queries.ts';
import { rowId } from '../../../src/core/ids.ts';
import { perform } from '../../../src/operations/perform.ts';
import { EVERYTHING, sampleOf } from '../../support/operation-samples.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

interface Event {
  id: string;
  operation: string;
  outcome: string;
  actor: string;
  target: string;
  ip: string;
  detail: Record<string, unknown>;
}

let tenants: Tenants;
beforeAll(async () => {
  tenants = await twoTenants({}, [forge]);
});
afterAll(() => tenants[Symbol.asyncDispose]());

async function events(limit = 100): Promise<Event[]> {
  return (await tenants.do('list_audit_events', { limit }))['events'] as Event[];
}

async function broken(): Promise<number | undefined> {
  const organization = rowId('organization', tenants.a.main.organizationId) ?? 0;
  return tenants.world.store.scan(firstBrokenAuditRow, { organization });
}

describe('a secret that is shown', () => {
  test('a hundred times stands in the log a hundred times, with who and why and nothing of itself', async () => {
    const { mailboxId, address } = tenants.a.main;
    const said = await Promise.all(
      Array.from({ length: 100 }, (_, i) => tenants.do('reveal_email_credentials', { mailboxId, reason: `look ${i}` })),
    );
    const rows = (await events()).filter((one) => one.operation === 'reveal_email_credentials');
    expect(rows).toHaveLength(100);
    expect(new Set(rows.map((one) => one.id))).toEqual(new Set(said.map((one) => one['auditId'])));
    const { id } = tenants.a.caller.token ?? { id: 0 };
    for (const row of rows) {
      expect(row).toMatchObject({
        actor: `tok_${id}`,
        target: mailboxId,
        outcome: 'done',
        ip: '127.0.0.1',
        detail: { address },
      });
    }
    const { password } = (said[0] as { imap: { password: string } }).imap;
    expect(JSON.stringify(rows)).not.toContain(password);
  });

  test.each(EVERYTHING.filter((one) => one.secret === true && one.action !== 'anonymous'))(
    'leaves a row for $name, done or refused',
    async (operation) => {
      const { a, world } = tenants;
      const [before] = await events(1);
      const done = await perform(world, operation, a.caller, sampleOf(operation, a.side));
      expect(done.kind).toBe('done');
      const [after] = await events(1);
      expect(after).toMatchObject({ operation: operation.name });
      expect(after?.id).not.toBe(before?.id);
      const refused = await perform(world, operation, { ...a.caller, actions: new Set() }, sampleOf(operation, a.side));
      expect(refused.kind).toBe('refused');
      expect((await events(1))[0]).toMatchObject({ operation: operation.name, outcome: 'action_not_allowed' });
    },
  );
});

describe('the log', () => {
  test('has a row for every operation that changes something', async () => {
    const { a, world } = tenants;
    for (const operation of EVERYTHING.filter((one) => !one.hints.readOnly && one.action !== 'anonymous')) {
      const [before] = await events(1);
      await perform(world, operation, a.caller, sampleOf(operation, a.side));
      const [after] = await events(1);
      expect(after?.id, operation.name).not.toBe(before?.id);
      expect(after?.operation).toBe(operation.name);
    }
  });

  test('is as it was after everything was done that an organization can do', async () => {
    expect(await broken()).toBeUndefined();
    expect((await tenants.do('list_audit_events', { verify: true }))['chain']).toEqual({
      intact: true,
      firstBroken: null,
    });
  });

  test('cannot be touched by any operation: none has a word of it but the one that reads', () => {
    expect(EVERYTHING.filter((one) => /audit/.test(one.name)).map((one) => [one.name, one.hints.readOnly])).toEqual([
      ['list_audit_events', true],
    ]);
  });

  test.each([
    ['another outcome', `UPDATE audit SET outcome = 'done!' WHERE id = ?`],
    ['another actor', `UPDATE audit SET actor = 'tok_99999' WHERE id = ?`],
    ['another address', `UPDATE audit SET ip = '198.18.0.1' WHERE id = ?`],
    ['another time', 'UPDATE audit SET at = at + 1 WHERE id = ?'],
    ['another detail', `UPDATE audit SET detail = '{"x":1}' WHERE id = ?`],
    ['one row less', 'DELETE FROM audit WHERE id = ?'],
  ])('shows that somebody forged it: %s', async (_name, sql) => {
    const row = (await events(20)).at(-1);
    const id = rowId('audit', row?.id ?? '') ?? 0;
    expect(await tenants.world.store.write(forge, { sql, id, undo: false })).toBe(1);
    expect(await broken()).toBeGreaterThanOrEqual(id);
    await tenants.world.store.write(forge, { sql, id, undo: true });
    expect(await broken()).toBeUndefined();
  });
});

let kept: Record<string, string | number | Uint8Array | bigint | null> | undefined;

/** Forges a row of the audit log, which needs access to the database file; `undo` restores the row. */
const forge = command(
  'test-forge',
  async (tx, { sql, id, undo }: { sql: string; id: number; undo: boolean }): Promise<number> => {
    if (!undo) {
      kept = await tx.get('SELECT * FROM audit WHERE id = ?', id);
      return (await tx.run(sql, id)).changes;
    }
    const values = Object.values(kept ?? {});
    await tx.run('DELETE FROM audit WHERE id = ?', id);
    return (await tx.run(`INSERT INTO audit VALUES (${values.map(() => '?').join(', ')})`, ...values)).changes;
  },
);

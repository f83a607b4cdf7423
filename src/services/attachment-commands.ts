import { command, lookup, type Stamp, type Write } from '../../mail/store/engine/types.ts';

export type AttachResult = { kind: 'attached' | 'already' | 'alias-taken' };

/** Attaches a mailbox to a service under an alias, or ''. Idempotent. */
export async function attachMailbox(
  tx: Write,
  { service, account, alias }: { service: number; account: number; alias: string },
  stamp: Stamp,
): Promise<AttachResult> {
  const same = await tx.get<{ alias: string }>(
    'SELECT alias FROM service_mailbox WHERE service_id = ? AND account_id = ?',
    service,
    account,
  );
  if (same !== undefined) return { kind: same.alias === alias ? 'already' : 'alias-taken' };
  const taken = await tx.get(
    'SELECT 1 AS there FROM service_mailbox WHERE service_id = ? AND alias = ?',
    service,
    alias,
  );
  if (taken !== undefined) return { kind: 'alias-taken' };
  await tx.run(
    'INSERT INTO service_mailbox (service_id, account_id, alias, created_at) VALUES (?, ?, ?, ?)',
    service,
    account,
    alias,
    stamp.now,
  );
  return { kind: 'attached' };
}

export const attachEmail = command(
  'attach-email',
  async (
    tx,
    input: { organization: number; service: number; account: number; alias: string },
    stamp,
  ): Promise<AttachResult | { kind: 'missing' }> => {
    const there = await tx.get(
      `SELECT 1 AS there FROM service s JOIN account a ON a.tenant = s.organization_id
       WHERE s.id = ? AND s.organization_id = ? AND a.id = ? AND a.state < 2`,
      input.service,
      input.organization,
      input.account,
    );
    return there === undefined ? { kind: 'missing' } : attachMailbox(tx, input, stamp);
  },
);

export const detachEmail = command(
  'detach-email',
  async (
    tx,
    input: { service: number; account: number },
  ): Promise<{ kind: 'detached'; alias: string } | { kind: 'none' }> => {
    const row = await tx.get<{ alias: string }>(
      'DELETE FROM service_mailbox WHERE service_id = ? AND account_id = ? RETURNING alias',
      input.service,
      input.account,
    );
    return row === undefined ? { kind: 'none' } : { kind: 'detached', alias: row.alias };
  },
);

/** Mailboxes of one service, the one without an alias first. */
export const attachmentsOf = lookup(
  'attachments-of',
  (rx, input: { service: number }): Promise<{ account: number; alias: string; address: string }[]> =>
    rx.all<{ account: number; alias: string; address: string }>(
      `SELECT m.account_id AS account, m.alias, a.address FROM service_mailbox m JOIN account a ON a.id = m.account_id
       WHERE m.service_id = ? AND a.state < 2 ORDER BY m.alias`,
      input.service,
    ),
);

/** Services that a mailbox is attached to. */
export const servicesOf = lookup('services-of', async (rx, input: { account: number }): Promise<number[]> => {
  const rows = await rx.all<{ service_id: number }>(
    'SELECT service_id FROM service_mailbox WHERE account_id = ? ORDER BY service_id',
    input.account,
  );
  return rows.map((row) => row.service_id);
});

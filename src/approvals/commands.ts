import { type Outgoing, send } from '../../mail/delivery/submit.ts';
import { approvalRow, approve, endApproval, undecidable } from '../../mail/store/approval.ts';
import { command, type Read } from '../../mail/store/engine/types.ts';
import type { AskedUpTo } from './queries.ts';

export interface Decision {
  /** Of its submission. */
  id: number;
  tenant: number;
  /** A person may decide for these only; null: for all of the organization. */
  accounts: readonly number[] | null;
  approves: boolean;
  /** Who decides, as people know them. */
  by: string;
  /** Of its octets as they were just read, hex; null: it waits no more, or is refused anyway. */
  sha256: string | null;
}

/** `missing`: the organization has no such message, or the person may not decide about it. */
export type Decided = { kind: 'approved' | 'denied' | 'missing' | 'frozen' | 'decided' | 'expired' | 'changed' };

/** A person lets a message of an agent go, or refuses it. What is another message by now goes nowhere. */
export const decideApproval = command('decide-approval', async (tx, input: Decision, stamp): Promise<Decided> => {
  const { id, tenant, accounts, approves, by, sha256 } = input;
  const row = await approvalRow(tx, id);
  const mine = accounts === null || (row?.account_id != null && accounts.includes(row.account_id));
  if (row?.tenant !== tenant || !mine) return { kind: 'missing' };
  if (await isFrozen(tx, tenant)) return { kind: 'frozen' };
  const flaw = await undecidable(tx, row, stamp.now, sha256 ?? undefined);
  if (flaw === 'changed') await endApproval(tx, row, 'void', null, stamp);
  if (flaw !== undefined) return { kind: flaw };
  if (approves) await approve(tx, row, by, stamp);
  else await endApproval(tx, row, 'denied', by, stamp);
  return { kind: approves ? 'approved' : 'denied' };
});

async function isFrozen(rx: Read, organization: number): Promise<boolean> {
  const sql = 'SELECT 1 AS frozen FROM organization WHERE id = ? AND frozen_at IS NOT NULL';
  return (await rx.get(sql, organization)) !== undefined;
}

/**
 * Sends the letters about mail and proposals that wait in an organization, `upTo` what was there when they were written:
 * of what they tell no other letter does. Answers how much that is.
 */
export const tellApprovals = command(
  'tell-approvals',
  async (
    tx,
    input: { tenant: number; upTo: AskedUpTo; letters: readonly Outgoing[] },
    stamp,
  ): Promise<{ told: number }> => {
    const { changes: mails } = await tx.run(
      `UPDATE approval SET told_at = ? WHERE tenant = ? AND id <= ? AND state = 'pending' AND told_at IS NULL`,
      stamp.now,
      input.tenant,
      input.upTo.mail,
    );
    const { changes: proposals } = await tx.run(
      `UPDATE proposal SET told_at = ? WHERE organization_id = ? AND id <= ? AND state = 'pending' AND told_at IS NULL`,
      stamp.now,
      input.tenant,
      input.upTo.proposal,
    );
    const told = mails + proposals;
    if (told > 0) for (const letter of input.letters) await send(tx, letter, stamp);
    return { told };
  },
);

import { sendNotices, type SystemNotice } from '../../mail/delivery/notice.ts';
import { approvalRow, approve, endApproval, findApprovalFlaw } from '../../mail/agents/approval/approval.ts';
import type { ApprovalRow } from '../../mail/agents/approval/approval-row.ts';
import { isHuman } from '../../mail/store/actor.ts';
import { command, type Read } from '../../mail/store/engine/types.ts';
import type { NotifiedUpTo } from './queries.ts';

export interface ApprovalDecision {
  /** Row of its submission. */
  id: number;
  tenant: number;
  /** Accounts that the person may decide for; null: all of the organization. */
  accounts: readonly number[] | null;
  approves: boolean;
  /** Name of the person who decides. */
  by: string;
  /** SHA-256 of its octets as just read, hex; null: not held any more, or denied anyway. */
  sha256: string | null;
  /** Password of the mailbox by which the person is known, as mail programs are; none for people of the portal. */
  credential?: number;
}

/** `missing`: no such message in the organization, or the person may not decide about it. */
export type ApprovalResult = { kind: 'approved' | 'denied' | 'missing' | 'frozen' | 'decided' | 'expired' | 'changed' };

/** Approves or denies a message of an agent. A changed message is cancelled. */
export const decideApproval = command(
  'decide-approval',
  async (tx, input: ApprovalDecision, stamp): Promise<ApprovalResult> => {
    const { id, tenant, accounts, approves, by, sha256 } = input;
    const row = await approvalRow(tx, id);
    const mine = accounts === null || (row?.account_id != null && accounts.includes(row.account_id));
    if (row?.tenant !== tenant || !mine || !(await isPersons(tx, row, input))) return { kind: 'missing' };
    if (await isFrozen(tx, tenant)) return { kind: 'frozen' };
    const flaw = await findApprovalFlaw(tx, row, stamp.now, sha256 ?? undefined);
    if (flaw === 'changed') await endApproval(tx, row, 'void', null, stamp);
    if (flaw !== undefined) return { kind: flaw };
    if (approves) await approve(tx, row, by, stamp);
    else await endApproval(tx, row, 'denied', by, stamp);
    return { kind: approves ? 'approved' : 'denied' };
  },
);

/** True without a password, or if the password is still a person's. */
async function isPersons(rx: Read, { account_id: account }: ApprovalRow, { credential }: ApprovalDecision) {
  return credential === undefined || (account !== null && (await isHuman(rx, account, { credential })));
}

async function isFrozen(rx: Read, organization: number): Promise<boolean> {
  const sql = 'SELECT 1 AS frozen FROM organization WHERE id = ? AND frozen_at IS NOT NULL';
  return (await rx.get(sql, organization)) !== undefined;
}

/**
 * Sends the notices about pending mail and proposals of an organization, once for each that existed (`upTo`) when they were
 * composed. Returns their number.
 */
export const notifyApprovals = command(
  'notify-approvals',
  async (
    tx,
    input: { tenant: number; upTo: NotifiedUpTo; notices: readonly SystemNotice<'approval-request'>[] },
    stamp,
  ): Promise<{ notified: number }> => {
    const { changes: mails } = await tx.run(
      `UPDATE approval SET notified_at = ? WHERE tenant = ? AND id <= ? AND state = 'pending' AND notified_at IS NULL`,
      stamp.now,
      input.tenant,
      input.upTo.mail,
    );
    const { changes: proposals } = await tx.run(
      `UPDATE proposal SET notified_at = ? WHERE organization_id = ? AND id <= ? AND state = 'pending' AND notified_at IS NULL`,
      stamp.now,
      input.tenant,
      input.upTo.proposal,
    );
    const notified = mails + proposals;
    if (notified > 0) await sendNotices(tx, input.notices, stamp);
    return { notified };
  },
);

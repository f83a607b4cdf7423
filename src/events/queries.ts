import { query } from '../../mail/store/engine/types.ts';
import type { ApprovalState } from '../../mail/store/approval.ts';
import type { Trust } from '../../mail/policy/trust.ts';

export interface ArrivedEmail {
  threadId: number;
  /** ms UTC. */
  receivedAt: number;
  trust: Trust | null;
}

/** A message of an account as its arrival is told; undefined: it has gone again. */
export const arrivedEmail = query(
  'arrived-email',
  async (rx, { account, email }: { account: number; email: number }): Promise<ArrivedEmail | undefined> => {
    const row = await rx.get<{ thread_id: number; received_at: number; trust: string | null }>(
      `SELECT e.thread_id, e.received_at, j.trust FROM email e LEFT JOIN judged j ON j.email_id = e.id
       WHERE e.id = ? AND +e.account_id = ? AND EXISTS (SELECT 1 FROM entry WHERE email_id = e.id)`,
      email,
      account,
    );
    if (row === undefined) return undefined;
    const { thread_id: threadId, received_at: receivedAt, trust } = row;
    return { threadId, receivedAt, trust: trust === null ? null : (JSON.parse(trust) as Trust) };
  },
);

/** When a person was asked about a message, and what came of it when; undefined: nobody was. ms UTC. */
export const approvalTimes = query('approval-times', (rx, { id }: { id: number }) =>
  rx.get<{ state: ApprovalState; asked: number; decided: number | null }>(
    'SELECT state, created_at AS asked, decided_at AS decided FROM approval WHERE id = ?',
    id,
  ),
);

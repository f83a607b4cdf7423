import type { Reason } from '../agents/gate/types.ts';
import { lookup, query, type Read } from '../store/engine/types.ts';

export const OUTBOX_STATES = ['scheduled', 'pending', 'approved', 'denied', 'expired', 'withdrawn'] as const;
export type OutboxState = (typeof OUTBOX_STATES)[number];

/** A scheduled or held message, or an approval request with its outcome. */
export interface OutboxItem {
  /** Id of its submission, which is deleted after sending. */
  id: number;
  trace: string;
  account: number | null;
  sender: string;
  recipients: string[];
  /** Null: scheduled, or held for a reason that needs no approval. */
  approval: {
    subject: string;
    /** Requester: public id of a token or a mailbox. */
    credential: string;
    /** Hex digest of the octets. */
    sha256: string;
    reasons: readonly Reason[];
    expiresAt: number;
    decidedAt: number | null;
    decidedBy: string | null;
    /** Email id of its copy in the mailbox. */
    email: number | null;
  } | null;
  state: OutboxState;
  heldBecause: string | null;
  /** ms UTC; null: sent, or never to be sent. */
  dueAt: number | null;
  createdAt: number;
}

export interface OutboxPage {
  tenant: number;
  /** Accounts; null: all, and programs. */
  accounts: readonly number[] | null;
  state: OutboxState | null;
  /** Approval requests only. */
  approvalsOnly?: boolean;
  /** Continues with submissions older than this; null: the newest. */
  before: number | null;
  limit: number;
  /** ms UTC. */
  now: number;
}

/** Lists waiting messages, and decided approval requests of some weeks; newest first. */
export const listOutbox = query('list-outbox-items', async (rx, page: OutboxPage): Promise<OutboxItem[]> => {
  const { tenant, accounts, state, approvalsOnly = false, before, limit } = page;
  const ids = await rx.all<{ id: number }>(
    `SELECT id FROM (
       SELECT * FROM (SELECT submission_id AS id FROM scheduled d WHERE tenant = ?1 AND submission_id < ?2 AND ?6 = 0
         AND (?4 IS NULL OR ?4 = CASE WHEN hold_reason IS NULL THEN 'scheduled' ELSE 'pending' END)
         AND (?5 IS NULL OR account_id IN (SELECT value FROM json_each(?5)))
         AND NOT EXISTS (SELECT 1 FROM approval a WHERE a.id = d.submission_id)
         ORDER BY submission_id DESC LIMIT ?3)
       UNION ALL
       SELECT * FROM (SELECT id FROM approval WHERE tenant = ?1 AND id < ?2 AND (?4 IS NULL OR state = ?4)
         AND (?5 IS NULL OR account_id IN (SELECT value FROM json_each(?5))) ORDER BY id DESC LIMIT ?3)
     ) ORDER BY id DESC LIMIT ?3`,
    tenant,
    before ?? Number.MAX_SAFE_INTEGER,
    limit,
    state,
    accounts === null ? null : JSON.stringify(accounts),
    Number(approvalsOnly),
  );
  return readItems(
    rx,
    ids.map(({ id }) => id),
    page.now,
  );
});

/** Finds one item of any tenant and account; the caller checks access. */
export const findOutboxItem = query(
  'outbox-item',
  async (rx, { id, now }: { id: number; now: number }): Promise<(OutboxItem & { tenant: number }) | undefined> =>
    (await readItems(rx, [id], now))[0],
);

/** Counts pending approval requests. */
export const countPending = lookup(
  'count-pending-approvals',
  async (
    rx,
    { tenant, accounts, now }: { tenant: number; accounts: readonly number[] | null; now: number },
  ): Promise<number> => {
    const row = await rx.get<{ n: number }>(
      `SELECT count(*) AS n FROM approval INDEXED BY approval_pending_tenant WHERE tenant = ?1 AND state = 'pending'
         AND expires_at > ?2 AND (?3 IS NULL OR account_id IN (SELECT value FROM json_each(?3)))`,
      tenant,
      now,
      accounts === null ? null : JSON.stringify(accounts),
    );
    return row?.n ?? 0;
  },
);

interface ItemRow extends Record<string, string | number | null> {
  id: number;
  tenant: number;
  trace: string;
  account_id: number | null;
  sender: string;
  recipients: string;
  due_at: number | null;
  hold_reason: string | null;
  created_at: number;
  approval: string | null;
  state: OutboxState | null;
  expires_at: number | null;
}

async function readItems(rx: Read, ids: readonly number[], now: number): Promise<(OutboxItem & { tenant: number })[]> {
  const rows = await rx.all<ItemRow>(
    `SELECT i.value AS id, coalesce(a.tenant, d.tenant) AS tenant, coalesce(a.trace, s.trace) AS trace,
       CASE WHEN a.id IS NULL THEN d.account_id ELSE a.account_id END AS account_id, coalesce(a.sender, s.sender) AS sender,
       coalesce(a.recipients, d.recipients) AS recipients, d.due_at, d.hold_reason,
       coalesce(a.created_at, s.created_at) AS created_at, a.state, a.expires_at,
       CASE WHEN a.id IS NULL THEN NULL ELSE json_object('subject', a.subject, 'credential', a.credential,
         'sha256', a.sha256, 'reasons', json(a.reasons), 'expiresAt', a.expires_at, 'decidedAt', a.decided_at,
         'decidedBy', a.decided_by, 'email', a.email_id) END AS approval
     FROM json_each(?) i LEFT JOIN approval a ON a.id = i.value LEFT JOIN submission s ON s.id = i.value
       LEFT JOIN scheduled d ON d.submission_id = i.value
     WHERE a.id IS NOT NULL OR d.submission_id IS NOT NULL ORDER BY i.value DESC`,
    JSON.stringify(ids),
  );
  return rows.map(({ approval, state, expires_at: expiresAt, hold_reason: heldBecause, due_at: dueAt, ...row }) => ({
    id: row.id,
    tenant: row.tenant,
    trace: row.trace,
    account: row.account_id,
    sender: row.sender,
    recipients: JSON.parse(row.recipients) as string[],
    approval: approval === null ? null : (JSON.parse(approval) as OutboxItem['approval']),
    state: state === 'pending' && (expiresAt ?? 0) <= now ? 'expired' : (state ?? unapprovedState(heldBecause)),
    heldBecause,
    dueAt,
    createdAt: row.created_at,
  }));
}

function unapprovedState(heldBecause: string | null): OutboxState {
  return heldBecause === null ? 'scheduled' : 'pending';
}

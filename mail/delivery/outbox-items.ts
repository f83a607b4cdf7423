import type { HeldReason } from '../store/approval.ts';
import { query, type Read } from '../store/engine/types.ts';

export const OUTBOX_STATES = ['scheduled', 'pending', 'approved', 'denied', 'expired', 'withdrawn'] as const;
export type OutboxState = (typeof OUTBOX_STATES)[number];

/** A message that waits as a whole, or about which a person was asked and what became of it. */
export interface OutboxItem {
  /** Of its submission, which is gone when it has left. */
  id: number;
  trace: string;
  account: number | null;
  sender: string;
  recipients: string[];
  /** Null: it waits for its time, or is held for another reason than that an agent sends it. */
  approval: {
    subject: string;
    /** Who asked: public id of a token, or of a mailbox. */
    credential: string;
    /** Of the octets that leave, hex. */
    sha256: string;
    reasons: readonly HeldReason[];
    expiresAt: number;
    decidedAt: number | null;
    decidedBy: string | null;
    /** The message as it lies in the mailbox. */
    email: number | null;
  } | null;
  state: OutboxState;
  heldBecause: string | null;
  /** ms UTC; null: it has left, or never will. */
  dueAt: number | null;
  createdAt: number;
}

export interface OutboxPage {
  tenant: number;
  /** Of these accounts; null: of all, and of programs. */
  accounts: readonly number[] | null;
  state: OutboxState | null;
  /** Only what a person was asked about. */
  asked?: boolean;
  /** Goes on with what is older than this submission; null: with the newest. */
  before: number | null;
  limit: number;
  /** ms UTC. */
  now: number;
}

/** What waits, and for some weeks what was decided about it; newest first. */
export const listOutbox = query('list-outbox-items', async (rx, page: OutboxPage): Promise<OutboxItem[]> => {
  const { tenant, accounts, state, asked = false, before, limit } = page;
  const ids = await rx.all<{ id: number }>(
    `SELECT id FROM (
       SELECT * FROM (SELECT submission_id AS id FROM scheduled d WHERE tenant = ?1 AND submission_id < ?2 AND ?6 = 0
         AND (?4 IS NULL OR ?4 = CASE WHEN held_because IS NULL THEN 'scheduled' ELSE 'pending' END)
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
    Number(asked),
  );
  return itemsOf(
    rx,
    ids.map(({ id }) => id),
    page.now,
  );
});

/** One of them, of whatever tenant and account: who asks compares. */
export const outboxItem = query(
  'outbox-item',
  async (rx, { id, now }: { id: number; now: number }): Promise<(OutboxItem & { tenant: number }) | undefined> =>
    (await itemsOf(rx, [id], now))[0],
);

/** How many messages a person could decide about. */
export const countPending = query(
  'count-pending-approvals',
  async (
    rx,
    { tenant, accounts, now }: { tenant: number; accounts: readonly number[] | null; now: number },
  ): Promise<number> => {
    const row = await rx.get<{ n: number }>(
      `SELECT count(*) AS n FROM approval INDEXED BY approval_waits WHERE tenant = ?1 AND state = 'pending'
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
  held_because: string | null;
  created_at: number;
  asked: string | null;
  state: OutboxState | null;
  expires_at: number | null;
}

async function itemsOf(rx: Read, ids: readonly number[], now: number): Promise<(OutboxItem & { tenant: number })[]> {
  const rows = await rx.all<ItemRow>(
    `SELECT i.value AS id, coalesce(a.tenant, d.tenant) AS tenant, coalesce(a.trace, s.trace) AS trace,
       CASE WHEN a.id IS NULL THEN d.account_id ELSE a.account_id END AS account_id, coalesce(a.sender, s.sender) AS sender,
       coalesce(a.recipients, d.recipients) AS recipients, d.due_at, d.held_because,
       coalesce(a.created_at, s.created_at) AS created_at, a.state, a.expires_at,
       CASE WHEN a.id IS NULL THEN NULL ELSE json_object('subject', a.subject, 'credential', a.credential,
         'sha256', a.sha256, 'reasons', json(a.reasons), 'expiresAt', a.expires_at, 'decidedAt', a.decided_at,
         'decidedBy', a.decided_by, 'email', a.email_id) END AS asked
     FROM json_each(?) i LEFT JOIN approval a ON a.id = i.value LEFT JOIN submission s ON s.id = i.value
       LEFT JOIN scheduled d ON d.submission_id = i.value
     WHERE a.id IS NOT NULL OR d.submission_id IS NOT NULL ORDER BY i.value DESC`,
    JSON.stringify(ids),
  );
  return rows.map(({ asked, state, expires_at: expiresAt, held_because: heldBecause, due_at: dueAt, ...row }) => ({
    id: row.id,
    tenant: row.tenant,
    trace: row.trace,
    account: row.account_id,
    sender: row.sender,
    recipients: JSON.parse(row.recipients) as string[],
    approval: asked === null ? null : (JSON.parse(asked) as OutboxItem['approval']),
    state: state === 'pending' && (expiresAt ?? 0) <= now ? 'expired' : (state ?? waitingState(heldBecause)),
    heldBecause,
    dueAt,
    createdAt: row.created_at,
  }));
}

function waitingState(heldBecause: string | null): OutboxState {
  return heldBecause === null ? 'scheduled' : 'pending';
}

import { query, type Read } from '../../mail/store/engine/types.ts';

/** A scheduled or held message. */
export interface WaitingMessage {
  id: number;
  trace: string;
  tenant: number;
  account: number | null;
  sender: string;
  recipients: string[];
  dueAt: number;
  heldBecause: string | null;
  createdAt: number;
}

interface WaitingPage {
  tenant: number;
  /** Accounts; null: all, and programs. */
  accounts: readonly number[] | null;
  /** Continues after this submission. */
  after: number;
  limit: number;
}

interface WaitingRow extends Record<string, string | number | null> {
  id: number;
  trace: string;
  tenant: number;
  account_id: number | null;
  sender: string;
  recipients: string;
  due_at: number;
  hold_reason: string | null;
  created_at: number;
}

/** Lists scheduled and held messages of a tenant, oldest first. The cost depends on the page only. */
export const listWaiting = query('list-waiting', async (rx, page: WaitingPage): Promise<WaitingMessage[]> => {
  const rows = await (page.accounts === null ? waitingOfTenant(rx, page) : waitingOfAccounts(rx, page, page.accounts));
  return rows.map((row) => ({
    id: row.id,
    trace: row.trace,
    tenant: row.tenant,
    account: row.account_id,
    sender: row.sender,
    recipients: JSON.parse(row.recipients) as string[],
    dueAt: row.due_at,
    heldBecause: row.hold_reason,
    createdAt: row.created_at,
  }));
});

function waitingOfTenant(rx: Read, { tenant, after, limit }: WaitingPage): Promise<WaitingRow[]> {
  return rx.all<WaitingRow>(
    `SELECT s.id, s.trace, s.tenant, s.account_id, s.sender, d.recipients, d.due_at, d.hold_reason, s.created_at
     FROM scheduled d CROSS JOIN submission s ON s.id = d.submission_id
     WHERE d.tenant = ? AND d.submission_id > ? ORDER BY d.submission_id LIMIT ?`,
    tenant,
    after,
    limit,
  );
}

/** Reads at most one page per account. */
function waitingOfAccounts(
  rx: Read,
  { tenant, after, limit }: WaitingPage,
  accounts: readonly number[],
): Promise<WaitingRow[]> {
  return rx.all<WaitingRow>(
    `SELECT s.id, s.trace, s.tenant, s.account_id, s.sender, d.recipients, d.due_at, d.hold_reason, s.created_at
     FROM json_each(?1) a
       CROSS JOIN scheduled d ON d.submission_id IN (
         SELECT submission_id FROM scheduled WHERE account_id = a.value AND submission_id > ?3
         ORDER BY submission_id LIMIT ?4)
       CROSS JOIN submission s ON s.id = d.submission_id
     WHERE d.tenant = ?2 ORDER BY d.submission_id LIMIT ?4`,
    JSON.stringify(accounts),
    tenant,
    after,
    limit,
  );
}

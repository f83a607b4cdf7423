import { query, type Read } from '../store/engine/types.ts';

/** A message that waits as a whole, as people see it. */
export interface Waiting {
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

interface Page {
  tenant: number;
  /** Of these accounts; null: of all, and of programs. */
  accounts: readonly number[] | null;
  /** Goes on behind this submission. */
  after: number;
  limit: number;
}

interface Row extends Record<string, string | number | null> {
  id: number;
  trace: string;
  tenant: number;
  account_id: number | null;
  sender: string;
  recipients: string;
  due_at: number;
  held_because: string | null;
  created_at: number;
}

/** What of a tenant waits for its time or for a person, oldest first; it costs what it answers, whatever else waits. */
export const listWaiting = query('list-waiting', async (rx, page: Page): Promise<Waiting[]> => {
  const rows = await (page.accounts === null ? ofTenant(rx, page) : ofAccounts(rx, page, page.accounts));
  return rows.map((row) => ({
    id: row.id,
    trace: row.trace,
    tenant: row.tenant,
    account: row.account_id,
    sender: row.sender,
    recipients: JSON.parse(row.recipients) as string[],
    dueAt: row.due_at,
    heldBecause: row.held_because,
    createdAt: row.created_at,
  }));
});

function ofTenant(rx: Read, { tenant, after, limit }: Page): Promise<Row[]> {
  return rx.all<Row>(
    `SELECT s.id, s.trace, s.tenant, s.account_id, s.sender, d.recipients, d.due_at, d.held_because, s.created_at
     FROM scheduled d CROSS JOIN submission s ON s.id = d.submission_id
     WHERE d.tenant = ? AND d.submission_id > ? ORDER BY d.submission_id LIMIT ?`,
    tenant,
    after,
    limit,
  );
}

/** A page of each account at most is looked at: many accounts with much between them are walked over together. */
function ofAccounts(rx: Read, { tenant, after, limit }: Page, accounts: readonly number[]): Promise<Row[]> {
  return rx.all<Row>(
    `SELECT s.id, s.trace, s.tenant, s.account_id, s.sender, d.recipients, d.due_at, d.held_because, s.created_at
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

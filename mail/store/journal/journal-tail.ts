import { lookup, query } from '../engine/types.ts';
import type { JournalEvent, JournalViewer } from './journal.ts';

/** Maximum journal lines that one read scans, of any tenant. */
const SPAN = 5_000;

/** Maximum recipients in a line: some messages have thousands. */
const MOST_NAMED = 50;

/** A journal line with its ascending number. */
export interface JournalTailLine {
  id: number;
  /** ms UTC. */
  at: number;
  tenant: number | null;
  account: number | null;
  trace: string;
  event: JournalEvent;
  /** The stored email of a received message. */
  email: number | null;
  /** Mailbox that it was stored in. */
  folder: string | null;
  /** Id of its submission while it is scheduled or held as a whole. */
  outbox: number | null;
  /** The first {@link MOST_NAMED} recipients. */
  to: string[];
  /** Local recipients, which have it already. */
  here: string[];
  /** Enhanced status code and reply code. */
  status: string | null;
  code: number | null;
}

export interface JournalTail {
  lines: JournalTailLine[];
  /** The last scanned line. */
  seen: number;
  /** True if there are later lines. */
  more: boolean;
}

type Columns = Pick<JournalTailLine, 'id' | 'at' | 'tenant' | 'account' | 'trace' | 'event'> & { detail: string };

/** Lines after `after` that a viewer may see, in order. */
export const journalLinesAfter = query(
  'lines-behind',
  async (
    rx,
    { tenant, accounts, after, limit }: JournalViewer & { after: number; limit: number },
  ): Promise<JournalTail> => {
    const newest = (await rx.get<{ id: number | null }>('SELECT max(id) AS id FROM journal'))?.id ?? 0;
    const upTo = Math.max(after, Math.min(newest, after + SPAN));
    const rows = await rx.all<Columns>(
      `SELECT id, at, tenant, account_id AS account, trace, event, detail FROM journal WHERE id > ?1 AND id <= ?2
         AND (?3 IS NULL OR tenant = ?3) AND (?4 IS NULL OR account_id IN (SELECT value FROM json_each(?4)))
       ORDER BY id LIMIT ?5`,
      after,
      upTo,
      tenant,
      accounts === null ? null : JSON.stringify(accounts),
      limit,
    );
    const last = rows.at(-1);
    const seen = rows.length === limit && last !== undefined ? last.id : upTo;
    return { lines: rows.map(toLine), seen, more: seen < newest };
  },
);

function toLine({ detail, ...row }: Columns): JournalTailLine {
  const { email, folder, outbox, to, here, status, code } = JSON.parse(detail) as Record<string, unknown>;
  return {
    ...row,
    email: typeof email === 'number' ? email : null,
    folder: typeof folder === 'string' ? folder : null,
    outbox: typeof outbox === 'number' ? outbox : null,
    to: namesIn(to),
    here: namesIn(here),
    // Text of a remote server: untrusted.
    status: typeof status === 'string' && /^[245]\.\d{1,3}\.\d{1,3}$/.test(status) ? status : null,
    code: typeof code === 'number' && code > 0 ? code : null,
  };
}

function namesIn(value: unknown): string[] {
  const all = Array.isArray(value) ? value : [value];
  return all.slice(0, MOST_NAMED).filter((one) => typeof one === 'string');
}

/** The first and the last line number. */
export const journalEnds = lookup('journal-ends', async (rx): Promise<{ oldest: number; newest: number }> => {
  const row = await rx.get<{ oldest: number | null; newest: number | null }>(
    'SELECT (SELECT min(id) FROM journal) AS oldest, (SELECT max(id) FROM journal) AS newest',
  );
  return { oldest: row?.oldest ?? 0, newest: row?.newest ?? 0 };
});

/** The journal line of a message's delivery to a mailbox; undefined: purged, or the message was not delivered. */
export const lineOfArrival = lookup(
  'line-of-arrival',
  async (rx, { trace, account, email }: { trace: string; account: number; email: number }) =>
    (
      await rx.get<{ id: number }>(
        `SELECT id FROM journal WHERE trace = ? AND account_id = ? AND detail ->> 'email' = ? ORDER BY id LIMIT 1`,
        trace,
        account,
        email,
      )
    )?.id,
);

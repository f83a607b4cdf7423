import { query } from './engine/types.ts';
import type { JournalEvent, Viewer } from './journal.ts';

/** Lines of the journal that one look goes over, whosever they are. */
const SPAN = 5_000;

/** Recipients that a line names at most: some go to thousands. */
const MOST_NAMED = 50;

/** What happened to a message, by the number of its line: later lines have higher ones. */
export interface TailLine {
  id: number;
  /** ms UTC. */
  at: number;
  tenant: number | null;
  account: number | null;
  trace: string;
  event: JournalEvent;
  /** The message as the account has it, of one that came. */
  email: number | null;
  /** Where it was put. */
  folder: string | null;
  /** Of its submission, when it waits as a whole. */
  outbox: number | null;
  /** The first {@link MOST_NAMED}. */
  to: string[];
  /** Those of them who are on this box and have it. */
  here: string[];
  /** Enhanced code, and the code of the reply. */
  status: string | null;
  code: number | null;
}

export interface Tail {
  lines: TailLine[];
  /** The last line that was looked at. */
  seen: number;
  /** Whether there are lines behind it. */
  more: boolean;
}

type Columns = Pick<TailLine, 'id' | 'at' | 'tenant' | 'account' | 'trace' | 'event'> & { detail: string };

/** What a viewer may know of the lines behind `after`, in the order in which it happened. */
export const linesBehind = query(
  'lines-behind',
  async (rx, { tenant, accounts, after, limit }: Viewer & { after: number; limit: number }): Promise<Tail> => {
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

function toLine({ detail, ...row }: Columns): TailLine {
  const { email, folder, outbox, to, here, status, code } = JSON.parse(detail) as Record<string, unknown>;
  return {
    ...row,
    email: typeof email === 'number' ? email : null,
    folder: typeof folder === 'string' ? folder : null,
    outbox: typeof outbox === 'number' ? outbox : null,
    to: namesIn(to),
    here: namesIn(here),
    // Of another server, which may say anything.
    status: typeof status === 'string' && /^[245]\.\d{1,3}\.\d{1,3}$/.test(status) ? status : null,
    code: typeof code === 'number' && code > 0 ? code : null,
  };
}

function namesIn(value: unknown): string[] {
  const all = Array.isArray(value) ? value : [value];
  return all.slice(0, MOST_NAMED).filter((one) => typeof one === 'string');
}

/** The lines that there are: the first and the last number. */
export const journalEnds = query('journal-ends', async (rx): Promise<{ oldest: number; newest: number }> => {
  const row = await rx.get<{ oldest: number | null; newest: number | null }>(
    'SELECT (SELECT min(id) FROM journal) AS oldest, (SELECT max(id) FROM journal) AS newest',
  );
  return { oldest: row?.oldest ?? 0, newest: row?.newest ?? 0 };
});

/** The line of a message's story in which a message came to be in a mailbox; undefined: it is too old, or somebody put it there. */
export const lineOfArrival = query(
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

import { query, type Read } from './engine/types.ts';
import { stateOf } from './type-state.ts';

/** Where a client stands, as `jmap/state.ts` has it. `row` may be Infinity. */
export interface Since {
  modseq: number;
  row: number;
  origin: number;
}

/** The last change of one email that a client may have to be told. */
export interface EmailChange extends Record<string, number> {
  id: number;
  thread: number;
  /** Changes come in the order (modseq, id). */
  modseq: number;
  created: number;
  /** When it was last shown or hidden; its creation, when it was shown ever since. */
  shownAt: number;
  /** 1: JMAP shows it now. */
  shown: number;
}

/** `pruned`: what was destroyed since then is no longer known. `future`: this account never was there. */
export type NotKnown = { kind: 'pruned' } | { kind: 'future' };

export interface Found<T> {
  kind: 'changes';
  state: number;
  changes: T[];
}

/** Emails that changed behind (modseq, row), in this order, at most `limit`; those that were never shown too. */
export const emailChanges = query(
  'email-changes',
  (rx, input: { account: number; since: Since; limit: number }): Promise<Found<EmailChange> | NotKnown> =>
    readEmailChanges(rx, input),
);

/** The same inside another query. */
export async function readEmailChanges(
  rx: Read,
  { account, since, limit }: { account: number; since: Since; limit: number },
): Promise<Found<EmailChange> | NotKnown> {
  const known = await knowsSince(rx, account, since);
  if (known !== 'known') return { kind: known };
  const row = Number.isFinite(since.row) ? since.row : Number.MAX_SAFE_INTEGER;
  const behind = [account, since.modseq, row, limit] as const;
  const sources = await Promise.all([
    rx.all<ChangeRow>(LIVE, ...behind),
    rx.all<ChangeRow>(BURIED, ...behind),
    (await hasLeaving(rx, account, since)) ? rx.all<ChangeRow>(LEAVING, ...behind) : [],
  ]);
  const state = await stateOf(rx, account, 'Email');
  return { kind: 'changes', state, changes: lastOfEach(sources.flat().map(toChange)).slice(0, limit) };
}

/** True while a large mailbox that was removed is still being emptied: then a look at the changes may take longer. */
export const isEmptying = query('is-emptying', async (rx, input: { account: number }): Promise<boolean> => {
  return hasLeaving(rx, input.account, { modseq: 0 });
});

async function hasLeaving(rx: Read, account: number, since: { modseq: number }): Promise<boolean> {
  const sql = 'SELECT 1 AS one FROM mailbox WHERE account_id = ? AND parent_id = -1 AND total > 0 AND modseq >= ?';
  return (await rx.get(sql, account, since.modseq)) !== undefined;
}

async function knowsSince(rx: Read, account: number, since: Since): Promise<'known' | 'pruned' | 'future'> {
  const row = await rx.get<{ modseq: number; floor: number | null }>(
    `SELECT a.modseq, t.floor FROM account a LEFT JOIN type_state t ON t.account_id = a.id AND t.type = 'Email' WHERE a.id = ?`,
    account,
  );
  if (row === undefined || since.modseq > row.modseq) return 'future';
  const floor = row.floor ?? 0;
  return since.modseq > floor || (since.modseq === floor && !Number.isFinite(since.row)) ? 'known' : 'pruned';
}

/** In order; of an email that two sources name, the later. */
function lastOfEach(found: readonly EmailChange[]): EmailChange[] {
  const sorted = found.toSorted((a, b) => a.modseq - b.modseq || a.id - b.id);
  return [...new Map(sorted.map((one) => [one.id, one])).values()].toSorted(
    (a, b) => a.modseq - b.modseq || a.id - b.id,
  );
}

/** SQL: whether JMAP shows the email `e` now. RFC 8621 4.1.1. */
export const IS_SHOWN = `EXISTS (SELECT 1 FROM entry n CROSS JOIN mailbox m ON m.id = n.mailbox_id
  WHERE n.email_id = e.id AND n.flags & 16 = 0 AND m.gone_at IS NULL)`;

/** A change as its row says it: `noted` is email.shown_modseq. */
interface ChangeRow extends Record<string, number | null> {
  id: number;
  thread: number;
  modseq: number;
  created: number;
  noted: number | null;
  shown: number;
}

/** Emails from before JMAP have not noted when they were hidden: it was their last change. */
export function toChange({ noted, ...row }: ChangeRow): EmailChange {
  return { ...row, shownAt: noted ?? (row.shown === 1 ? row.created : row.modseq) };
}

// Rows of one command are made in the order of their ids, so this is the order of the index too.
const LIVE = `SELECT e.id, e.thread_id AS thread, e.modseq, e.created_modseq AS created, ${IS_SHOWN} AS shown,
  e.shown_modseq AS noted FROM email e WHERE e.account_id = ?1 AND e.modseq >= ?2 AND (e.modseq > ?2 OR e.id > ?3)
  ORDER BY e.modseq, e.created_modseq, e.id LIMIT ?4`;

const BURIED = `SELECT object_id AS id, thread_id AS thread, modseq, created_modseq AS created, 0 AS shown, modseq AS noted
  FROM tombstone WHERE account_id = ?1 AND type = 'Email' AND (modseq, object_id) > (?2, ?3)
  ORDER BY modseq, object_id LIMIT ?4`;

// What a removed mailbox took along and has not let go yet: changed when the mailbox went.
const LEAVING = `SELECT id, thread, modseq, created, shown, iif(shown, shown_modseq, modseq) AS noted FROM (
    SELECT e.id, e.thread_id AS thread, max(m.modseq) AS modseq, e.created_modseq AS created, e.shown_modseq, ${IS_SHOWN} AS shown
    FROM mailbox m CROSS JOIN entry n ON n.mailbox_id = m.id CROSS JOIN email e ON e.id = n.email_id
    WHERE m.account_id = ?1 AND m.parent_id = -1 AND m.total > 0 AND m.modseq >= ?2 AND n.flags & 16 = 0 AND e.modseq < m.modseq
    GROUP BY e.id)
  WHERE modseq > ?2 OR id > ?3 ORDER BY modseq, id LIMIT ?4`;

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
  /** There is more behind this place. */
  cut: Place | undefined;
}

/** Changes come in this order. */
export interface Place {
  modseq: number;
  row: number;
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
  if (known === 'pruned' || known === 'future') return { kind: known };
  // What most clients that poll are told: nothing in the account has a higher number.
  if (known === 'newest') {
    return { kind: 'changes', state: await stateOf(rx, account, 'Email'), changes: [], cut: undefined };
  }
  const row = Number.isFinite(since.row) ? since.row : Number.MAX_SAFE_INTEGER;
  // One more than wanted tells whether there is more.
  const behind = [account, since.modseq, row, limit + 1] as const;
  const sources = await Promise.all([
    rx.all<ChangeRow>(LIVE, ...behind),
    rx.all<ChangeRow>(BURIED, ...behind),
    (await hasLeaving(rx, account, since)) ? rx.all<ChangeRow>(LEAVING, ...behind) : [],
  ]);
  return { kind: 'changes', state: await stateOf(rx, account, 'Email'), ...merged(sources, limit) };
}

/** True while a large mailbox that was removed since then is being emptied: a look at the changes may take longer. */
export const isEmptying = query(
  'is-emptying',
  (rx, { account, since }: { account: number; since: Since }): Promise<boolean> => hasLeaving(rx, account, since),
);

async function hasLeaving(rx: Read, account: number, since: Since): Promise<boolean> {
  const row = await rx.get(
    `SELECT 1 AS one FROM mailbox WHERE account_id = ? AND parent_id = -1 AND total > 0 AND modseq >= ?`,
    account,
    Number.isFinite(since.row) ? since.modseq : since.modseq + 1,
  );
  return row !== undefined;
}

async function knowsSince(rx: Read, account: number, since: Since): Promise<'newest' | 'known' | 'pruned' | 'future'> {
  const row = await rx.get<{ modseq: number; floor: number | null }>(
    `SELECT a.modseq, t.floor FROM account a LEFT JOIN type_state t ON t.account_id = a.id AND t.type = 'Email' WHERE a.id = ?`,
    account,
  );
  if (row === undefined || since.modseq > row.modseq) return 'future';
  const floor = row.floor ?? 0;
  const whole = !Number.isFinite(since.row);
  if (since.modseq < floor || (since.modseq === floor && !whole)) return 'pruned';
  return since.modseq === row.modseq && whole ? 'newest' : 'known';
}

/**
 * Several sources in one order. Behind the end of one that had more to say nothing is known, so nothing is told from
 * there. Of an email that two sources name, the later place counts.
 */
function merged(
  sources: readonly (readonly ChangeRow[])[],
  limit: number,
): { changes: EmailChange[]; cut: Place | undefined } {
  const ends = sources.flatMap((rows) => (rows.length > limit ? (rows[limit - 1] ?? []) : []));
  const [end] = ends.toSorted(byPlace);
  const sorted = sources.flat().toSorted(byPlace);
  const known = end === undefined ? sorted : sorted.filter((one) => byPlace(one, end) <= 0);
  const last = new Map(known.map((one) => [one.id, one]));
  const all = known.filter((one) => last.get(one.id) === one);
  const changes = all.slice(0, limit).map(toChange);
  const cut = all.length > limit ? changes.at(-1) : end;
  return { changes, cut: cut && { modseq: cut.modseq, row: cut.id } };
}

const byPlace = (a: Pick<ChangeRow, 'modseq' | 'id'>, b: Pick<ChangeRow, 'modseq' | 'id'>): number =>
  a.modseq - b.modseq || a.id - b.id;

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
const LEAVING = `SELECT l.id, e.thread_id AS thread, l.modseq, e.created_modseq AS created, ${IS_SHOWN} AS shown,
    iif(${IS_SHOWN}, e.shown_modseq, l.modseq) AS noted
  FROM (SELECT n.email_id AS id, max(m.modseq) AS modseq FROM mailbox m CROSS JOIN entry n ON n.mailbox_id = m.id
    WHERE m.account_id = ?1 AND m.parent_id = -1 AND m.total > 0 AND n.flags & 16 = 0
      AND (m.modseq > ?2 OR (m.modseq = ?2 AND n.email_id > ?3))
    GROUP BY n.email_id ORDER BY 2, 1 LIMIT ?4) l CROSS JOIN email e ON e.id = l.id`;

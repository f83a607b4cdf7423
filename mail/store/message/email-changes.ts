import { lookup, query, type Read } from '../engine/types.ts';
import { stateOf } from '../account/type-state.ts';
import { ACCOUNT_SPAN } from '../search/account-span.ts';
import { beforeCreated } from './created-since.ts';

/** Position of a client, see `jmap/state.ts`. `row` may be Infinity. */
export interface ChangesSince {
  modseq: number;
  row: number;
  origin: number;
}

/** The last change of one email that /changes may report. */
export interface EmailStateChange extends Record<string, number> {
  id: number;
  thread: number;
  /** Changes are ordered by (modseq, id). */
  modseq: number;
  created: number;
  /** Mod-sequence of its last change of visibility; of its creation, if always visible. */
  shownAt: number;
  /** 1: visible in JMAP. */
  shown: number;
}

/** `pruned`: tombstones since then were purged. `future`: the account never had this state. */
export type UnknownState = { kind: 'pruned' } | { kind: 'future' };

export interface ChangesPage<T> {
  kind: 'changes';
  state: number;
  changes: T[];
  /** Position after which there is more; undefined: complete. */
  cut: ChangePosition | undefined;
}

/** Position in the order of changes. */
export interface ChangePosition {
  modseq: number;
  row: number;
}

/** Emails changed after (modseq, row) in this order, at most `limit`, including those that were never visible. */
export const emailChanges = query(
  'email-changes',
  (
    rx,
    input: { account: number; since: ChangesSince; limit: number },
  ): Promise<ChangesPage<EmailStateChange> | UnknownState> => readEmailChanges(rx, input),
);

/** {@link emailChanges} inside of another query. */
export async function readEmailChanges(
  rx: Read,
  { account, since, limit }: { account: number; since: ChangesSince; limit: number },
): Promise<ChangesPage<EmailStateChange> | UnknownState> {
  const known = await checkSince(rx, account, since);
  if (known !== 'known') return { kind: known };
  const state = await stateOf(rx, account, 'Email');
  // The usual result of polling: no change of an email, however much else in the account changed.
  if (since.modseq >= state && !Number.isFinite(since.row)) {
    return { kind: 'changes', state, changes: [], cut: undefined };
  }
  const row = Number.isFinite(since.row) ? since.row : Number.MAX_SAFE_INTEGER;
  // One extra row shows whether there is more.
  const behind = [account, since.modseq, row, limit + 1] as const;
  const sources = await Promise.all([
    rx.all<ChangeRow>(CHANGED, ...behind),
    rx.all<ChangeRow>(BURIED, ...behind),
    (await hasRemovals(rx, account, since)) ? rx.all<ChangeRow>(LEAVING, ...behind) : [],
  ]);
  const created = await createdSince(rx, account, { modseq: since.modseq, row }, limit);
  return { kind: 'changes', state, ...mergeChanges([created, ...sources.map((rows) => endAt(rows, limit))], limit) };
}

/** Changes in order, complete up to `end`; undefined: all. */
interface ChangeSource {
  rows: readonly ChangeRow[];
  end: ChangePosition | undefined;
}

function endAt(rows: readonly ChangeRow[], limit: number): ChangeSource {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { rows, end: last && { modseq: last.modseq, row: last.id } };
}

/** Emails created since then that did not change later. A page ends early if it would read too many that did. */
async function createdSince(
  rx: Read,
  account: number,
  { modseq, row }: ChangePosition,
  limit: number,
): Promise<ChangeSource> {
  const most = limit + 1 + MAX_SKIPPED;
  const end = (account + 1) * ACCOUNT_SPAN;
  const read = await rx.all<ChangeRow>(CREATED, await beforeCreated(rx, account, modseq), end, modseq, row, most);
  const found = endAt(
    read.filter((one) => one.modseq === one.created),
    limit,
  );
  const last = read.length < most ? undefined : read.at(-1);
  return { ...found, end: found.end ?? (last && { modseq: last.created, row: last.id }) };
}

/** True while a large mailbox that was deleted since then is being purged: reading changes may take longer. */
export const isEmptying = lookup(
  'is-emptying',
  (rx, { account, since }: { account: number; since: ChangesSince }): Promise<boolean> =>
    hasRemovals(rx, account, since),
);

async function hasRemovals(rx: Read, account: number, since: ChangesSince): Promise<boolean> {
  const row = await rx.get(
    `SELECT 1 AS one FROM mailbox WHERE account_id = ? AND parent_id = -1 AND total > 0 AND modseq >= ?`,
    account,
    Number.isFinite(since.row) ? since.modseq : since.modseq + 1,
  );
  return row !== undefined;
}

async function checkSince(rx: Read, account: number, since: ChangesSince): Promise<'known' | 'pruned' | 'future'> {
  const row = await rx.get<{ modseq: number; floor: number | null }>(
    `SELECT a.modseq, t.floor FROM account a LEFT JOIN type_state t ON t.account_id = a.id AND t.type = 'Email' WHERE a.id = ?`,
    account,
  );
  if (row === undefined || since.modseq > row.modseq) return 'future';
  const floor = row.floor ?? 0;
  const isCut = Number.isFinite(since.row);
  return since.modseq < floor || (since.modseq === floor && isCut) ? 'pruned' : 'known';
}

/**
 * Merges sources in order, up to the end of the first truncated one. An email in two sources counts at the later
 * position.
 */
function mergeChanges(
  sources: readonly ChangeSource[],
  limit: number,
): { changes: EmailStateChange[]; cut: ChangePosition | undefined } {
  const [end] = sources.flatMap((source) => source.end ?? []).toSorted(byPlace);
  const sorted = sources.flatMap(({ rows }) => rows.map((one) => ({ ...one, row: one.id }))).toSorted(byPlace);
  const known = end === undefined ? sorted : sorted.filter((one) => byPlace(one, end) <= 0);
  const last = new Map(known.map((one) => [one.id, one]));
  const all = known.filter((one) => last.get(one.id) === one);
  const changes = all.slice(0, limit).map(toChange);
  const more = all.length > limit ? changes.at(-1) : undefined;
  return { changes, cut: more === undefined ? end : { modseq: more.modseq, row: more.id } };
}

const byPlace = (a: ChangePosition, b: ChangePosition): number => a.modseq - b.modseq || a.row - b.row;

/** SQL: whether JMAP shows the email `e` now. RFC 8621 4.1.1. */
export const IS_VISIBLE = `EXISTS (SELECT 1 FROM entry n CROSS JOIN mailbox m ON m.id = n.mailbox_id
  WHERE n.email_id = e.id AND n.flags & 16 = 0 AND m.deleted_at IS NULL)`;

/** A change as in its row: `noted` is email.visibility_modseq. */
interface ChangeRow extends Record<string, number | null> {
  id: number;
  thread: number;
  modseq: number;
  created: number;
  noted: number | null;
  shown: number;
}

/** Emails from before JMAP have no time of hiding: it was their last change. */
export function toChange({ noted, ...row }: ChangeRow): EmailStateChange {
  return { ...row, shownAt: noted ?? (row.shown === 1 ? row.created : row.modseq) };
}

const CHANGED = `SELECT e.id, e.thread_id AS thread, e.modseq, e.created_modseq AS created, ${IS_VISIBLE} AS shown,
  e.visibility_modseq AS noted FROM email e
  WHERE e.account_id = ?1 AND e.modseq <> e.created_modseq AND e.modseq >= ?2 AND (e.modseq > ?2 OR e.id > ?3)
  ORDER BY e.modseq, e.id LIMIT ?4`;

/** Emails of {@link CREATED} beyond the limit that may have changed since, and are read for nothing. */
const MAX_SKIPPED = 1000;
const CREATED = `SELECT e.id, e.thread_id AS thread, e.modseq, e.created_modseq AS created,
  CASE WHEN e.modseq = e.created_modseq AND ${IS_VISIBLE} THEN 1 ELSE 0 END AS shown, e.visibility_modseq AS noted
  FROM email e WHERE e.id > ?1 AND e.id < ?2 AND e.created_modseq >= ?3 AND (e.created_modseq > ?3 OR e.id > ?4)
  ORDER BY e.id LIMIT ?5`;

const BURIED = `SELECT object_id AS id, thread_id AS thread, modseq, created_modseq AS created, 0 AS shown, modseq AS noted
  FROM tombstone WHERE account_id = ?1 AND type = 'Email' AND (modseq, object_id) > (?2, ?3)
  ORDER BY modseq, object_id LIMIT ?4`;

// Emails of a deleted mailbox that is not purged yet: changed when it was deleted.
const LEAVING = `SELECT l.id, e.thread_id AS thread, l.modseq, e.created_modseq AS created, ${IS_VISIBLE} AS shown,
    iif(${IS_VISIBLE}, e.visibility_modseq, l.modseq) AS noted
  FROM (SELECT n.email_id AS id, max(m.modseq) AS modseq FROM mailbox m CROSS JOIN entry n ON n.mailbox_id = m.id
    WHERE m.account_id = ?1 AND m.parent_id = -1 AND m.total > 0 AND n.flags & 16 = 0
      AND (m.modseq > ?2 OR (m.modseq = ?2 AND n.email_id > ?3))
    GROUP BY n.email_id ORDER BY 2, 1 LIMIT ?4) l CROSS JOIN email e ON e.id = l.id`;

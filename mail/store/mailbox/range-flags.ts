import type { UidRange, Write } from '../engine/types.ts';
import { isTrainingKeyword } from '../filter/training-sample.ts';
import type { FlagChange, StoreFlagsResult } from './flag-change.ts';
import { FIRST_SLOT, FLAGGED, type StoredFlags } from './flags.ts';

/** Maximum rows of one {@link storeRangeFlags}, whose rows cost a fifth of those of `storeFlags`. */
export const MAX_RANGE = 5000;
/** Fewer UIDs in a range than this on average: the statements cost more than the rows. */
export const LEAST_PER_RANGE = 16;

/** \Flagged and keywords with a slot: neither counters nor training samples depend on them. */
const UNCOUNTED = FLAGGED | (-1 << FIRST_SLOT);

/** Reports whether {@link storeRangeFlags} may take the change: the flags are added or removed and not counted. */
export function isUncounted({
  how,
  flags,
  unchangedSince,
}: Pick<FlagChange, 'how' | 'flags' | 'unchangedSince'>): boolean {
  return (
    how !== 'replace' &&
    unchangedSince === null &&
    (flags.bits & ~UNCOUNTED) === 0 &&
    !flags.keywords.some(isTrainingKeyword)
  );
}

/** Flags `value` take the place of those in the mask `bits`. */
export interface MaskedFlags {
  bits: number;
  value: number;
}

/**
 * Adds or removes uncounted flags by one statement for each range of UIDs: the rows stay in the database. Undefined if
 * the change is of another kind, or if an email is in other mailboxes too, which need the same flags.
 */
export async function storeRangeFlags(
  tx: Write,
  input: FlagChange,
  given: StoredFlags,
): Promise<StoreFlagsResult | undefined> {
  const { account, mailbox, uids } = input;
  if (!isUncounted(input) || given.kw.length > 0) return undefined;
  const ranges = await rangesOf(tx, mailbox, uids);
  if (ranges.length * LEAST_PER_RANGE > Math.max(uids.length, LEAST_PER_RANGE)) return undefined;
  const flags = { bits: given.bits, value: input.how === 'add' ? given.bits : 0 };
  const changed = await changedRanges(tx, mailbox, ranges, flags);
  if (changed === 'copied') return undefined;
  if (changed.length === 0) return { kind: 'done', modseq: null, modified: [] };
  const modseq = await tx.nextModseq(account);
  for (const range of changed) await writeRange(tx, { mailbox, range, modseq, ...flags });
  const before = await recordModseq(tx, mailbox, modseq);
  tx.touched(account, mailbox, { ...flags, ranges: changed, before, modseq });
  return { kind: 'done', modseq, modified: [] };
}

/** The ranges that have no other entry of the mailbox than these UIDs. */
async function rangesOf(tx: Write, mailbox: number, uids: readonly number[]): Promise<UidRange[]> {
  const given = new Set(uids);
  const sorted = [...given].sort((a, b) => a - b);
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (last - first === sorted.length - 1) return [{ from: first, to: last }];
  const ranges: UidRange[] = [];
  let open: UidRange | undefined;
  for (const { uid } of await tx.all<{ uid: number }>(UIDS_BETWEEN, mailbox, first, last)) {
    if (!given.has(uid)) open = undefined;
    else if (open === undefined) ranges.push((open = { from: uid, to: uid }));
    else open.to = uid;
  }
  return ranges;
}

const UIDS_BETWEEN = 'SELECT uid FROM entry WHERE mailbox_id = ? AND uid BETWEEN ? AND ? ORDER BY uid';

/** The ranges in which an entry gets other flags; `copied`: an email of them is in another mailbox too. */
async function changedRanges(
  tx: Write,
  mailbox: number,
  ranges: readonly UidRange[],
  { bits, value }: MaskedFlags,
): Promise<UidRange[] | 'copied'> {
  const changed: UidRange[] = [];
  for (const range of ranges) {
    const row = await tx.get<{ copied: number | null }>(
      `SELECT max(CASE WHEN EXISTS (SELECT 1 FROM entry o INDEXED BY entry_email WHERE o.email_id = n.email_id
         AND o.mailbox_id <> n.mailbox_id) THEN 1 ELSE 0 END) AS copied FROM entry n
       WHERE n.mailbox_id = ? AND n.uid BETWEEN ? AND ? AND n.flags & ? <> ?`,
      mailbox,
      range.from,
      range.to,
      bits,
      value,
    );
    if (row?.copied === 1) return 'copied';
    if (row?.copied === 0) changed.push(range);
  }
  return changed;
}

/** Flags of a range. `whole`: 1 if also entries that have them get the mod-sequence. */
interface WrittenRange extends MaskedFlags {
  mailbox: number;
  range: UidRange;
  modseq: number;
  whole?: number;
}

/** Writes the flags of a range, and the mod-sequence of the emails that JMAP shows: those without \Deleted. */
export async function writeRange(
  tx: Write,
  { mailbox, range, modseq, bits, value, whole = 0 }: WrittenRange,
): Promise<void> {
  await tx.run(
    `UPDATE email SET modseq = ? WHERE id IN (SELECT email_id FROM entry
       WHERE mailbox_id = ? AND uid BETWEEN ? AND ? AND (flags & ? <> ? OR ? = 1) AND flags & 16 = 0)`,
    modseq,
    mailbox,
    range.from,
    range.to,
    bits,
    value,
    whole,
  );
  await tx.run(
    `UPDATE entry SET flags = (flags & ?7) | ?6, modseq = ?1
     WHERE mailbox_id = ?2 AND uid BETWEEN ?3 AND ?4 AND (flags & ?5 <> ?6 OR ?8 = 1)`,
    modseq,
    mailbox,
    range.from,
    range.to,
    bits,
    value,
    ~bits,
    whole,
  );
}

/** Records the change in the mailbox. Returns the mod-sequence that it had. */
export async function recordModseq(tx: Write, mailbox: number, modseq: number): Promise<number> {
  const row = await tx.get<{ before: number }>('SELECT highestmodseq AS before FROM mailbox WHERE id = ?', mailbox);
  await tx.run('UPDATE mailbox SET highestmodseq = ? WHERE id = ?', modseq, mailbox);
  return row?.before ?? 0;
}

import { type EmailState, sameMailboxes } from './email-changes.ts';
import { kwList } from '../../store/mailbox/flags.ts';

/** Recorded change of an email, as its row has it. */
export interface ChangeRow extends Record<string, number | string | null> {
  email_id: number;
  flags_before: number | null;
  flags_after: number | null;
  kw_before: string | null;
  kw_after: string | null;
  mailboxes_before: string | null;
  mailboxes_after: string | null;
}

/** Reason why something is not restored. */
export type UndoObstacle =
  /** Somebody else has moved it since. */
  | 'moved'
  /** It was deleted for good, or its folders were. */
  | 'gone'
  | 'folder-gone'
  | 'no-room'
  | 'too-many-labels';

/** Steps that restore an email to its state before the agent. */
export interface UndoPlan {
  /** Bits and keywords (beyond the slots) to set, and to remove. */
  add: { bits: number; kw: string[] };
  remove: { bits: number; kw: string[] };
  /** Mailboxes to put it in; null: no move. */
  mailboxes: number[] | null;
  kept: UndoObstacle[];
}

/**
 * Plans the undo of all changes of one agent to one email, oldest first, against its present state. Only what is still as the
 * agent left it is undone.
 */
export function planUndo(rows: readonly ChangeRow[], now: EmailState): UndoPlan {
  const { to, kept } = undoneMailboxes(rows, now);
  if (to === null && now.mailboxes.length === 0) return { add: NONE, remove: NONE, mailboxes: null, kept: ['gone'] };
  return { ...undoneFlags(rows, now), mailboxes: to, kept };
}

const NONE = { bits: 0, kw: [] };

/** A flag that differs from what the agent left was restored by somebody already. */
function undoneFlags(rows: readonly ChangeRow[], now: EmailState): Pick<UndoPlan, 'add' | 'remove'> {
  const noted = rows.filter((row) => row.flags_before !== null);
  const before = { bits: bitsBefore(noted), kw: kwBefore(noted) };
  const after = { bits: noted.at(-1)?.flags_after ?? 0, kw: kwList(noted.at(-1)?.kw_after ?? null) };
  const bits = before.bits ^ after.bits;
  return {
    add: { bits: bits & before.bits & ~now.bits, kw: without(before.kw, [...after.kw, ...now.kw]) },
    remove: {
      bits: bits & after.bits & now.bits,
      kw: without(after.kw, before.kw).filter((one) => now.kw.includes(one)),
    },
  };
}

/** Each flag before the agent, going back as long as nobody else changed it in between. */
function bitsBefore(noted: readonly ChangeRow[]): number {
  let bits = noted.at(-1)?.flags_before ?? 0;
  let settled = 0;
  for (const [older, newer] of pairsBack(noted)) {
    settled |= (newer.flags_before ?? 0) ^ (older.flags_after ?? 0);
    bits = (bits & settled) | ((older.flags_before ?? 0) & ~settled);
  }
  return bits;
}

/** The same for keywords. */
function kwBefore(noted: readonly ChangeRow[]): string[] {
  let found = kwList(noted.at(-1)?.kw_before ?? null);
  const settled = new Set<string>();
  for (const [older, newer] of pairsBack(noted)) {
    const [left, met] = [kwList(older.kw_after), kwList(newer.kw_before)];
    for (const one of [...without(left, met), ...without(met, left)]) settled.add(one);
    const before = kwList(older.kw_before).filter((one) => !settled.has(one));
    found = [...found.filter((one) => settled.has(one)), ...before];
  }
  return found;
}

/** Pairs of consecutive changes, newest first. */
function pairsBack(noted: readonly ChangeRow[]): [older: ChangeRow, newer: ChangeRow][] {
  return noted
    .slice(1)
    .map((newer, i): [ChangeRow, ChangeRow] => [noted[i] ?? newer, newer])
    .toReversed();
}

function without(all: readonly string[], those: readonly string[]): string[] {
  return all.filter((one) => !those.includes(one));
}

/** Restores the last position that somebody else chose, even between two changes of the agent. */
function undoneMailboxes(
  rows: readonly ChangeRow[],
  { mailboxes: now }: EmailState,
): { to: number[] | null; kept: UndoObstacle[] } {
  const noted = rows.filter((row) => row.mailboxes_before !== null);
  const start = noted.findLastIndex(
    (row, i) => i > 0 && !sameMailboxes(list(row.mailboxes_before), mailboxesAfter(noted[i - 1])),
  );
  const own = noted.slice(Math.max(0, start));
  const before = list(own[0]?.mailboxes_before);
  const after = mailboxesAfter(own.at(-1));
  const asFound = sameMailboxes(before, after) || sameMailboxes(before, now);
  if (!asFound && !sameMailboxes(after, now)) return { to: null, kept: ['moved'] };
  const to = asFound ? null : before;
  const isAsBefore = sameMailboxes(to ?? now, list(noted[0]?.mailboxes_before));
  return { to, kept: start > 0 && !isAsBefore ? ['moved'] : [] };
}

function mailboxesAfter(row: ChangeRow | undefined): number[] {
  return list(row?.mailboxes_after);
}

function list(json: string | null | undefined): number[] {
  return typeof json === 'string' ? (JSON.parse(json) as number[]) : [];
}

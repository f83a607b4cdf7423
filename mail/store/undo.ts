import { type Face, samePlaces } from './agent-change.ts';
import { kwList } from './flags.ts';

/** What an agent wrote down of one change of an email, as its row has it. */
export interface ChangeRow extends Record<string, number | string | null> {
  email_id: number;
  flags_before: number | null;
  flags_after: number | null;
  kw_before: string | null;
  kw_after: string | null;
  places_before: string | null;
  places_after: string | null;
}

/** Why something stays as it is. */
export type Kept =
  /** Somebody else has moved it since. */
  | 'moved'
  /** It is gone for good, or its folders are. */
  | 'gone'
  | 'folder-gone'
  | 'no-room'
  | 'too-many-labels';

/** What is to be done to bring an email back to where an agent found it. */
export interface UndoPlan {
  /** Bits and keywords (beyond the slots) to put back, and to take away. */
  add: { bits: number; kw: string[] };
  remove: { bits: number; kw: string[] };
  /** Where it shall stand; null: where it is. */
  places: number[] | null;
  kept: Kept[];
}

/**
 * What all changes of one agent to one email come to, oldest first, against what the email is now. Only what is still as
 * the agent left it is undone.
 */
export function planUndo(rows: readonly ChangeRow[], now: Face): UndoPlan {
  const { to, kept } = undonePlaces(rows, now);
  if (to === null && now.places.length === 0) return { add: NONE, remove: NONE, places: null, kept: ['gone'] };
  return { ...undoneFlags(rows, now), places: to, kept };
}

const NONE = { bits: 0, kw: [] };

/** A flag that is not as the agent left it is as it was before: somebody undid that already. */
function undoneFlags(rows: readonly ChangeRow[], now: Face): Pick<UndoPlan, 'add' | 'remove'> {
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

/** Each flag as the agent found it, going back as far as nobody else changed it in between. */
function bitsBefore(noted: readonly ChangeRow[]): number {
  let bits = noted.at(-1)?.flags_before ?? 0;
  let settled = 0;
  for (const [older, newer] of pairsBack(noted)) {
    settled |= (newer.flags_before ?? 0) ^ (older.flags_after ?? 0);
    bits = (bits & settled) | ((older.flags_before ?? 0) & ~settled);
  }
  return bits;
}

/** The same of keywords. */
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

/** Each change with the one before it, newest first. */
function pairsBack(noted: readonly ChangeRow[]): [older: ChangeRow, newer: ChangeRow][] {
  return noted
    .slice(1)
    .map((newer, i): [ChangeRow, ChangeRow] => [noted[i] ?? newer, newer])
    .toReversed();
}

function without(all: readonly string[], those: readonly string[]): string[] {
  return all.filter((one) => !those.includes(one));
}

/** Back to where somebody else last put it, be that in between: what the agent did before that stays. */
function undonePlaces(rows: readonly ChangeRow[], { places: now }: Face): { to: number[] | null; kept: Kept[] } {
  const noted = rows.filter((row) => row.places_before !== null);
  const start = noted.findLastIndex(
    (row, i) => i > 0 && !samePlaces(list(row.places_before), placesAfter(noted[i - 1])),
  );
  const own = noted.slice(Math.max(0, start));
  const before = list(own[0]?.places_before);
  const after = placesAfter(own.at(-1));
  const asFound = samePlaces(before, after) || samePlaces(before, now);
  if (!asFound && !samePlaces(after, now)) return { to: null, kept: ['moved'] };
  const to = asFound ? null : before;
  const isAsBefore = samePlaces(to ?? now, list(noted[0]?.places_before));
  return { to, kept: start > 0 && !isAsBefore ? ['moved'] : [] };
}

function placesAfter(row: ChangeRow | undefined): number[] {
  return list(row?.places_after);
}

function list(json: string | null | undefined): number[] {
  return typeof json === 'string' ? (JSON.parse(json) as number[]) : [];
}

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
  const before = { bits: noted[0]?.flags_before ?? 0, kw: kwList(noted[0]?.kw_before ?? null) };
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

function without(all: readonly string[], those: readonly string[]): string[] {
  return all.filter((one) => !those.includes(one));
}

function undonePlaces(rows: readonly ChangeRow[], now: Face): { to: number[] | null; kept: Kept[] } {
  const noted = rows.filter((row) => row.places_before !== null);
  const before = list(noted[0]?.places_before);
  const after = list(noted.at(-1)?.places_after);
  if (samePlaces(before, after) || samePlaces(before, now.places)) return { to: null, kept: [] };
  return samePlaces(after, now.places) ? { to: before, kept: [] } : { to: null, kept: ['moved'] };
}

function list(json: string | null | undefined): number[] {
  return typeof json === 'string' ? (JSON.parse(json) as number[]) : [];
}

/** An object of a type that JMAP keeps states of, as it stands after a change, or as it was when it went. */
export interface ObjectChange extends Record<string, number> {
  id: number;
  created: number;
  modseq: number;
  /** 1: it is not there any more. */
  gone: number;
}

/** What changed after a state, in the order (modseq, id), and what the state is now. */
export interface ObjectChanges {
  changes: ObjectChange[];
  state: number;
  /** Changes before this are not known any more. */
  floor: number;
}

/** Where the reading of changes goes on, and how many are wanted. */
export interface ChangesAfter {
  account: number;
  modseq: number;
  /** Of the changes with exactly that mod-sequence, those of rows up to this one are known. */
  row: number;
  limit: number;
}

/** The largest row there is, for an `Infinity` that SQL does not know. */
export const LAST_ROW = Number.MAX_SAFE_INTEGER;

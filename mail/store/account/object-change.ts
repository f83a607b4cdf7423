/** The last change of a JMAP object, current or destroyed. */
export interface ObjectChange extends Record<string, number> {
  id: number;
  created: number;
  modseq: number;
  /** 1: destroyed. */
  gone: number;
}

/** Changes after a state in the order (modseq, id), and the current state. */
export interface ObjectChanges {
  changes: ObjectChange[];
  state: number;
  /** Changes before this mod-sequence were purged. */
  floor: number;
}

/** Position after which changes are read, and their maximum number. */
export interface ChangesAfter {
  account: number;
  modseq: number;
  /** Rows up to this one are known of changes with exactly that mod-sequence. */
  row: number;
  limit: number;
}

/** Stands for `Infinity`, which SQL does not have. */
export const LAST_ROW = Number.MAX_SAFE_INTEGER;

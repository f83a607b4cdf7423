/**
 * State strings. A state is the mod-sequence of the last change of a type, in base 36. Where /changes had to cut its
 * answer, the state in between says how far it came, `modseq-row-origin`: rows are told in the order (modseq, row), and
 * the origin is the state that the client started from. Without the origin, what was created before the cut and
 * changed after it would be told as updated to a client that never saw it.
 */
export interface State {
  /** Everything up to here is known to the client. */
  modseq: number;
  /** Of the changes with exactly this mod-sequence, those of rows up to this one are; Infinity: all of them. */
  row: number;
  /** What was there at this mod-sequence was known to the client before. */
  origin: number;
}

export function formatState(modseq: number): string {
  return modseq.toString(36);
}

/** The state after an answer that was cut behind a row. */
export function formatCut({ modseq, row, origin }: State): string {
  return [modseq, row, origin].map((number) => number.toString(36)).join('-');
}

/** Undefined: none of ours. */
export function readState(text: string): State | undefined {
  if (!/^[0-9a-z]{1,11}(?:-[0-9a-z]{1,11}-[0-9a-z]{1,11})?$/.test(text)) return undefined;
  const [modseq = 0, row = Number.POSITIVE_INFINITY, origin = modseq] = text
    .split('-')
    .map((part) => Number.parseInt(part, 36));
  return { modseq, row, origin };
}

/** What a command decided. The session's loop alone tags it, writes it, counts it and acts on `next`. */
export interface Answer {
  readonly kind: 'ok' | 'no' | 'bad';
  /** Response code without brackets. */
  readonly code?: string;
  readonly text: string;
  /** What happens after the answer is on its way. */
  readonly next?: 'close' | 'tls';
}

/** Done: `ok('Done')` or `ok('CODE', 'Done')`. */
export function ok(text: string): Answer;
export function ok(code: string, text: string): Answer;
export function ok(first: string, second?: string): Answer {
  return second === undefined ? { kind: 'ok', text: first } : { kind: 'ok', code: first, text: second };
}

/** Refused or failed, though the client did nothing wrong in its grammar. */
export function no(text: string): Answer;
export function no(code: string, text: string): Answer;
export function no(first: string, second?: string): Answer {
  return second === undefined ? { kind: 'no', text: first } : { kind: 'no', code: first, text: second };
}

/** Not understood, or not allowed in this state. Counts towards the limit of bad commands. */
export function bad(text: string): Answer {
  return { kind: 'bad', text };
}

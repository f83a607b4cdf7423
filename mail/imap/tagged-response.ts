/** The completion of a command, still without its tag. Only the session's loop tags, writes and counts it. RFC 9051 7.1. */
export interface TaggedResponse {
  readonly kind: 'ok' | 'no' | 'bad';
  /** Response code without brackets. */
  readonly code?: string;
  readonly text: string;
  /** The action after the response was written: close the connection, start TLS, or compress. */
  readonly next?: 'close' | 'tls' | 'compress';
}

/** A tagged OK: `ok('Done')` or `ok('CODE', 'Done')`. */
export function ok(text: string): TaggedResponse;
export function ok(code: string, text: string): TaggedResponse;
export function ok(first: string, second?: string): TaggedResponse {
  return second === undefined ? { kind: 'ok', text: first } : { kind: 'ok', code: first, text: second };
}

/** A tagged NO: the command is well-formed, and was refused or failed. */
export function no(text: string): TaggedResponse;
export function no(code: string, text: string): TaggedResponse;
export function no(first: string, second?: string): TaggedResponse {
  return second === undefined ? { kind: 'no', text: first } : { kind: 'no', code: first, text: second };
}

/** A tagged BAD: a syntax error, or a command not allowed in this state. Counts towards the limit of bad commands. */
export function bad(text: string): TaggedResponse;
export function bad(code: string, text: string): TaggedResponse;
export function bad(first: string, second?: string): TaggedResponse {
  return second === undefined ? { kind: 'bad', text: first } : { kind: 'bad', code: first, text: second };
}

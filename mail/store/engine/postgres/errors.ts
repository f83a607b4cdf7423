/** A failed statement. PostgreSQL's own error has the stack of the socket; the statement has no values. */
export class StatementFailure extends Error {
  override readonly name = 'StatementFailure';
  readonly code: unknown;
  constructor(cause: Error, statement: string) {
    super(cause.message);
    this.code = (cause as { code?: unknown }).code;
    this.stack = `${cause.message}\n    in ${statement}\n${this.stack ?? ''}`;
  }
}

/**
 * Errors of the library, of the socket and of name servers, and of PostgreSQL: class 08, a server that starts or stops (57P0),
 * that has no memory or connection left (53200, 53300), or that is no longer the primary (25006).
 */
const AWAY =
  /^(?:CONN|ECONN|ENOENT|EPIPE|ETIMEDOUT|EHOST|ENET|EADDRNOTAVAIL|EMFILE|ENFILE|ENOTFOUND|EAI_|08|57P0|53200|53300|25006)/;

/** Reports an error of the connection, or of a server that cannot write now. */
export function isAway(error: unknown): boolean {
  return AWAY.test(codeOf(error));
}

/** Reports that the disk of PostgreSQL is full. */
export function isPostgresDiskFull(error: unknown): boolean {
  return codeOf(error) === '53100';
}

/** Reports that a statement was refused because an earlier one of its transaction failed. */
export function isTransactionFailed(error: unknown): boolean {
  return codeOf(error) === '25P02';
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : '';
}

/** A syntax error of the client. The reason is the text of the tagged BAD and never quotes input. */
export class ImapSyntaxError extends Error {
  readonly reason: string;
  /** Response code of the tagged BAD. */
  readonly code: string | undefined;

  constructor(reason: string, code?: string) {
    super(reason);
    this.name = 'ImapSyntaxError';
    this.reason = reason;
    this.code = code;
  }
}

/** A mailbox name that can never exist: NO [CANNOT], as its syntax is right. RFC 5530 3. */
export class InvalidNameError extends ImapSyntaxError {
  constructor() {
    super('Invalid mailbox name', 'CANNOT');
  }
}

/** A syntax error of the client. The reason is the text of the tagged BAD and never quotes input. */
export class ImapSyntaxError extends Error {
  readonly reason: string;
  constructor(reason: string) {
    super(reason);
    this.name = 'ImapSyntaxError';
    this.reason = reason;
  }
}

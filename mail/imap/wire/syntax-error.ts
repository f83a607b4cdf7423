/** What a peer sent is not IMAP. The reason is a short text for the tagged BAD and never quotes what was sent. */
export class ImapSyntaxError extends Error {
  readonly reason: string;
  constructor(reason: string) {
    super(reason);
    this.name = 'ImapSyntaxError';
    this.reason = reason;
  }
}

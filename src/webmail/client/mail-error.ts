/** The session has ended: the browser goes to the sign-in page. */
export class SignedOut extends Error {}

/** A method answered with an error, or the box could not be reached. The message is for the reader. */
export class MailError extends Error {
  /** Status of the HTTP response that refused it. */
  readonly status: number | undefined;

  constructor(message: string, { status, ...options }: ErrorOptions & { status?: number } = {}) {
    super(message, options);
    this.status = status;
  }
}

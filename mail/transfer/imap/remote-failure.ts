/** The other server refused the login, and says that the same login cannot succeed. */
export class LoginRefused extends Error {
  override readonly name = 'LoginRefused';
}

/** The other server cannot be used now; a later attempt can succeed. */
export class RemoteUnavailable extends Error {
  override readonly name = 'RemoteUnavailable';
}

/** The other server refuses one folder, while its others can be read. */
export class FolderRefused extends Error {
  override readonly name = 'FolderRefused';
}

/** The other server's answers contradict each other, or one is too large: a retry cannot help. */
export class RemoteAnswerInvalid extends Error {
  override readonly name = 'RemoteAnswerInvalid';
}

/** Characters of a stranger's text that are kept. */
const MAX_TEXT = 300;

/** RFC 5530 3, and codes of Yahoo and Exchange: the command can succeed later. Gmail limits the traffic of a day by OVERQUOTA. */
const TEMPORARY_CODES = new Set(['UNAVAILABLE', 'LIMIT', 'INUSE', 'OVERQUOTA', 'THROTTLED']);

/** Texts of servers without response codes, such as Gmail and Exchange. */
const TEMPORARY_TEXT =
  /too many|try again|temporar|unavailable|not available|server busy|throttl|timed? ?out|not connected/i;

/** RFC 5530 3, RFC 9051 7.1: the server knows that this login cannot succeed, whatever its text says. */
const FINAL_CODES = new Set(['AUTHENTICATIONFAILED', 'AUTHORIZATIONFAILED', 'EXPIRED', 'PRIVACYREQUIRED']);

/** A login that imapflow does not try, as the server offers no way. */
const NO_LOGIN = /^(?:Login is disabled|No matching authentication method|Unsupported authentication mechanism)$/;

/** Responses that exceed a limit of this server, whenever they are asked for. */
const TOO_LARGE = new Set(['LineTooLarge', 'ResponseTooLarge', 'MAX_IMAP_NESTING_REACHED']);

/** An error of imapflow. */
interface RemoteError {
  code?: string;
  message: string;
  /** Status of a tagged response. */
  responseStatus?: 'NO' | 'BAD';
  responseText?: string;
  serverResponseCode?: string | false;
  authenticationFailed?: boolean;
  mailboxMissing?: boolean;
}

/** True: the server answered a command with NO or BAD, so the connection was whole. */
export function isRefusal(error: unknown): boolean {
  return (error as RemoteError).responseStatus !== undefined;
}

/** True: a refused command can succeed later. */
export function isTemporary(error: unknown): boolean {
  const { code, serverResponseCode, responseText = '' } = error as RemoteError;
  if (code === 'ETHROTTLE' || TEMPORARY_CODES.has(serverResponseCode || '')) return true;
  return !FINAL_CODES.has(serverResponseCode || '') && TEMPORARY_TEXT.test(responseText);
}

/** True: the folder is not there any more. */
export function isMissingFolder(error: unknown): boolean {
  const { code, mailboxMissing, serverResponseCode } = error as RemoteError;
  return mailboxMissing === true || code === 'NotFound' || serverResponseCode === 'NONEXISTENT';
}

/** True: a response exceeded a limit of this server. */
export function isTooLarge(error: unknown): boolean {
  return TOO_LARGE.has((error as RemoteError).code ?? '');
}

/**
 * The error of a failed connect. A connection that is lost during the login has the same mark of imapflow as a refused login:
 * only a tagged response is a refusal.
 */
export function connectFailure(error: unknown): unknown {
  const { message } = error as RemoteError;
  if (NO_LOGIN.test(message)) return new LoginRefused(message);
  if ((error as RemoteError).authenticationFailed !== true) return error;
  if (isRefusal(error) && !isTemporary(error) && (error as RemoteError).serverResponseCode !== 'SERVERBUG')
    return new LoginRefused(ownText(error));
  // The text is a stranger's, of up to 4 MB, and the error with it would be logged.
  return new RemoteUnavailable(`The login did not succeed: "${ownText(error)}"`);
}

/** Text of the other server, or what happened to the connection. It is a stranger's. */
export function ownText(error: unknown): string {
  const { responseText, message, code } = error as RemoteError;
  const text = (responseText ?? message).slice(0, MAX_TEXT);
  return responseText === undefined && code !== undefined && !text.includes(code) ? `${text} (${code})` : text;
}

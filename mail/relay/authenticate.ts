import type { Connection } from './connection.ts';
import type { ServerExtensions } from './server-extensions.ts';
import { deferred, replyText, type AttemptVerdict } from './attempt-verdict.ts';

export interface SmarthostLogin {
  username: string;
  password: string;
}

/** Longer initial responses are sent after the server's 334. RFC 4954 4. */
const MAX_INITIAL_RESPONSE = 500;

/**
 * Logs in with PLAIN or LOGIN; the caller ensures that the connection is encrypted. Returns a verdict on failure. It always
 * defers: a changed password must not bounce mail. RFC 4954, RFC 4616.
 */
export async function logInToServer(
  connection: Connection,
  offers: ServerExtensions,
  login: SmarthostLogin,
  timeout: number,
): Promise<AttemptVerdict | undefined> {
  const plain = base64(`\0${login.username}\0${login.password}`);
  if (offers.auth.includes('PLAIN')) {
    return plain.length <= MAX_INITIAL_RESPONSE
      ? exchangeLines(connection, [`AUTH PLAIN ${plain}`], timeout)
      : exchangeLines(connection, ['AUTH PLAIN', plain], timeout);
  }
  if (offers.auth.includes('LOGIN')) {
    return exchangeLines(connection, ['AUTH LOGIN', base64(login.username), base64(login.password)], timeout);
  }
  return deferred('4.7.8', 'the smarthost offers neither AUTH PLAIN nor AUTH LOGIN');
}

/** Sends lines; all but the last are answered with 334. A reply that repeats a credential is reduced to its code. */
async function exchangeLines(
  connection: Connection,
  lines: readonly string[],
  timeout: number,
): Promise<AttemptVerdict | undefined> {
  for (const [at, line] of lines.entries()) {
    const lost = await connection.write(`${line}\r\n`, timeout);
    const answer = lost ?? (await connection.reply(timeout));
    if (answer.kind === 'lost')
      return deferred('4.4.2', `the smarthost closed the connection during login: ${answer.why}`);
    const { reply } = answer;
    if (reply.code === (at === lines.length - 1 ? 235 : 334)) continue;
    const text = lines.some((sent) => replyText(reply).includes(sent)) ? String(reply.code) : replyText(reply);
    return deferred('4.7.8', `the smarthost rejected the login: ${text}`, reply.code);
  }
  return undefined;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

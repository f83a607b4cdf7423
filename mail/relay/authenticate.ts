import type { Connection } from './connection.ts';
import type { Offers } from './offers.ts';
import { deferred, replyText, type Verdict } from './verdict.ts';

export interface SmarthostLogin {
  username: string;
  password: string;
}

/** RFC 4954 4: longer first answers wait for the server to ask. */
const LONGEST_LINE = 500;

/**
 * Logs in with PLAIN or LOGIN; the caller has made sure that the connection is encrypted. A verdict says why it did not
 * succeed. It is "later" whatever the server says: a changed password must not bounce mail. RFC 4954, RFC 4616.
 */
export async function authenticate(
  connection: Connection,
  offers: Offers,
  login: SmarthostLogin,
  timeout: number,
): Promise<Verdict | undefined> {
  const plain = base64(`\0${login.username}\0${login.password}`);
  if (offers.auth.includes('PLAIN')) {
    return plain.length <= LONGEST_LINE
      ? talk(connection, [`AUTH PLAIN ${plain}`], timeout)
      : talk(connection, ['AUTH PLAIN', plain], timeout);
  }
  if (offers.auth.includes('LOGIN')) {
    return talk(connection, ['AUTH LOGIN', base64(login.username), base64(login.password)], timeout);
  }
  return deferred('4.7.8', 'the smarthost offers neither PLAIN nor LOGIN to log in with');
}

/** All lines but the last are answered with 334. What the server says may repeat what it heard: only its code is kept. */
async function talk(connection: Connection, lines: readonly string[], timeout: number): Promise<Verdict | undefined> {
  for (const [at, line] of lines.entries()) {
    const lost = await connection.write(`${line}\r\n`, timeout);
    const answer = lost ?? (await connection.reply(timeout));
    if (answer.kind === 'lost') return deferred('4.4.2', `the smarthost broke off the login: ${answer.why}`);
    const { reply } = answer;
    if (reply.code === (at === lines.length - 1 ? 235 : 334)) continue;
    const said = lines.some((sent) => replyText(reply).includes(sent)) ? String(reply.code) : replyText(reply);
    return deferred('4.7.8', `the smarthost refused the login: ${said}`, reply.code);
  }
  return undefined;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

import type { LoginOutcome } from '../login/types.ts';
import { bad, no, ok } from './answer.ts';
import type { Answer } from './answer.ts';
import { capabilities } from './capabilities.ts';
import type { Session } from './session.ts';

/** What LOGIN and AUTHENTICATE answer to what the login decided; on success the session is the account's. */
export function logIn(session: Session, outcome: LoginOutcome): Answer {
  const { door, ip } = session;
  door.meter.count('imap_logins_total', { outcome: outcome.kind });
  if (outcome.kind !== 'in') door.log.info({ ip, outcome: outcome.kind }, 'IMAP login refused');
  switch (outcome.kind) {
    case 'in':
      return enter(session, outcome);
    case 'wrong':
      session.failedLogins += 1;
      return no('AUTHENTICATIONFAILED', 'Wrong user name or password');
    case 'throttled':
      session.failedLogins += 1;
      return no('LIMIT', `Too many failed logins, try again in ${outcome.retryAfter} seconds`);
    case 'busy':
      return no('UNAVAILABLE', 'Too many logins at once, try again in a moment');
    case 'barred':
      return no('UNAVAILABLE', outcome.why);
    case 'malformed':
      return bad(outcome.why);
  }
}

function enter(session: Session, { login }: { login: Parameters<Session['enter']>[0] }): Answer {
  const { door, ip } = session;
  // The wait for the login may have lasted until the connection was ended.
  if (!session.open) return no('UNAVAILABLE', 'The connection is being closed');
  if (!door.accounts.admit(login.account, session, door.clock.now())) {
    return no('LIMIT', 'All connections of this account are at work, close one first');
  }
  session.enter(login);
  door.log.info({ ip, account: login.account }, 'IMAP login');
  return ok(`CAPABILITY ${capabilities(session)}`, 'Logged in');
}

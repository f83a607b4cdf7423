import type { LoginOutcome } from '../login/types.ts';
import { bad, no, ok } from './tagged-response.ts';
import type { TaggedResponse } from './tagged-response.ts';
import { capabilities } from './capabilities.ts';
import type { Session } from './session.ts';

/** Turns a login outcome into the response to LOGIN or AUTHENTICATE; on success the session belongs to the account. */
export async function completeLogin(session: Session, outcome: LoginOutcome): Promise<TaggedResponse> {
  const { context, ip } = session;
  context.meter.count('imap_logins_total', { outcome: outcome.kind });
  if (outcome.kind !== 'in') context.log.info({ ip, outcome: outcome.kind }, 'IMAP login rejected');
  switch (outcome.kind) {
    case 'in':
      return enterAccount(session, outcome);
    case 'wrong':
      session.failedLogins += 1;
      return no('AUTHENTICATIONFAILED', 'Wrong user name or password');
    case 'throttled':
      session.failedLogins += 1;
      return no('LIMIT', `Too many failed logins. Try again in ${outcome.retryAfter} seconds`);
    case 'busy':
      return no('UNAVAILABLE', 'Too many logins at once. Try again in a moment');
    case 'barred':
      return no('UNAVAILABLE', outcome.why);
    case 'malformed':
      return bad(outcome.why);
  }
}

async function enterAccount(
  session: Session,
  { login }: { login: Parameters<Session['logIn']>[0] },
): Promise<TaggedResponse> {
  const { context, ip } = session;
  // The connection may have closed during the login delay.
  if (!session.open) return no('UNAVAILABLE', 'The connection is being closed');
  if (!context.accounts.admit(login.account, session, context.clock.now())) {
    return no('LIMIT', 'Connection limit of this account reached and all are busy. Close one');
  }
  session.logIn(login);
  session.hiddenCapabilities = await session.store.hiddenCapabilities();
  context.log.info({ ip, account: login.account }, 'IMAP login');
  return ok(`CAPABILITY ${capabilities(session)}`, 'Logged in');
}

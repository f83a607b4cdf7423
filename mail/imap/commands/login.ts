import { no } from '../tagged-response.ts';
import { BEFORE_LOGIN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { completeLogin } from '../login-response.ts';

/** LOGIN. RFC 9051 6.2.3. */
export const login: ImapCommand<{ user: string; password: string }> = {
  name: 'LOGIN',
  states: BEFORE_LOGIN,
  parse: (d) => ({ user: d.sp().astring(), password: d.sp().astring() }),

  async run(session, { user, password }) {
    const { logins } = session.context;
    if (logins.mechanisms(session.peer).length === 0) return no('PRIVACYREQUIRED', 'Start TLS first');
    return completeLogin(session, await logins.password(user, password, session.peer));
  },
};

import { no } from '../answer.ts';
import { BEFORE_LOGIN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { logIn } from '../log-in.ts';

/** RFC 9051 6.2.3. */
export const login: ImapCommand<{ user: string; password: string }> = {
  name: 'LOGIN',
  states: BEFORE_LOGIN,
  parse: (d) => ({ user: d.sp().astring(), password: d.sp().astring() }),

  async run(session, { user, password }) {
    const { logins } = session.door;
    if (logins.mechanisms(session.peer).length === 0) return no('PRIVACYREQUIRED', 'Begin TLS first');
    return logIn(session, await logins.password(user, password, session.peer));
  },
};

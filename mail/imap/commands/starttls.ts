import { bad, ok } from '../answer.ts';
import { BEFORE_LOGIN, nothing } from '../command.ts';
import type { ImapCommand } from '../command.ts';

/** RFC 9051 6.2.1. The loop starts TLS after the answer and forgets all plaintext that came behind the command. */
export const starttls: ImapCommand<undefined> = {
  name: 'STARTTLS',
  states: BEFORE_LOGIN,
  parse: nothing,

  run(session) {
    if (session.encrypted) return bad('TLS is on already');
    return { ...ok('Begin TLS now'), next: 'tls' };
  },
};

import { ok } from '../answer.ts';
import { LOGGED_IN, nothing } from '../command.ts';
import type { ImapCommand } from '../command.ts';

/** RFC 9051 6.3.10. */
export const namespace: ImapCommand<undefined> = {
  name: 'NAMESPACE',
  states: LOGGED_IN,
  capabilities: ['NAMESPACE'],
  parse: nothing,

  run(session) {
    session.say('* NAMESPACE (("" "/")) NIL NIL\r\n');
    return ok('All mailboxes are your own');
  },
};

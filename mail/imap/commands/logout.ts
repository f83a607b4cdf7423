import { ok } from '../answer.ts';
import { ANY, nothing } from '../command.ts';
import type { ImapCommand } from '../command.ts';

/** RFC 9051 6.1.3: BYE first, then the tagged OK. */
export const logout: ImapCommand<undefined> = {
  name: 'LOGOUT',
  states: ANY,
  tellable: 'nothing',
  parse: nothing,

  run(session) {
    session.say('* BYE Until next time\r\n');
    return { ...ok('Logged out'), next: 'close' };
  },
};

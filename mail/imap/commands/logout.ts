import { ok } from '../tagged-response.ts';
import { ANY, noArguments } from '../command.ts';
import type { ImapCommand } from '../command.ts';

/** LOGOUT: BYE first, then the tagged OK. RFC 9051 6.1.3. */
export const logout: ImapCommand<undefined> = {
  name: 'LOGOUT',
  states: ANY,
  allowedUpdates: 'nothing',
  parse: noArguments,

  run(session) {
    session.write('* BYE Logging out\r\n');
    return { ...ok('Logged out'), next: 'close' };
  },
};

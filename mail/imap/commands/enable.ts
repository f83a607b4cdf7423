import { ok } from '../answer.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';

/** RFC 5161. Unknown names are passed over; the answer is sent also when nothing was enabled. */
export const enable: ImapCommand<readonly string[]> = {
  name: 'ENABLE',
  states: LOGGED_IN,
  capabilities: ['ENABLE'],

  parse(d) {
    const names: string[] = [];
    do names.push(d.sp().word());
    while (!d.trailing());
    return names;
  },

  run(session) {
    session.say('* ENABLED\r\n');
    return ok('Enabled what is known');
  },
};

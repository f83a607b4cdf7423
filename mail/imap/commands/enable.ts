import { ok } from '../tagged-response.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';

/** ENABLE. RFC 5161. Ignores unknown names; ENABLED is sent also when nothing was enabled. */
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
    session.write('* ENABLED\r\n');
    return ok('Enabled');
  },
};

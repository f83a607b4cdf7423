import { bad, ok } from '../answer.ts';
import { LOGGED_IN, nothing } from '../command.ts';
import type { ImapCommand } from '../command.ts';

/** Octets of the line that ends IDLE. */
const LINE = 1000;

/** RFC 2177. While the client waits, the announcer tells it what changes and the sweep that we are still here. */
export const idle: ImapCommand<undefined> = {
  name: 'IDLE',
  states: LOGGED_IN,
  capabilities: ['IDLE'],
  parse: nothing,

  async run(session) {
    session.idling = true;
    session.prompt('idling');
    session.tell();
    try {
      const line = await session.line(LINE);
      return /^done[ \t]*$/i.test(line.toString('latin1')) ? ok('Idle ended') : bad('Expected DONE');
    } finally {
      session.idling = false;
    }
  },
};

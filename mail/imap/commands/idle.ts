import { bad, ok } from '../tagged-response.ts';
import { LOGGED_IN, noArguments } from '../command.ts';
import type { ImapCommand } from '../command.ts';

/** Octets of the line that ends IDLE. */
const MAX_LINE = 1000;

/** IDLE. RFC 2177. The idle notifier sends changes and the sweep a keep-alive. */
export const idle: ImapCommand<undefined> = {
  name: 'IDLE',
  states: LOGGED_IN,
  capabilities: ['IDLE'],
  parse: noArguments,

  async run(session) {
    session.idling = true;
    session.sendContinuation('idling');
    session.notify();
    try {
      const line = await session.readLine(MAX_LINE);
      return /^done[ \t]*$/i.test(line.toString('latin1')) ? ok('Idle ended') : bad('Expected DONE');
    } finally {
      session.idling = false;
    }
  },
};

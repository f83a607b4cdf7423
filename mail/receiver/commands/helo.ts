import { parseHelo } from '../../smtp/helo-command.ts';
import { reply } from '../../smtp/reply.ts';
import { resetTransaction } from '../session-state.ts';
import type { SmtpCommand } from './command.ts';

/** HELO. RFC 5321 4.1.1.1. */
export const helo: SmtpCommand<{ name: string }> = {
  name: 'HELO',
  states: 'any',
  idle: true,
  parse: parseHelo,

  run(session, { name }) {
    resetTransaction(session);
    session.greeting = name;
    session.extended = false;
    return reply(250, '', session.options.hostname);
  },
};

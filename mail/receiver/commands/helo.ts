import { parseGreeting } from '../../smtp/greeting.ts';
import { reply } from '../../smtp/reply.ts';
import { resetTransaction } from '../conversation.ts';
import type { SmtpCommand } from './command.ts';

/** HELO. RFC 5321 4.1.1.1. */
export const helo: SmtpCommand<{ name: string }> = {
  name: 'HELO',
  states: 'any',
  idle: true,
  parse: parseGreeting,

  run(session, { name }) {
    resetTransaction(session);
    session.greeting = name;
    session.extended = false;
    return reply(250, '', session.settled.hostname);
  },
};

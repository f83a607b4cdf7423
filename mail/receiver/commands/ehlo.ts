import { parseGreeting } from '../../smtp/greeting.ts';
import { reply } from '../../smtp/reply.ts';
import { resetTransaction, type Conversation } from '../conversation.ts';
import type { SmtpCommand } from './command.ts';

/** EHLO. RFC 5321 4.1.1.1. */
export const ehlo: SmtpCommand<{ name: string }> = {
  name: 'EHLO',
  states: 'any',
  idle: true,
  parse: parseGreeting,

  run(session, { name }) {
    resetTransaction(session);
    session.greeting = name;
    session.extended = true;
    return reply(250, '', session.settled.hostname, ...extensions(session));
  },
};

/** What is offered to this session now. */
function extensions(session: Conversation): string[] {
  const { settled, door, peer, secure } = session;
  const offered = [
    'PIPELINING',
    `SIZE ${settled.maxMessageBytes}`,
    '8BITMIME',
    'SMTPUTF8',
    'ENHANCEDSTATUSCODES',
    'CHUNKING',
  ];
  // RFC 3461: who offers this has to report success when asked. A stranger's sender may be forged, so the server that
  // hands the message to us reports in our place, which it does when we do not offer it.
  if (door === 'submission') offered.push('DSN');
  offered.push(session.tls ? 'REQUIRETLS' : 'STARTTLS'); // RFC 8689 2: only over TLS
  // RFC 4954 4: on the MX door there is nothing to log in for, and a password sent there is a password given away.
  const mechanisms = door === 'submission' ? settled.logins.mechanisms({ ip: peer.ip, door, secure }) : [];
  if (mechanisms.length > 0) offered.push(`AUTH ${mechanisms.join(' ')}`);
  offered.push(limits(session)); // RFC 9422
  return offered;
}

function limits({ settled, trusted }: Conversation): string {
  const mailMax = trusted ? '' : ` MAILMAX=${settled.limits.transactions}`;
  return `LIMITS RCPTMAX=${settled.limits.recipients}${mailMax}`;
}

import { parseHelo } from '../../smtp/helo-command.ts';
import { reply } from '../../smtp/reply.ts';
import { resetTransaction, loginPeer, type SmtpSessionState } from '../session-state.ts';
import type { SmtpCommand } from './command.ts';

/** EHLO. RFC 5321 4.1.1.1. */
export const ehlo: SmtpCommand<{ name: string }> = {
  name: 'EHLO',
  states: 'any',
  idle: true,
  parse: parseHelo,

  run(session, { name }) {
    resetTransaction(session);
    session.greeting = name;
    session.extended = true;
    return reply(250, '', session.options.hostname, ...extensions(session));
  },
};

/** Lists the extensions for this session. */
function extensions(session: SmtpSessionState): string[] {
  const { options, service } = session;
  const offered = [
    'PIPELINING',
    `SIZE ${options.maxMessageBytes}`,
    '8BITMIME',
    'SMTPUTF8',
    'ENHANCEDSTATUSCODES',
    'CHUNKING',
  ];
  // RFC 3461: a server that offers DSN must report success on request. Senders from outside may be forged, so we leave the
  // report to the sending server, which writes it when we do not offer DSN.
  if (service === 'submission') offered.push('DSN');
  offered.push(session.tls ? 'REQUIRETLS' : 'STARTTLS'); // RFC 8689 2: only over TLS
  // RFC 4954 4: the MX service has no use for a login, and a password sent there would be exposed for nothing.
  const mechanisms = service === 'submission' ? options.logins.mechanisms(loginPeer(session)) : [];
  if (mechanisms.length > 0) offered.push(`AUTH ${mechanisms.join(' ')}`);
  offered.push(limits(session)); // RFC 9422
  return offered;
}

function limits({ options, trusted }: SmtpSessionState): string {
  const mailMax = trusted ? '' : ` MAILMAX=${options.limits.transactions}`;
  return `LIMITS RCPTMAX=${options.limits.recipients}${mailMax}`;
}

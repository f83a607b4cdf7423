import type { SecureContext } from 'node:tls';
import { reply } from '../../smtp/reply.ts';
import type { Conversation } from '../conversation.ts';
import { noWords, type SmtpCommand } from './command.ts';

/** STARTTLS. RFC 3207. */
export const starttls: SmtpCommand<object> = {
  name: 'STARTTLS',
  states: 'any',
  parse: noWords('STARTTLS'),

  run(session) {
    if (session.tls) return reply(503, '5.5.1', 'The connection is encrypted already');
    const context = contextOf(session);
    if (context === undefined) return reply(454, '4.7.0', 'TLS is not available now'); // RFC 3207 4
    return { ...reply(220, '2.0.0', 'Begin the handshake'), next: { kind: 'start-tls', context } };
  },
};

function contextOf(session: Conversation): SecureContext | undefined {
  try {
    return session.settled.secureContext();
  } catch (err) {
    session.settled.log.error({ err }, 'no certificate for STARTTLS');
    return undefined;
  }
}

import type { SecureContext } from 'node:tls';
import { reply } from '../../smtp/reply.ts';
import type { SmtpSessionState } from '../session-state.ts';
import { noWords, type SmtpCommand } from './command.ts';

/** STARTTLS. RFC 3207. */
export const starttls: SmtpCommand<object> = {
  name: 'STARTTLS',
  states: 'any',
  parse: noWords('STARTTLS'),

  run(session) {
    if (session.tls) return reply(503, '5.5.1', 'TLS is already active');
    const context = contextOf(session);
    if (context === undefined) return reply(454, '4.7.0', 'TLS is not available now'); // RFC 3207 4
    return { ...reply(220, '2.0.0', 'Ready to start TLS'), next: { kind: 'start-tls', context } };
  },
};

function contextOf(session: SmtpSessionState): SecureContext | undefined {
  try {
    return session.options.secureContext();
  } catch (err) {
    session.options.log.error({ err }, 'failed to load certificate for STARTTLS');
    return undefined;
  }
}

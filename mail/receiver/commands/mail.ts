import { formatAddress } from '../../message/address.ts';
import { type MailArguments, parseMail } from '../../smtp/mail-command.ts';
import { reply } from '../../smtp/reply.ts';
import { pausedText } from '../refusal.ts';
import { after, closing, type SmtpResponse } from '../response.ts';
import type { SmtpSessionState } from '../session-state.ts';
import { traceId } from '../trace-id.ts';
import type { SmtpCommand } from './command.ts';

/** MAIL. RFC 5321 4.1.1.2. */
export const mail: SmtpCommand<MailArguments> = {
  name: 'MAIL',
  states: 'greeted',
  utf8: true,
  parse: parseMail,

  run(session, words) {
    if (session.transaction !== undefined) {
      return reply(503, '5.5.1', 'A transaction is open: finish it or send RSET');
    }
    const { limits, maxMessageBytes, backend } = session.options;
    if (session.counters.transactions >= limits.transactions && !session.trusted) {
      return closing(421, '4.7.0', 'Too many messages in one session, connect again');
    }
    if (words.size !== undefined && words.size > maxMessageBytes) {
      return reply(552, '5.3.4', `The message exceeds the limit of ${maxMessageBytes} octets`); // RFC 1870 6.1
    }
    // RFC 8689 2: a message received in plaintext cannot require TLS from here on.
    if (words.requireTls && !session.tls) return reply(530, '5.7.0', 'REQUIRETLS needs TLS: send STARTTLS first');
    const refusal = backend.refuseNow();
    if (refusal !== undefined) return reply(refusal.code, refusal.enhanced, refusal.text);
    return session.service === 'mx' ? beginInbound(session, words) : beginSubmission(session, words);
  },
};

/** Accepts any sender, within the rate limit of its network. */
function beginInbound(session: SmtpSessionState, words: MailArguments): SmtpResponse {
  const wait = session.options.guard.retryAfter(session.peer.ip);
  if (wait > 0) return reply(451, '4.7.0', `Too much mail from your network, try again in ${wait} s`);
  return begin(session, words);
}

/** RFC 6409 4.3 and 6.1: needs a login, and one of its own addresses as the sender. */
function beginSubmission(session: SmtpSessionState, words: MailArguments): SmtpResponse | Promise<SmtpResponse> {
  const { login } = session;
  if (login === undefined) return reply(530, '5.7.0', 'Authentication required: log in first');
  return after(session.options.backend.maySend(login, words.sender), (permission) => {
    if (permission === 'own') return begin(session, words);
    if (permission === 'paused') return reply(550, '5.7.1', pausedText(words.sender?.domain ?? ''));
    const sender = words.sender === undefined ? 'the null sender' : formatAddress(words.sender);
    return reply(550, '5.7.1', `${formatAddress(login.address)} may not send as ${sender}`);
  });
}

function begin(session: SmtpSessionState, words: MailArguments): SmtpResponse {
  session.counters.transactions += 1;
  session.transaction = { ...words, id: traceId(), recipients: [], transfer: undefined, chunks: undefined };
  return reply(250, '2.1.0', 'Ok');
}

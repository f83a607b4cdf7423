import { formatAddress } from '../../message/address.ts';
import { parseMail, type MailArguments } from '../../smtp/mail-command.ts';
import { reply } from '../../smtp/reply.ts';
import { after, closing, pausedText, type Answer } from '../answer.ts';
import type { Conversation } from '../conversation.ts';
import { traceId } from '../trace-id.ts';
import type { SmtpCommand } from './command.ts';

/** MAIL. RFC 5321 4.1.1.2. */
export const mail: SmtpCommand<MailArguments> = {
  name: 'MAIL',
  states: 'greeted',
  utf8: true,
  parse: parseMail,

  run(session, words) {
    if (session.transaction !== undefined) return reply(503, '5.5.1', 'A message is under way; finish it or say RSET');
    const { limits, maxMessageBytes, intake } = session.settled;
    if (session.tally.transactions >= limits.transactions && !session.trusted) {
      return closing(421, '4.7.0', 'Enough messages for one session, connect again');
    }
    if (words.size !== undefined && words.size > maxMessageBytes) {
      return reply(552, '5.3.4', `Messages here have at most ${maxMessageBytes} octets`); // RFC 1870 6.1
    }
    // RFC 8689 2: what came in the clear cannot be asked to be protected from here on.
    if (words.requireTls && !session.tls) return reply(530, '5.7.0', 'REQUIRETLS needs TLS: say STARTTLS first');
    const refusal = intake.ready();
    if (refusal !== undefined) return reply(refusal.code, refusal.enhanced, refusal.text);
    return session.door === 'mx' ? take(session, words) : submit(session, words);
  },
};

/** From everybody, but not more than a minute may bring from one network. */
function take(session: Conversation, words: MailArguments): Answer {
  const wait = session.settled.guard.pause(session.peer.ip);
  if (wait > 0) return reply(451, '4.7.0', `Too much mail from your network in a minute, try again in ${wait} s`);
  return begin(session, words);
}

/** RFC 6409 4.3 and 6.1: only who has logged in, and only under an address of their own. */
function submit(session: Conversation, words: MailArguments): Answer | Promise<Answer> {
  const { login } = session;
  if (login === undefined) return reply(530, '5.7.0', 'Log in first');
  return after(session.settled.intake.maySend(login, words.sender), (may) => {
    if (may === 'own') return begin(session, words);
    if (may === 'paused') return reply(550, '5.7.1', pausedText(words.sender?.domain ?? ''));
    const sender = words.sender === undefined ? 'an empty sender' : formatAddress(words.sender);
    return reply(550, '5.7.1', `${formatAddress(login.address)} may not send as ${sender}`);
  });
}

function begin(session: Conversation, words: MailArguments): Answer {
  session.tally.transactions += 1;
  session.transaction = { ...words, id: traceId(), recipients: [], incoming: undefined, chunks: undefined };
  return reply(250, '2.1.0', 'Ok');
}

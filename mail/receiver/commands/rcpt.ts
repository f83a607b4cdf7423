import { formatAddress, type Address } from '../../message/address.ts';
import { parseRcpt, type RcptArguments } from '../../smtp/rcpt-command.ts';
import { reply } from '../../smtp/reply.ts';
import { after, closing, type Answer } from '../answer.ts';
import type { Conversation, Transaction } from '../conversation.ts';
import type { DsnRecipient, Refusal, Route } from '../needs.ts';
import type { SmtpCommand } from './command.ts';

/** RCPT. RFC 5321 4.1.1.3. */
export const rcpt: SmtpCommand<RcptArguments> = {
  name: 'RCPT',
  states: 'mail',
  utf8: true,
  parse: parseRcpt,

  run(session, words) {
    const { transaction, settled, login } = session;
    if (transaction === undefined) return reply(503, '5.5.1', 'Say MAIL first');
    if (words.utf8 && !transaction.smtputf8) {
      return reply(553, '5.6.7', 'This address needs SMTPUTF8 in MAIL'); // RFC 6531 3.5
    }
    if (transaction.recipients.length >= settled.limits.recipients) {
      return reply(452, '4.5.3', 'Enough recipients for one message, send it again for the others');
    }
    const address = addressOf(words, settled.hostname);
    const { sender, size } = transaction;
    return after(settled.intake.route(address, login, { sender, size, ip: session.peer.ip }), (route) =>
      after(strangerWaits(session, transaction, address, route), (wait) =>
        wait === undefined
          ? answer(session, transaction, address, route, dsnOf(words))
          : postponedStranger(session, address, wait),
      ),
    );
  },
};

function senderOf({ sender }: Transaction, ip: string): string {
  return sender === undefined ? ip : formatAddress(sender);
}

/** RFC 5321 4.5.1: `<Postmaster>` alone is the postmaster of this host. */
function addressOf({ path }: RcptArguments, hostname: string): Address {
  return path.kind === 'address' ? path.address : { local: 'postmaster', domain: hostname };
}

function dsnOf({ notify, orcpt }: RcptArguments): DsnRecipient {
  return { ...(notify && { notify }), ...(orcpt !== undefined && { orcpt }) };
}

function answer(
  session: Conversation,
  transaction: Transaction,
  address: Address,
  route: Route,
  dsn: DsnRecipient,
): Answer {
  // RFC 5321 4.5.5: only reports go to a rewritten sender, and these have the null reverse-path.
  const returns = route.kind === 'return' && transaction.sender === undefined;
  const known = route.kind === 'report' || route.kind === 'answer' || returns;
  const taken = route.kind === 'here' || route.kind === 'forward' || known;
  if (taken || (route.kind === 'elsewhere' && session.door === 'submission')) {
    transaction.recipients.push({ address, route, dsn });
    return reply(250, '2.1.5', 'Ok');
  }
  const { settled, door, peer } = session;
  const to = formatAddress(address);
  settled.meter.count('smtp_recipients_refused_total', { door, reason: route.kind });
  settled.log.info({ message: transaction.id, door, ip: peer.ip, to, outcome: route.kind }, 'recipient refused');
  switch (route.kind) {
    case 'unknown':
    case 'return':
      return slowed(session, reply(550, '5.1.1', `${to} does not exist here`));
    case 'unverified':
      return bounded(session, reply(450, '4.7.1', `${address.domain} is not verified here yet, try again later`));
    case 'waiting':
      return bounded(session, reply(450, '4.2.1', `Mail for ${to} is not passed on yet, try again later`));
    case 'full':
      // RFC 1870 6.1: no room for what SIZE announced.
      return bounded(session, reply(452, '4.2.2', `The mailbox of ${to} is full`));
    case 'over':
      // RFC 3463 3.3: an address that exists, and takes no messages any more.
      return bounded(session, reply(550, '5.2.1', `${to} is not in use any more`));
    case 'blocked':
      return bounded(session, reply(550, '5.7.1', `${to} takes no mail from ${senderOf(transaction, peer.ip)}`));
    case 'elsewhere':
      return slowed(session, reply(550, '5.7.1', 'Log in to send to other domains'));
  }
}

/** Mail that is for somebody here, from somebody who did not log in and is not exempt. */
function strangerWaits(
  { settled, door, peer, trusted }: Conversation,
  { sender }: Transaction,
  to: Address,
  route: Route,
): Promise<Refusal | undefined> | undefined {
  const wanted = route.kind === 'here' || route.kind === 'forward';
  return wanted && door === 'mx' && !trusted
    ? settled.intake.postpone?.({ ip: peer.ip, sender, to, route })
    : undefined;
}

function postponedStranger(session: Conversation, address: Address, { code, enhanced, text }: Refusal): Answer {
  const { settled, door, peer, transaction } = session;
  settled.meter.count('smtp_recipients_refused_total', { door, reason: 'stranger' });
  const about = { message: transaction?.id, door, ip: peer.ip, to: formatAddress(address) };
  settled.log.info({ ...about, outcome: 'stranger' }, 'recipient postponed');
  return bounded(session, reply(code, enhanced, text));
}

/**
 * No guess, so it is not slowed; but as many as a message may have: more in a row bring no message forward, and each
 * costs a look and a line of the log.
 */
function bounded(session: Conversation, refusal: Answer): Answer {
  session.tally.postponedRecipients += 1;
  const enough = !session.trusted && session.tally.postponedRecipients > session.settled.limits.recipients;
  return enough ? closing(421, '4.7.0', 'Too many recipients that cannot be taken now') : refusal;
}

/** Who guesses addresses is slowed down, then sent away. */
function slowed(session: Conversation, refusal: Answer): Answer {
  const { limits } = session.settled;
  session.tally.failedRecipients += 1;
  if (session.login === undefined) session.settled.guard.offended(session.peer.ip, 'recipients');
  if (session.trusted || session.tally.failedRecipients === 1) return refusal;
  const { failedRecipients, recipientDelayMs: delayMs } = limits;
  if (session.tally.failedRecipients < failedRecipients) return { ...refusal, delayMs };
  return { ...closing(421, '4.7.0', 'Too many unknown recipients'), delayMs };
}

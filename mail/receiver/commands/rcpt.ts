import { type Address, formatAddress } from '../../message/address.ts';
import { parseRcpt, type RcptArguments } from '../../smtp/rcpt-command.ts';
import { reply } from '../../smtp/reply.ts';
import type { DsnParameters, RecipientRoute, SmtpRefusal } from '../needs.ts';
import { expiredText } from '../refusal.ts';
import { after, closing, type SmtpResponse } from '../response.ts';
import type { MailTransaction, SmtpSessionState } from '../session-state.ts';
import type { SmtpCommand } from './command.ts';

/** RCPT. RFC 5321 4.1.1.3. */
export const rcpt: SmtpCommand<RcptArguments> = {
  name: 'RCPT',
  states: 'mail',
  utf8: true,
  parse: parseRcpt,

  run(session, words) {
    const { transaction, options, login } = session;
    if (transaction === undefined) return reply(503, '5.5.1', 'Send MAIL first');
    if (words.utf8 && !transaction.smtputf8) {
      return reply(553, '5.6.7', 'This address needs SMTPUTF8 in MAIL'); // RFC 6531 3.5
    }
    if (transaction.recipients.length >= options.limits.recipients) {
      return reply(452, '4.5.3', 'Too many recipients, send the message again for the others');
    }
    const address = addressOf(words, options.hostname);
    const { sender, size } = transaction;
    return after(options.backend.route(address, login, { sender, size, ip: session.peer.ip }), (route) =>
      after(greylist(session, transaction, address, route), (refusal) =>
        refusal === undefined
          ? respond(session, transaction, address, route, dsnOf(words))
          : deferUnknownSender(session, address, refusal),
      ),
    );
  },
};

function senderOf({ sender }: MailTransaction, ip: string): string {
  return sender === undefined ? ip : formatAddress(sender);
}

/** RFC 5321 4.5.1: `<Postmaster>` without a domain is the postmaster of this host. */
function addressOf({ path }: RcptArguments, hostname: string): Address {
  return path.kind === 'address' ? path.address : { local: 'postmaster', domain: hostname };
}

function dsnOf({ notify, orcpt }: RcptArguments): DsnParameters {
  return { ...(notify && { notify }), ...(orcpt !== undefined && { orcpt }) };
}

function respond(
  session: SmtpSessionState,
  transaction: MailTransaction,
  address: Address,
  route: RecipientRoute,
  dsn: DsnParameters,
): SmtpResponse {
  // RFC 5321 4.5.5: only reports are sent to a rewritten sender, and they have the null reverse-path.
  const isReturn = route.kind === 'return' && transaction.sender === undefined;
  const isReply = route.kind === 'report' || route.kind === 'answer' || route.kind === 'reports' || isReturn;
  const accepted = route.kind === 'here' || route.kind === 'forward' || isReply;
  if (accepted || (route.kind === 'elsewhere' && session.service === 'submission')) {
    transaction.recipients.push({ address, route, dsn });
    return reply(250, '2.1.5', 'Ok');
  }
  const { options, service, peer } = session;
  const to = formatAddress(address);
  options.meter.count('smtp_recipients_refused_total', { service, reason: route.kind });
  options.log.info({ message: transaction.id, service, ip: peer.ip, to, outcome: route.kind }, 'recipient refused');
  switch (route.kind) {
    case 'unknown':
    case 'return':
      return slowGuessing(session, reply(550, '5.1.1', `${to} does not exist here`));
    case 'deleted':
      // RFC 3463 3.3: X.2.1, a mailbox that exists and accepts no messages. It may be restored, and is 5.1.1 once purged.
      return limitDeferrals(session, reply(550, '5.2.1', `The mailbox of ${to} is disabled`));
    case 'unverified':
      return limitDeferrals(
        session,
        reply(450, '4.7.1', `${address.domain} is not verified here yet, try again later`),
      );
    case 'waiting':
      return limitDeferrals(session, reply(450, '4.2.1', `Mail for ${to} is not forwarded yet, try again later`));
    case 'full':
      // RFC 1870 6.1: no room for the size announced with SIZE.
      return limitDeferrals(session, reply(452, '4.2.2', `The mailbox of ${to} is full`));
    case 'over':
      return limitDeferrals(session, reply(550, '5.2.1', expiredText(address)));
    case 'blocked':
      return limitDeferrals(session, reply(550, '5.7.1', `${to} takes no mail from ${senderOf(transaction, peer.ip)}`));
    case 'elsewhere':
      return slowGuessing(session, reply(550, '5.7.1', 'Relay denied: log in to send to other domains'));
  }
}

/** Greylists mail for local recipients from peers that are neither logged in nor exempt. */
function greylist(
  { options, service, peer, trusted }: SmtpSessionState,
  { sender }: MailTransaction,
  to: Address,
  route: RecipientRoute,
): Promise<SmtpRefusal | undefined> | undefined {
  const accepted = route.kind === 'here' || route.kind === 'forward';
  return accepted && service === 'mx' && !trusted
    ? options.backend.greylist?.({ ip: peer.ip, sender, to, route })
    : undefined;
}

function deferUnknownSender(
  session: SmtpSessionState,
  address: Address,
  { code, enhanced, text }: SmtpRefusal,
): SmtpResponse {
  const { options, service, peer, transaction } = session;
  options.meter.count('smtp_recipients_refused_total', { service, reason: 'stranger' });
  const fields = { message: transaction?.id, service, ip: peer.ip, to: formatAddress(address), outcome: 'stranger' };
  options.log.info(fields, 'recipient deferred');
  return limitDeferrals(session, reply(code, enhanced, text));
}

/**
 * Limits refusals of existing recipients to the number that one message may have. They are not delayed like guesses, but
 * each costs a lookup and a log line.
 */
function limitDeferrals(session: SmtpSessionState, refusal: SmtpResponse): SmtpResponse {
  session.counters.deferredRecipients += 1;
  const tooMany = !session.trusted && session.counters.deferredRecipients > session.options.limits.recipients;
  return tooMany ? closing(421, '4.7.0', 'Too many recipients that cannot be accepted now') : refusal;
}

/** Delays the response to a guessed address, and closes after too many. */
function slowGuessing(session: SmtpSessionState, refusal: SmtpResponse): SmtpResponse {
  session.counters.failedRecipients += 1;
  if (session.login === undefined) session.options.guard.addOffence(session.peer.ip, 'recipients');
  if (session.trusted || session.counters.failedRecipients === 1) return refusal;
  const { failedRecipients, recipientDelayMs: delayMs } = session.options.limits;
  if (session.counters.failedRecipients < failedRecipients) return { ...refusal, delayMs };
  return { ...closing(421, '4.7.0', 'Too many unknown recipients'), delayMs };
}

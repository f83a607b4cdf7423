import type { Delivery } from '../delivery/types.ts';
import { deliver } from '../delivery/deliver.ts';
import { onePerAccount } from '../delivery/create-delivery.ts';
import { type IncomingReports, findIncomingReports } from '../delivery/incoming-report.ts';
import type { FilterResult } from '../filter/mail-filter.ts';
import { addressKey, formatAddress } from '../message/address.ts';
import { MessageIndexer } from '../message/indexer.ts';
import type { ReceiverContext } from './context.ts';
import {
  type MessageDisposition,
  decideDisposition,
  type DispositionInput,
  filingFor,
  type ForwardTargets,
  NO_TARGETS,
} from './disposition.ts';
import { countDmarcResult } from './dmarc-count.ts';
import { ForgedResultsFilter } from './forged-results-filter.ts';
import { requestVerdict } from './inbound-filter.ts';
import { type InboundPlan, planInbound } from './inbound-plan.ts';
import { acceptedMessage, fileReports, keepRejected } from './inbound-storage.ts';
import { MessageSpool } from './message-spool.ts';
import type { MessageEnvelope, MessageSink, SmtpRefusal } from './needs.ts';
import {
  ACCEPTED,
  isForwarded,
  readBeginning,
  type ReceivedMessage,
  type ReceiveResult,
  rejected,
} from './received-message.ts';
import { takeReports } from './report-inbox.ts';
import { countForwards, followForwards, quotaRefusal, takeReplies } from './recipient-plan.ts';
import { expiredAliasRefusal, smtpRefusal } from './refusal.ts';

/** A plan is made again when another message has used up a forward in between; each time fewer forwards are left. */
const MAX_PLANS = 5;

const LONG_HEADER = smtpRefusal(552, '5.3.4', 'Rejected: the header is longer than 256 KiB');
const FILTER_UNAVAILABLE = smtpRefusal(451, '4.3.0', 'The message cannot be checked now, try again later');
const UNVERIFIED_REPORT = smtpRefusal(451, '4.4.3', "Cannot verify the report's sender (DNS timeout), try again later");
const FORWARDS_BUSY = smtpRefusal(451, '4.7.1', 'Too much mail is being forwarded now, try again later');

/** Opens the spool for one message from outside. */
export function openInbound(context: ReceiverContext, envelope: MessageEnvelope): MessageSink {
  const header = new ForgedResultsFilter(context.hostname);
  return new MessageSpool(context, envelope, {
    header,
    reader: new MessageIndexer(context.store.secretLinks),
    refuseHeader: () => (header.isTooLong ? LONG_HEADER : undefined),
    receive: (message) => receiveInbound(context, message),
  });
}

/** Receives a message from outside: filters it, plans its forwards, then delivers, rejects or defers it. */
export async function receiveInbound(context: ReceiverContext, message: ReceivedMessage): Promise<ReceiveResult> {
  const early =
    (await quotaRefusal(context, message)) ??
    (message.envelope.sender === undefined ? limitReports(context, message.envelope) : undefined);
  if (early !== undefined) return rejected(early);
  const taken = await takeReports(context, message);
  if (typeof taken === 'object') return rejected(taken);
  if (taken === 'all') return { refusal: undefined, stored: false };
  if (await takeReplies(context, message)) return { refusal: undefined, stored: false };
  const reports = await readReports(context, message);
  const { filter, hostname: authserv } = context;
  if (filter?.checks !== true) return deliverInbound(context, message, reports);

  const { recipients, peer } = message.envelope;
  const { targets, copies } = await findForwardTargets(context, message);
  const reported = reports.reports.flatMap(({ delivery }) => delivery?.account ?? []);
  const verdict = await requestVerdict(context, filter, message, [...targets.accounts, ...reported]);
  if (verdict === undefined) return rejected(FILTER_UNAVAILABLE);
  const input: DispositionInput = { verdict, recipients, authserv, refuses: filter.network, targets };
  const disposition = decideDisposition(input);
  recordDisposition(context, message, verdict, disposition.refusal);
  if (filter.slows(peer.ip)) await context.tarpit.hold(disposition.delayMs);
  const result = await storeFiltered(context, message, reports, { input, disposition, copies });
  countDmarcResult(context, message, input, result);
  return result;
}

/** Delivers a filtered message, or keeps a copy of a rejected one. */
async function storeFiltered(
  context: ReceiverContext,
  message: ReceivedMessage,
  reports: IncomingReports,
  decided: Parameters<typeof keepRejected>[2],
): Promise<ReceiveResult> {
  const { input, disposition } = decided;
  if (disposition.refusal !== undefined) return keepRejected(context, message, decided);
  const filed = reports.reports.length === 0 ? reports : fileReports(message, reports, input, disposition);
  return filed === undefined
    ? rejected(UNVERIFIED_REPORT)
    : deliverInbound(context, message, filed, input, disposition);
}

/** Stores the message for all its recipients in one commit. */
async function deliverInbound(
  context: ReceiverContext,
  message: ReceivedMessage,
  { reports, unsolicited: unasked }: IncomingReports,
  input?: DispositionInput,
  disposition?: MessageDisposition,
): Promise<ReceiveResult> {
  let verdict = input?.verdict;
  for (let plans = 0; plans < MAX_PLANS; plans++) {
    const planned = await planInbound(context, message, { verdict, forwarding: disposition?.forwarding });
    if ('code' in planned) return rejected(planned);
    verdict = planned.verdict;
    const deliveries = planned.deliveries.map((one) => ({
      ...one,
      quiet: unasked,
      ...(input && disposition && { filing: filingFor(input, disposition, one.account) }),
    }));
    const done = await context.store.write(
      deliver,
      acceptedMessage(context, message, { ...planned, deliveries, reports }),
    );
    if (done.kind === 'forward-limit') continue;
    if (done.kind === 'alias-expired') return rejected(expiredAliasRefusal(message.envelope.recipients));
    if (done.queued > 0) context.queued();
    if (message.fields !== undefined) recordForwards(context, message, planned, done.reached);
    return { ...ACCEPTED, stored: done.stored };
  }
  return rejected(FORWARDS_BUSY);
}

/** Limits reports for one mailbox: mail forged in its name elsewhere brings any number of them. */
function limitReports(context: ReceiverContext, { recipients }: MessageEnvelope): SmtpRefusal | undefined {
  const { unmatchedReports, returnedReports } = context;
  const now = context.clock();
  const over = recipients.find(({ route }) => {
    if (route.kind === 'here') return route.accounts.some((account) => unmatchedReports.take(account, now) > 0);
    return route.kind === 'return' && returnedReports.take(addressKey(route.to), now) > 0;
  });
  return over && smtpRefusal(452, '4.7.1', `${formatAddress(over.address)} receives too many reports, try again later`);
}

/** Reads what the message reports about copies that were sent from here. */
function readReports(context: ReceiverContext, { envelope, index, blob }: ReceivedMessage): Promise<IncomingReports> {
  const { sender, recipients } = envelope;
  const named = recipients.flatMap(({ route }) => (route.kind === 'report' ? [route.copy] : []));
  return findIncomingReports(context, {
    sender,
    addressedCopies: named,
    index,
    octets: () => readBeginning(context, blob),
  });
}

/** Follows the forwards before the message is checked: each account they lead to decides for its own copy. */
async function findForwardTargets(
  context: ReceiverContext,
  message: ReceivedMessage,
): Promise<{ targets: ForwardTargets; copies: readonly Delivery[] }> {
  if (message.fields === undefined) return { targets: NO_TARGETS, copies: [] };
  const { secretLink } = message.index;
  const { passedAccounts, skipsAccounts } = await followForwards(context, message, ({ kind }) => kind === 'forward', {
    secretLink,
  });
  const isBeside = (route: Parameters<typeof isForwarded>[0]) => route.kind === 'here' && isForwarded(route);
  const withLocalCopy = await followForwards(context, message, isBeside, { secretLink });
  const copies = onePerAccount([...passedAccounts, ...withLocalCopy.passedAccounts]);
  const instead = onePerAccount(passedAccounts).map(({ account }) => account);
  return { targets: { accounts: copies.map(({ account }) => account), instead, bare: skipsAccounts }, copies };
}

function recordDisposition(
  { meter, log }: ReceiverContext,
  { envelope }: ReceivedMessage,
  { findings, accounts }: FilterResult,
  refusal: SmtpRefusal | undefined,
): void {
  const rules: string[] = [];
  for (const one of [{ findings }, ...accounts]) {
    for (const { rule, score } of one.findings) rules.push(`${rule} ${score}`);
  }
  const outcome = refusal === undefined ? 'taken' : refusal.code < 500 ? 'later' : 'refused';
  meter.count('filtered_messages_total', { outcome });
  log.debug({ message: envelope.id, outcome, rules }, 'message checked');
}

function recordForwards(
  context: ReceiverContext,
  { envelope: { id: message } }: ReceivedMessage,
  plan: InboundPlan,
  exhausted: readonly string[],
): void {
  const { log } = context;
  for (const source of exhausted) log.warn({ source }, 'daily forwarding limit reached');
  const loop = plan.kept.find(({ kind }) => kind === 'loop');
  if (loop !== undefined) log.warn({ message, source: loop.source, why: loop.why }, 'forwarding loop stopped');
  countForwards(context, plan);
}

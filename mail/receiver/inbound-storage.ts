import type { Delivery } from '../delivery/types.ts';
import { type AcceptedMessage, deliver } from '../delivery/deliver.ts';
import { createDelivery, onePerAccount } from '../delivery/create-delivery.ts';
import type { IncomingReports } from '../delivery/incoming-report.ts';
import type { ReceivedReport } from '../delivery/received-report.ts';
import { formatAddress } from '../message/address.ts';
import { StoreBusy } from '../store/engine/types.ts';
import type { ReceiverContext } from './context.ts';
import { type MessageDisposition, type DispositionInput, filingFor, isDeferredFor } from './disposition.ts';
import { isLocal, type ReceivedMessage, type ReceiveResult } from './received-message.ts';
import type { RecipientPlan } from './recipient-plan.ts';
import { isServerReport } from './server-report.ts';

/** Builds the input of the delivery command. */
export function acceptedMessage(
  { hold }: ReceiverContext,
  { envelope, index, blob }: ReceivedMessage,
  { kept, deliveries, onward, reports }: RecipientPlan & { reports: readonly ReceivedReport[] },
): AcceptedMessage {
  const { id, sender, peer, body, smtputf8, requireTls = false } = envelope;
  return {
    trace: id,
    sender: sender === undefined ? '' : formatAddress(sender),
    deliveries,
    onward,
    reports,
    kept: [...new Map(kept.map(({ tenant, source, why }) => [`${source} ${why}`, { tenant, source, why }])).values()],
    from: { ip: peer.ip, helo: peer.helo },
    eightBit: body === '8BITMIME',
    smtputf8,
    requireTls,
    hold,
    index,
    ...blob,
  };
}

/** Keeps a copy of a rejected message in Rejects, for accounts that want it. Its sender gets the refusal all the same. */
export async function keepRejected(
  context: ReceiverContext,
  message: ReceivedMessage,
  {
    input,
    disposition,
    copies,
  }: { input: DispositionInput; disposition: MessageDisposition; copies: readonly Delivery[] },
): Promise<ReceiveResult> {
  const { refusal, rejectsFor } = disposition;
  const deliveries = rejectDeliveries(message, rejectsFor, copies).map((one) => ({
    ...one,
    filing: filingFor(input, disposition, one.account),
  }));
  if (refusal === undefined || refusal.code < 500 || deliveries.length === 0) return { refusal, stored: false };
  try {
    const plan = { deliveries, onward: [], kept: [], reports: [] };
    const done = await context.store.write(deliver, acceptedMessage(context, message, plan));
    return { refusal, stored: done.kind === 'delivered' && done.stored };
  } catch (error) {
    context.log.warn({ err: error, message: message.envelope.id }, 'failed to store rejected message');
    // After any error but StoreBusy the message may be on disk, and then a row names its file.
    return { refusal, stored: !(error instanceof StoreBusy) };
  }
}

/** Deliveries of a rejected message to Junk. They name no alias: an alias counts the messages that it accepted. */
function rejectDeliveries(
  { envelope: { sender, recipients } }: ReceivedMessage,
  rejectsFor: readonly number[],
  copies: readonly Delivery[],
): Delivery[] {
  const named = recipients
    .filter(isLocal)
    .flatMap(({ address, route }) =>
      route.accounts.filter((one) => rejectsFor.includes(one)).map((one) => createDelivery(one, address, sender)),
    );
  return onePerAccount([...named, ...copies.filter(({ account }) => rejectsFor.includes(account))]);
}

/**
 * Files reports like any mail: everyone who got a message from here knows where its reports go, and can write anything
 * into one. The reported status counts all the same. Returns undefined when the author of a report cannot be verified now.
 */
export function fileReports(
  { envelope: { sender }, index }: ReceivedMessage,
  { reports, unsolicited: unasked }: IncomingReports,
  input: DispositionInput,
  disposition: MessageDisposition,
): IncomingReports | undefined {
  const { dmarc } = input.verdict.authentication;
  const filed: ReceivedReport[] = [];
  for (const report of reports) {
    const { delivery } = report;
    const fromServer = isServerReport(report, { sender, index, dmarc });
    if (delivery !== null && !fromServer && isDeferredFor(input, delivery.account)) return undefined;
    const filing = delivery && filingFor(input, disposition, delivery.account, fromServer);
    filed.push({ ...report, delivery: delivery && filing && { ...delivery, filing } });
  }
  return { reports: filed, unsolicited: unasked };
}

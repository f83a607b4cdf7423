import type { Delivery } from '../delivery/types.ts';
import { acceptNoticeReplies } from '../delivery/notice-replies.ts';
import type { AcceptedMessage } from '../delivery/deliver.ts';
import { createDelivery, onePerAccount } from '../delivery/create-delivery.ts';
import {
  type ForwardInput,
  type NotForwarded,
  emptyPlan,
  type ForwardPlan,
  planForwards,
  returnToSender,
} from '../delivery/forward.ts';
import { routeOutward } from '../delivery/route.ts';
import { formatAddress } from '../message/address.ts';
import { type MessageFacts, type MessageIndex, requireIndex } from '../message/index-types.ts';
import { accountHasRoom } from '../store/address/route-facts.ts';
import type { ReceiverContext } from './context.ts';
import { forwardRefusal } from './forward-refusal.ts';
import type { RecipientRoute, SmtpRefusal } from './needs.ts';
import { isForwarded, isLocal, readBeginning, type ReceivedMessage } from './received-message.ts';
import { smtpRefusal } from './refusal.ts';

type AnyMessage = ReceivedMessage<MessageFacts | MessageIndex>;

/** Mailboxes that get the message, copies that are sent on, and copies that are not. */
export type RecipientPlan = Pick<AcceptedMessage, 'deliveries' | 'onward'> & { kept: readonly NotForwarded[] };

/** Facts that decide which forwards pass a message on. */
export type ForwardingFacts = Pick<ForwardInput, 'authors' | 'proof' | 'secretLink' | 'staying' | 'junk'>;

/** Plans deliveries and forwards; refuses the message where it would reach nobody for a recipient. */
export async function planRecipients(
  context: ReceiverContext,
  message: AnyMessage,
  facts: ForwardingFacts,
): Promise<RecipientPlan | SmtpRefusal> {
  const { sender, recipients } = message.envelope;
  const deliveries = directDeliveries(message);
  if (message.fields === undefined) return { deliveries, onward: [], kept: [] };
  const { here, onward, lost, kept } = await followForwards(context, message, isForwarded, facts);
  if (lost.length > 0) return forwardRefusal(lost, kept);
  for (const { route } of recipients) {
    if (route.kind !== 'return') continue;
    const back = await routeOutward(context.store, route.to);
    // The author of the forwarded message may have a mailbox here.
    if (back.kind === 'here' || back.kind === 'full')
      here.push(...back.accounts.map((account) => createDelivery(account, route.to, sender)));
    else onward.push(returnToSender(route.to));
  }
  return { deliveries: onePerAccount([...deliveries, ...here]), onward, kept };
}

/** Finds where the forwards of the chosen recipients lead. */
export async function followForwards(
  { store, forwardKey: key, clock }: ReceiverContext,
  { envelope, fields = [] }: AnyMessage,
  isChosen: (route: RecipientRoute) => boolean,
  facts: ForwardingFacts,
): Promise<ForwardPlan> {
  const { sender, recipients } = envelope;
  const chosen = recipients.filter(({ route }) => isChosen(route));
  if (chosen.length === 0) return emptyPlan();
  const takers = new Map(chosen.map((one) => [one.address, isLocal(one) ? one.route.accounts : []]));
  return planForwards(store, [...takers.keys()], { sender, fields, key, now: clock(), takers, ...facts });
}

/** Mailboxes of recipients without forwards: one copy an account, also where several of its addresses are named. */
function directDeliveries({ envelope: { sender, recipients } }: AnyMessage): Delivery[] {
  const deliveries: Delivery[] = [];
  for (const one of recipients) {
    if (!isLocal(one) || isForwarded(one.route)) continue;
    for (const account of one.route.accounts) {
      deliveries.push(createDelivery(account, one.address, sender, one.route.aliases));
    }
  }
  return onePerAccount(deliveries);
}

/**
 * Refuses a message that is larger than announced with SIZE and does not fit into the only mailbox it is for. With more
 * recipients it is accepted: the others must not miss it, and the next message is refused at RCPT.
 */
export async function quotaRefusal(
  { store }: ReceiverContext,
  { envelope, index: { size } }: AnyMessage,
): Promise<SmtpRefusal | undefined> {
  const { recipients, received, size: announced = 0 } = envelope;
  const [only, ...more] = recipients;
  if (size - Buffer.byteLength(received) <= announced) return undefined;
  if (only === undefined || more.length > 0 || !isLocal(only)) return undefined;
  // Seen at RCPT, as for an announced size.
  if (size <= (only.route.room ?? 0)) return undefined;
  for (const account of only.route.accounts) {
    if (await store.read(accountHasRoom, { account, size })) return undefined;
  }
  return smtpRefusal(452, '4.2.2', `The mailbox of ${formatAddress(only.address)} is full`);
}

/** Has replies to notices of this server read. Returns true when no other recipient is left. */
export async function takeReplies(context: ReceiverContext, message: AnyMessage): Promise<boolean> {
  const { noticeReplies: answers } = context;
  const { recipients, id: trace, sender } = message.envelope;
  const replies = answers === undefined ? [] : recipients.filter(({ route }) => route.kind === 'answer');
  if (answers === undefined || replies.length === 0) return false;
  const to = replies.map(({ address }) => address);
  const octets = await readBeginning(context, message.blob);
  const index = requireIndex(message.index);
  await acceptNoticeReplies(answers, to, { trace, nullSender: sender === undefined, index, octets });
  return to.length === recipients.length;
}

/** Counts copies that were forwarded and copies that were not. */
export function countForwards({ meter }: ReceiverContext, { onward, kept }: RecipientPlan): void {
  if (onward.length > 0) meter.count('forwards_total', { outcome: 'sent_on' }, onward.length);
  for (const { kind } of kept) meter.count('forwards_total', { outcome: kind });
}

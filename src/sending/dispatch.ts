import { countAgentMail } from '../../mail/delivery/agent/count.ts';
import { outboxItem } from '../../mail/delivery/outbox-items.ts';
import { trySubmit } from '../../mail/delivery/submit.ts';
import type { Guard } from '../../mail/store/sent-before.ts';
import { approveUrl } from '../approvals/url.ts';
import { refuse } from '../operations/refusal.ts';
import type { World } from '../operations/world.ts';
import { threadOf } from './answered.ts';
import { standsAs, takenAs, toldAs } from './became.ts';
import type { Composed } from './compose-email.ts';
import { keepOctets } from './keep-octets.ts';
import type { Sender } from './key-auth.ts';
import { leftFor } from './left.ts';
import type { Outbound } from './outbound.ts';
import { type LeftOut, prepare } from './prepare.ts';
import { answerTo, answerToTry, type SendResult } from './send-answer.ts';
import { type NotSent, refuseStopped } from './send-refusals.ts';
import { recipientsOf, sendEmail, type SendOutcome, type SendRequest } from './sent-commands.ts';
import { findSentByTrace, type SentEmail } from './sent-queries.ts';

/** How a door writes: with or without an audit row. */
export type Commit = (request: SendRequest) => Promise<SendOutcome>;

/** Sends a message that is ready, or throws a refusal that says what to do. Nothing is half sent. */
export async function dispatch(
  world: World,
  sender: Sender,
  guard: Guard | null,
  mail: Outbound,
  commit: Commit = (input) => world.store.write(sendEmail, input),
): Promise<SendResult> {
  checkSize(world, mail.composed);
  for (let leftOut: readonly LeftOut[] = []; ;) {
    const request = await prepare(world, sender, { mail, guard, leftOut });
    const done = mail.dryRun
      ? await tried(world, request)
      : await keepOctets(world.store, mail.composed.data, 'sent', (octets) => commit({ ...request, ...octets }));
    if (!mail.dryRun) world.metrics.count('sent_messages_total', { outcome: done.kind });
    if (done.kind !== 'tried') countAgentMail(world.metrics, request.verdict, done);
    if (done.kind === 'tried') return answerToTry(done.facts, mail.threadId, await leftFor(world, sender));
    if (done.kind === 'sent' && done.queued) world.queueChanged();
    if (done.kind === 'sent' || done.kind === 'repeated')
      return answered(world, sender, mail, done.sent, done.kind === 'repeated');
    leftOut = without(sender, mail, leftOut, done);
  }
}

/** The answer to a message that was taken, now or when the same was asked before: then as it stands by now. */
export async function answered(
  world: World,
  sender: Sender,
  { from, threadId }: Pick<Outbound, 'from' | 'threadId'>,
  sent: SentEmail,
  repeated: boolean,
): Promise<SendResult> {
  const thread = await threadOf(world, sender, { from, threadId }, sent);
  const { outbox: id } = sent;
  const now = world.clock();
  const item = id === null ? undefined : await world.store.read(outboxItem, { id, now });
  const status = repeated ? standsAs(sent, item, now) : takenAs(sent);
  const asks = item?.state === 'pending' && item.approval !== null;
  const url = asks ? approveUrl(world, sender.organization, item.id) : null;
  const how = { status, repeated, budget: await leftFor(world, sender), approveUrl: url };
  return answerTo(toldAs(sent, status), thread, how);
}

/** What would become of it. The request itself may have been taken since it was looked for. */
async function tried(
  { store, clock }: World,
  mail: SendRequest,
): Promise<{ kind: 'tried'; facts: Omit<SentEmail, 'id'> } | { kind: 'repeated'; sent: SentEmail } | NotSent> {
  const judged = await store.read(trySubmit, { mail, now: clock() });
  if (judged.kind === 'passed') {
    const reasons = judged.reasons.map(({ text }) => text);
    return { kind: 'tried', facts: factsOf(mail, reasons) };
  }
  if (judged.kind !== 'repeated') return judged;
  const sent = await store.read(findSentByTrace, { trace: judged.trace });
  if (sent === undefined) throw new Error(`the message ${judged.trace} was sent before and has no record`);
  return { kind: 'repeated', sent };
}

/** Those who are suppressed are left out, and the others asked for again; anything else ends it. */
function without(
  sender: Sender,
  { recipients }: Outbound,
  leftOut: readonly LeftOut[],
  stopped: NotSent,
): readonly LeftOut[] {
  if (stopped.kind !== 'suppressed') return refuseStopped(stopped, sender);
  const all = [...leftOut, ...stopped.recipients];
  return all.length < recipients.length ? all : refuseStopped({ ...stopped, recipients: [...all] }, sender);
}

function checkSize({ settings }: World, { data }: Composed): void {
  if (data.length <= settings.maxMessageBytes) return;
  refuse('too_large', `The message has ${data.length} octets: more than this server sends.`, {
    maxBytes: settings.maxMessageBytes,
  });
}

function factsOf(mail: SendRequest, reasons: string[]): Omit<SentEmail, 'id'> {
  const { trace, messageId, sender, subject, sha256, sendAt, tags, metadata } = mail;
  const heldBecause = reasons[0] ?? null;
  const recipients = recipientsOf(mail, sendAt === null && heldBecause === null ? null : { heldBecause });
  return {
    trace,
    messageId,
    sender,
    subject,
    sha256,
    heldBecause,
    reasons,
    outbox: null,
    recipients,
    scheduledAt: sendAt,
    createdAt: 0,
    cancelledAt: null,
    tags: { ...tags },
    metadata: { ...metadata },
  };
}

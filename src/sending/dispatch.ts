import { destinations, UNREACHABLE } from '../../mail/delivery/destinations.ts';
import type { Identity } from '../../mail/delivery/identity.ts';
import type { Verdict } from '../../mail/delivery/policy.ts';
import { tryHolding, trySubmit } from '../../mail/delivery/submit.ts';
import { type Address, addressKey, formatAddress, needsUtf8, textKey } from '../../mail/message/address.ts';
import { accountByKey } from '../../mail/store/account.ts';
import { budgetLeft } from '../../mail/store/budget.ts';
import type { Guard } from '../../mail/store/sent-before.ts';
import { refuse } from '../operations/refusal.ts';
import type { World } from '../operations/world.ts';
import { allowanceOf, programBudgets } from './allowance.ts';
import { threadOf } from './answered.ts';
import type { Composed } from './compose-email.ts';
import { keepOctets } from './keep-octets.ts';
import type { Sender } from './key-auth.ts';
import type { Outbound } from './outbound.ts';
import { answerTo, answerToTry, type SendResult } from './send-answer.ts';
import { type NotSent, refuseStopped } from './send-refusals.ts';
import { recipientsOf, sendEmail, type SendOutcome, type SendRequest } from './sent-commands.ts';
import { findSentByTrace, type SentEmail } from './sent-queries.ts';

/** How a door writes: with or without an audit row. */
export type Commit = (request: SendRequest) => Promise<SendOutcome>;

/** Somebody asked for, who gets nothing. */
type LeftOut = SendRequest['leftOut'][number];

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
    if (done.kind === 'tried') return answerToTry(done.facts, mail.threadId, await leftOf(world, sender));
    if (done.kind === 'sent' && done.queued) world.queueChanged();
    if (done.kind === 'sent' || done.kind === 'repeated')
      return answered(world, sender, mail, done.sent, done.kind === 'repeated');
    leftOut = without(sender, mail, leftOut, done);
  }
}

/** The answer to a message that was taken, now or when the same was asked before. */
export async function answered(
  world: World,
  sender: Sender,
  { from, threadId }: Pick<Outbound, 'from' | 'threadId'>,
  sent: SentEmail,
  repeated: boolean,
): Promise<SendResult> {
  const thread = await threadOf(world, sender, { from, threadId }, sent);
  return answerTo(sent, thread, { repeated, budget: await leftOf(world, sender) });
}

function leftOf({ store, settings, clock }: World, sender: Sender): Promise<SendResult['budget']> {
  return store.read(budgetLeft, { budgets: programBudgets(settings, sender), now: clock() });
}

/** What would become of it. The request itself may have been taken since it was looked for. */
async function tried(
  { store, clock }: World,
  mail: SendRequest,
): Promise<{ kind: 'tried'; facts: Omit<SentEmail, 'id'> } | { kind: 'repeated'; sent: SentEmail } | NotSent> {
  const stopped = await store.read(trySubmit, { mail, now: clock() });
  if (stopped?.kind === 'repeated') {
    const sent = await store.read(findSentByTrace, { trace: stopped.trace });
    if (sent === undefined) throw new Error(`the message ${stopped.trace} was sent before and has no record`);
    return { kind: 'repeated', sent };
  }
  if (stopped !== undefined) return stopped;
  const reasons = (await store.read(tryHolding, { mail, now: clock() })).map(({ text }) => text);
  return { kind: 'tried', facts: factsOf(mail, reasons) };
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

export function identityOf({ organization: tenant, account, allowedDomains: domains }: Sender): Identity {
  return account === null ? { kind: 'tenant', tenant, domains } : { kind: 'account', account };
}

/** Everything that the gate is told. */
async function prepare(
  world: World,
  sender: Sender,
  { mail, guard, leftOut }: { mail: Outbound; guard: Guard | null; leftOut: readonly LeftOut[] },
): Promise<SendRequest> {
  const { organization, credential, account } = sender;
  const { from, composed, trace, sendAt, requireTls, tags, metadata, failIfHeld, answers, forwards, draft } = mail;
  const { index, authors, messageId, sha256, eightBit, utf8Header } = composed;
  const out = new Set(leftOut.map((one) => textKey(one.address)));
  const named = mail.recipients.filter(({ address }) => !out.has(addressKey(address)));
  const recipients = named.map(({ address }) => address);
  return {
    trace,
    account,
    tenant: organization,
    sender: formatAddress(from),
    smtputf8: utf8Header || [from, ...recipients].some(needsUtf8),
    eightBit,
    ret: 'HDRS',
    envid: '',
    signAs: [from.domain],
    requireTls,
    ...(await destinationsOf(world, from, recipients, composed)),
    hold: world.hold,
    by: sender.agent ?? null,
    copyFor: mail.saveToSent ? (account ?? (await mailboxAt(world, organization, from))) : null,
    data: null,
    file: null,
    index,
    authors: [...authors.from, ...authors.others],
    as: identityOf(sender),
    spares: true,
    allowance: await allowanceOf(world.store, world.settings, organization),
    budgets: programBudgets(world.settings, sender),
    guard,
    verdict: await verdictOn(world, sender, mail, recipients),
    sendAt,
    organization,
    credential,
    messageId,
    subject: index.subject,
    tags,
    metadata,
    sha256,
    leftOut,
    sources: sourcesOf(mail),
    failIfHeld,
    answers,
    forwards,
    draft,
  };
}

function sourcesOf({ recipients }: Outbound): SendRequest['sources'] {
  return Object.fromEntries(
    recipients.flatMap(({ address, source }) => (source === null ? [] : [[formatAddress(address), source]])),
  );
}

/** What the policy says of a message. */
async function verdictOn(
  world: World,
  { organization: tenant, account, credential }: Sender,
  { from, composed }: Outbound,
  recipients: readonly Address[],
): Promise<Verdict> {
  const { size } = composed.index;
  const asked = { tenant, account, credential, sender: formatAddress(from), size };
  return world.policy({ ...asked, recipients: recipients.map(formatAddress) });
}

/** The mailbox that stands at the address of a program. */
async function mailboxAt({ store }: World, tenant: number, address: Address): Promise<number | null> {
  return (await store.read(accountByKey, { tenant, key: addressKey(address) }))?.id ?? null;
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

async function destinationsOf(
  { store, secrets, clock, settings }: World,
  sender: Address,
  recipients: readonly Address[],
  { fields }: Composed,
): Promise<Pick<SendRequest, 'here' | 'local' | 'elsewhere' | 'onward'>> {
  const key = secrets.subkey('forwarding');
  const { hostname } = settings;
  const mail = { sender, fields, key, now: clock(), hostname, authors: [sender.domain] };
  const { unreachable, ...where } = await destinations(store, recipients, mail);
  const [first] = unreachable;
  if (first === undefined) return where;
  return refuse('recipient_blocked', `${first.address} cannot be written to: ${UNREACHABLE[first.why]}.`, {
    recipients: unreachable.map((one) => one.address),
  });
}

import { destinations, UNREACHABLE } from '../../mail/delivery/destinations.ts';
import { findForeignAuthor, type Identity } from '../../mail/delivery/identity.ts';
import { trySubmit } from '../../mail/delivery/submit.ts';
import { type Address, addressKey, formatAddress, needsUtf8, textKey } from '../../mail/message/address.ts';
import { traceId } from '../../mail/receiver/trace-id.ts';
import { accountByKey } from '../../mail/store/account.ts';
import { findSentBefore, type Guard } from '../../mail/store/sent-before.ts';
import { refuse } from '../operations/refusal.ts';
import type { World } from '../operations/world.ts';
import { agentVerdict } from './agent-verdict.ts';
import { allowanceOf, programBudgets } from './allowance.ts';
import { threadOf } from './answered.ts';
import { type Composed, composeEmail } from './compose-email.ts';
import { type EmailRequest, flawOf } from './email-request.ts';
import { fillEmail } from './fill-email.ts';
import { guardOf } from './guard.ts';
import { keepOctets } from './keep-octets.ts';
import type { Sender } from './key-auth.ts';
import { answerTo, answerToTry, type SendResult } from './send-answer.ts';
import { sendTime } from './send-time.ts';
import { type NotSent, refuseAuthor, refuseStopped } from './send-refusals.ts';
import { recipientsOf, sendEmail, type SendOutcome, type SendRequest } from './sent-commands.ts';
import { findSentByTrace } from './sent-queries.ts';

/** How a door writes: with or without an audit row. */
export type Commit = (request: SendRequest) => Promise<SendOutcome>;

/** Somebody asked for, who gets nothing. */
type LeftOut = SendRequest['leftOut'][number];

/** Sends what a program asks for, or throws a refusal that says what to do. Nothing is half sent. */
export async function sendFor(
  world: World,
  sender: Sender,
  request: EmailRequest,
  commit: Commit = (input) => world.store.write(sendEmail, input),
): Promise<SendResult> {
  const guard = guardOf(sender, request);
  const before = await answeredBefore(world, sender, request, guard);
  if (before !== undefined) return before;
  checkWhole(request);
  await checkAuthor(world, sender, request.from.address);
  const sendAt = timeOf(request, world.clock());
  const trace = traceId();
  const composed = composeEmail(await fillEmail(world, sender, request, trace), world.clock());
  checkSize(world, composed);
  for (let leftOut: readonly LeftOut[] = []; ;) {
    const mail = await prepare(world, sender, { request, composed, guard, sendAt, leftOut, trace });
    if (request.dryRun) {
      const stopped = await world.store.read(trySubmit, { mail, now: world.clock() });
      if (stopped === undefined)
        return answerToTry({ ...factsOf(mail), createdAt: 0, cancelledAt: null }, request.threadId ?? null);
      // The request itself may have been taken since it was looked for.
      if (stopped.kind === 'repeated') return repeatedAnswer(world, sender, request, stopped.trace);
      leftOut = without(sender, request, leftOut, stopped);
      continue;
    }
    const done = await keepOctets(world.store, composed.data, 'sent', (octets) => commit({ ...mail, ...octets }));
    world.metrics.count('sent_messages_total', { outcome: done.kind });
    if (done.kind === 'sent' && done.queued) world.queueChanged();
    if (done.kind === 'sent' || done.kind === 'repeated')
      return answerTo(done.sent, await threadOf(world, sender, request, done.sent), done.kind === 'repeated');
    leftOut = without(sender, request, leftOut, done);
  }
}

/** Those who are suppressed are left out, and the others asked for again; anything else ends it. */
function without(
  sender: Sender,
  request: EmailRequest,
  leftOut: readonly LeftOut[],
  stopped: NotSent,
): readonly LeftOut[] {
  if (stopped.kind !== 'suppressed') return refuseStopped(stopped, sender);
  const all = [...leftOut, ...stopped.recipients];
  return all.length < namedIn(request).length ? all : refuseStopped({ ...stopped, recipients: [...all] }, sender);
}

/** Looked at first: a repeated request gets its answer whatever became of limits, lists and mailboxes meanwhile. */
async function answeredBefore(
  world: World,
  sender: Sender,
  request: EmailRequest,
  guard: Guard | null,
): Promise<SendResult | undefined> {
  const before = guard === null ? undefined : await world.store.read(findSentBefore, { guard, now: world.clock() });
  if (before === undefined) return undefined;
  return before.kind === 'changed'
    ? refuseStopped(before, sender)
    : repeatedAnswer(world, sender, request, before.trace);
}

async function repeatedAnswer(world: World, sender: Sender, request: EmailRequest, trace: string): Promise<SendResult> {
  const sent = await world.store.read(findSentByTrace, { trace });
  if (sent === undefined) throw new Error(`the message ${trace} was sent before and has no record`);
  return answerTo(sent, await threadOf(world, sender, request, sent), true);
}

function checkWhole(request: EmailRequest): void {
  const flaw = flawOf(request);
  if (flaw !== undefined) refuse('invalid_arguments', `${flaw.path}: ${flaw.message}.`, { issues: [flaw] });
}

/** The gate asks again; this is for an answer before any work is done. */
async function checkAuthor({ store }: World, sender: Sender, author: Address): Promise<void> {
  const foreign = await store.read(findForeignAuthor, { as: identityOf(sender), authors: [author] });
  if (foreign !== undefined) refuseAuthor(foreign, sender);
}

function identityOf({ organization: tenant, account, allowedDomains: domains }: Sender): Identity {
  return account === null ? { kind: 'tenant', tenant, domains } : { kind: 'account', account };
}

function timeOf(request: EmailRequest, now: number): number | null {
  const at = sendTime(request.sendAt, now);
  if (at !== undefined) return at;
  return refuse('invalid_arguments', 'sendAt lies more than 30 days ahead.', {
    issues: [{ path: 'sendAt', message: 'is too far off' }],
  });
}

function checkSize({ settings }: World, { data }: Composed): void {
  if (data.length <= settings.maxMessageBytes) return;
  refuse('too_large', `The message has ${data.length} octets: more than this server sends.`, {
    maxBytes: settings.maxMessageBytes,
  });
}

interface Preparing {
  request: EmailRequest;
  composed: Composed;
  guard: Guard | null;
  sendAt: number | null;
  leftOut: readonly LeftOut[];
  trace: string;
}

/** Everything that the gate is told. */
async function prepare(
  world: World,
  sender: Sender,
  { request, composed, guard, sendAt, leftOut, trace }: Preparing,
): Promise<SendRequest> {
  const { organization, credential, account } = sender;
  const { index, authors, messageId, sha256 } = composed;
  const from = request.from.address;
  const out = new Set(leftOut.map((one) => textKey(one.address)));
  const recipients = namedIn(request).filter((address) => !out.has(addressKey(address)));
  const asked = { tenant: organization, account, credential, sender: formatAddress(from), size: index.size };
  return {
    trace,
    account,
    tenant: organization,
    sender: asked.sender,
    smtputf8: [from, ...recipients].some(needsUtf8),
    eightBit: false,
    ret: 'HDRS',
    envid: '',
    signAs: [from.domain],
    requireTls: request.requireTls,
    ...(await destinationsOf(world, from, recipients, composed)),
    hold: world.hold,
    by: sender.agent ?? null,
    copyFor: request.saveToSent ? await mailboxAt(world, organization, from) : null,
    data: null,
    file: null,
    index,
    authors: [...authors.from, ...authors.others],
    as: identityOf(sender),
    spares: true,
    allowance: await allowanceOf(world.store, world.settings, organization),
    budgets: programBudgets(world.settings, sender),
    guard,
    verdict: agentVerdict(await world.policy({ ...asked, recipients: recipients.map(formatAddress) }), sender, null),
    sendAt,
    organization,
    credential,
    messageId,
    subject: index.subject,
    tags: request.tags,
    metadata: request.metadata,
    sha256,
    leftOut,
  };
}

async function mailboxAt({ store }: World, tenant: number, address: Address): Promise<number | null> {
  return (await store.read(accountByKey, { tenant, key: addressKey(address) }))?.id ?? null;
}

function factsOf(mail: SendRequest) {
  const { trace, messageId, sender, subject, sha256, sendAt, tags, metadata, verdict } = mail;
  const heldBecause = verdict.kind === 'hold' ? verdict.because : null;
  const recipients = recipientsOf(mail, sendAt === null && heldBecause === null ? null : { heldBecause });
  const own = { tags: { ...tags }, metadata: { ...metadata } };
  return {
    trace,
    messageId,
    sender,
    subject,
    sha256,
    heldBecause,
    outbox: null,
    recipients,
    scheduledAt: sendAt,
    ...own,
  };
}

/** Everybody who was asked for, each once. */
function namedIn({ to, cc, bcc }: EmailRequest): Address[] {
  const all = [...to, ...cc, ...bcc].map((one) => one.address);
  return [...new Map(all.map((address) => [addressKey(address), address])).values()];
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

import { findForeignAuthor } from '../../mail/delivery/identity.ts';
import { type Address, addressKey } from '../../mail/message/address.ts';
import { traceId } from '../../mail/receiver/trace-id.ts';
import { findSentBefore, type Guard } from '../../mail/store/sent-before.ts';
import { refuse } from '../operations/refusal.ts';
import type { World } from '../operations/world.ts';
import { composeEmail } from './compose-email.ts';
import { answered, type Commit, dispatch } from './dispatch.ts';
import { type EmailRequest, flawOf } from './email-request.ts';
import { fillEmail } from './fill-email.ts';
import { guardOf } from './guard.ts';
import type { Sender } from './key-auth.ts';
import type { Outbound, Source } from './outbound.ts';
import { identityOf } from './prepare.ts';
import type { SendResult } from './send-answer.ts';
import { sendTime } from './send-time.ts';
import { refuseAuthor, refuseStopped } from './send-refusals.ts';
import { findSentByTrace } from './sent-queries.ts';

/** Where a message that comes again would have gone: the author's address, and the thread that was named. */
type Place = Pick<Outbound, 'from' | 'threadId'>;

/** What a message has to do with others, where it was computed from one. */
export interface Related {
  /** Why its recipients get it, by their addresses as keys; who is not here was named. */
  sources: ReadonlyMap<string, Source>;
  /** In-Reply-To and References. */
  reply: { inReplyTo: string; references: string } | undefined;
  /** Rows of messages in the mailbox that sends. */
  answers: number | null;
  forwards: number | null;
}

const UNRELATED: Omit<Related, 'reply'> = { sources: new Map(), answers: null, forwards: null };

/** Sends what a program asks for, or throws a refusal that says what to do. Nothing is half sent. */
export async function sendFor(
  world: World,
  sender: Sender,
  request: EmailRequest,
  commit?: Commit,
): Promise<SendResult> {
  const place = { from: request.from.address, threadId: request.threadId ?? null };
  const guard = guardOf(sender, request, request);
  return sendOnce(world, sender, { guard, place, ...(commit && { commit }) }, () => outboundOf(world, sender, request));
}

/**
 * Sends a message unless the same request was taken before: that is looked at first, so that its answer is the same
 * whatever became of limits, lists and mailboxes meanwhile. The commit looks again.
 */
export async function sendOnce(
  world: World,
  sender: Sender,
  { guard, place, commit }: { guard: Guard | null; place: Place; commit?: Commit },
  make: () => Promise<Outbound>,
): Promise<SendResult> {
  const before = guard === null ? undefined : await world.store.read(findSentBefore, { guard, now: world.clock() });
  if (before?.kind === 'changed') return refuseStopped(before, sender);
  if (before === undefined) return dispatch(world, sender, guard, await make(), commit);
  const sent = await world.store.read(findSentByTrace, { trace: before.trace });
  if (sent === undefined) throw new Error(`the message ${before.trace} was sent before and has no record`);
  return answered(world, sender, place, sent, true);
}

/** Writes the message that was asked for; `related` where it follows from another one. */
export async function outboundOf(
  world: World,
  sender: Sender,
  request: EmailRequest,
  related?: Related,
): Promise<Outbound> {
  checkWhole(request);
  const from = request.from.address;
  await checkAuthor(world, sender, from);
  const sendAt = timeOf(request, world.clock());
  const trace = traceId();
  const { answers, forwards, sources } = related ?? UNRELATED;
  const filled = await fillEmail(world, sender, request, { trace, reply: related?.reply });
  const { dryRun, requireTls, saveToSent, tags, metadata, failIfApprovalNeeded: failIfHeld } = request;
  return {
    trace,
    from,
    recipients: namedIn(request).map((address) => ({ address, source: sources.get(addressKey(address)) ?? null })),
    composed: composeEmail(filled, world.clock(), world.store.secretLinks),
    sendAt,
    dryRun,
    failIfHeld,
    requireTls,
    saveToSent,
    tags,
    metadata,
    threadId: request.threadId ?? null,
    answers: answers ?? filled.answers,
    forwards,
    handsOn: forwards !== null || request.attachments.some(({ attachmentId }) => attachmentId !== undefined),
    draft: null,
  };
}

function checkWhole(request: EmailRequest): void {
  const flaw = flawOf(request);
  if (flaw !== undefined) refuse('invalid_arguments', `${flaw.path}: ${flaw.message}.`, { issues: [flaw] });
}

/** The gate asks again; this is for an answer before any work is done. */
export async function checkAuthor({ store }: World, sender: Sender, author: Address): Promise<void> {
  const foreign = await store.read(findForeignAuthor, { as: identityOf(sender), authors: [author] });
  if (foreign !== undefined) refuseAuthor(foreign, sender);
}

/** When it goes, ms UTC; null: now. */
export function timeOf({ sendAt }: { sendAt?: string | undefined }, now: number): number | null {
  const at = sendTime(sendAt, now);
  if (at !== undefined) return at;
  return refuse('invalid_arguments', 'sendAt lies more than 30 days ahead.', {
    issues: [{ path: 'sendAt', message: 'is too far off' }],
  });
}

/** Everybody who was asked for, each once. */
function namedIn({ to, cc, bcc }: Pick<EmailRequest, 'to' | 'cc' | 'bcc'>): Address[] {
  const all = [...to, ...cc, ...bcc].map((one) => one.address);
  return [...new Map(all.map((address) => [addressKey(address), address])).values()];
}

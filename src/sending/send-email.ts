import type { AppContext } from '../core/app-context.ts';
import { foreignAuthorQuery } from '../../mail/delivery/identity.ts';
import { type Address, addressKey, formatAddress } from '../../mail/message/address.ts';
import { traceId } from '../../mail/receiver/trace-id.ts';
import { findSentBefore, type IdempotencyGuard } from '../../mail/store/queue/idempotency.ts';
import { refuse, notFound } from '../core/refusal.ts';
import { identityOf } from './api-draft.ts';
import { composeEmail, type FilledEmail } from './compose-email.ts';
import { resultOfSent, type Commit, dispatch } from './dispatch.ts';
import { type EmailRequest, findRequestError } from './email-request.ts';
import { duplicateGuard } from './duplicate-guard.ts';
import type { ApiSender } from './key-auth.ts';
import { remainingBudget } from './remaining-budget.ts';
import type { OutboundEmail, OutboundRecipient, RecipientSource } from './outbound.ts';
import type { SendResult } from './send-result.ts';
import { sendTime } from './send-time.ts';
import { refuseAuthor, refuseStopped } from './send-refusals.ts';
import { findSentByTrace } from './sent-queries.ts';
import { rowId } from '../core/ids.ts';
import { findAnsweredMessage } from './answered-message.ts';
import { attachedFiles } from './attached-files.ts';
import { unsubscribeKey, unsubscribeLink } from '../unsubscribe/commands.ts';
import { findTemplate } from './template-commands.ts';
import { fillTemplate, MAX_FILLED_CHARS } from './template-text.ts';

/** Author's address and requested thread, to find the thread of a repeated request. */
type ReplyPlace = Pick<OutboundEmail, 'from' | 'threadId'>;

/** Relation of a message to the one that it was created from. */
export interface RelatedMessages {
  /** Field that each recipient was taken from, by address key; the others were named in the request. */
  sources: ReadonlyMap<string, RecipientSource>;
  /** In-Reply-To and References. */
  reply: { inReplyTo: string; references: string } | undefined;
  /** Rows of messages in the sending mailbox. */
  answers: number | null;
  forwards: number | null;
}

const NO_RELATED_MESSAGES: Omit<RelatedMessages, 'reply'> = { sources: new Map(), answers: null, forwards: null };

/** Sends a requested message, or throws a refusal with the remedy. All recipients or none. */
export async function sendRequested(
  world: AppContext,
  sender: ApiSender,
  request: EmailRequest,
  commit?: Commit,
): Promise<SendResult> {
  const place = { from: request.from.address, threadId: request.threadId ?? null };
  const guard = duplicateGuard(sender, request, request);
  return sendOnce(world, sender, { guard, place, ...(commit && { commit }) }, () =>
    composeOutbound(world, sender, request),
  );
}

/**
 * Sends a message unless the same request was accepted before. That is checked first, so that the result does not depend
 * on limits, lists and mailboxes that changed meanwhile. The commit checks again.
 */
export async function sendOnce(
  world: AppContext,
  sender: ApiSender,
  { guard, place, commit }: { guard: IdempotencyGuard | null; place: ReplyPlace; commit?: Commit },
  make: () => Promise<OutboundEmail>,
): Promise<SendResult> {
  const before = await resultOfSentBefore(world, sender, guard, place);
  if (before !== undefined) return before;
  try {
    return await dispatch(world, sender, guard, await make(), commit);
  } catch (cause) {
    // An equal request that was under way may have sent the draft meanwhile: then this one finds no draft.
    const meanwhile = await resultOfSentBefore(world, sender, guard, place);
    if (meanwhile === undefined) throw cause;
    return meanwhile;
  }
}

/** Returns the result of the same request if it was accepted before; refuses another request with the same key. */
async function resultOfSentBefore(
  world: AppContext,
  sender: ApiSender,
  guard: IdempotencyGuard | null,
  place: ReplyPlace,
): Promise<SendResult | undefined> {
  const before = guard === null ? undefined : await world.store.read(findSentBefore, { guard, now: world.clock() });
  if (before === undefined) return undefined;
  if (before.kind === 'changed') return refuseStopped(before, sender);
  const sent = await world.store.read(findSentByTrace, { trace: before.trace });
  if (sent === undefined) throw new Error(`the message ${before.trace} was sent before and has no record`);
  return resultOfSent(world, sender, place, sent, { repeated: true, budget: await remainingBudget(world, sender) });
}

/** Composes the requested message; `related` is set if it was created from another one. */
export async function composeOutbound(
  world: AppContext,
  sender: ApiSender,
  request: EmailRequest,
  related?: RelatedMessages,
): Promise<OutboundEmail> {
  checkRequest(request);
  const from = request.from.address;
  await checkAuthor(world, sender, from);
  const sendAt = readSendTime(request, world.clock());
  const trace = traceId();
  const { answers, forwards, sources } = related ?? NO_RELATED_MESSAGES;
  const filled = await fillEmail(world, sender, request, { trace, reply: related?.reply });
  const { dryRun, requireTls, saveToSent, tags, metadata, failIfApprovalNeeded: failIfHeld } = request;
  return {
    trace,
    from,
    recipients: recipientsIn(request, sources),
    composed: await composeEmail({ ...world, texts: world.texts.for(sender.organization) }, filled, world.clock()),
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
    findQuotedContent: forwards !== null || request.attachments.some(({ attachmentId }) => attachmentId !== undefined),
    draft: null,
  };
}

function checkRequest(request: EmailRequest): void {
  const flaw = findRequestError(request);
  if (flaw !== undefined) refuse('invalid_arguments', `${flaw.path}: ${flaw.message}.`, { issues: [flaw] });
}

/** Checks the author early, before any work is done; the submission checks again. */
export async function checkAuthor({ store }: AppContext, sender: ApiSender, author: Address): Promise<void> {
  const foreign = await store.read(foreignAuthorQuery, { as: identityOf(sender), authors: [author] });
  if (foreign !== undefined) refuseAuthor(foreign, sender);
}

/** Reads the send time, ms UTC; null: now. */
export function readSendTime({ sendAt }: { sendAt?: string | undefined }, now: number): number | null {
  const at = sendTime(sendAt, now);
  if (at !== undefined) return at;
  return refuse('invalid_arguments', 'sendAt is more than 30 days ahead. Choose an earlier time.', {
    issues: [{ path: 'sendAt', message: 'is more than 30 days ahead' }],
  });
}

/** Lists all requested recipients without duplicates; the first field wins. */
function recipientsIn(
  { to, cc, bcc }: Pick<EmailRequest, 'to' | 'cc' | 'bcc'>,
  sources: ReadonlyMap<string, RecipientSource>,
): OutboundRecipient[] {
  const all = new Map<string, OutboundRecipient>();
  for (const [field, list] of [
    [undefined, to],
    ['cc', cc],
    ['bcc', bcc],
  ] as const) {
    for (const { address } of list) {
      const key = addressKey(address);
      const source = sources.get(key);
      if (all.has(key)) continue;
      all.set(key, { address, ...(source !== undefined && { source }), ...(field !== undefined && { field }) });
    }
  }
  return [...all.values()];
}

/**
 * Resolves the references of a request: template, files, unsubscribe link, answered message. `reply` is set if the
 * request was created from the answered message.
 */
async function fillEmail(
  world: AppContext,
  sender: ApiSender,
  request: EmailRequest,
  { trace, reply }: { trace: string; reply: FilledEmail['reply'] },
): Promise<FilledEmail> {
  const { template, attachments, inReplyTo: _message, threadId: _thread, ...rest } = request;
  const texts = template === undefined ? {} : await textsOf(world, sender, template);
  const files = await attachedFiles(world, sender, attachments);
  const { listUnsubscribe } = request;
  const unsubscribe = listUnsubscribe === true ? unsubscribeOf(world, sender, request, trace) : listUnsubscribe;
  const found = reply === undefined ? await findAnsweredMessage(world, sender, request) : { ...reply, email: null };
  const answered = found && { inReplyTo: found.inReplyTo, references: found.references };
  const subject = request.subject ?? '';
  return { ...rest, subject, ...texts, files, unsubscribe, reply: answered, answers: found?.email ?? null, template };
}

async function textsOf(
  { store }: AppContext,
  { organization }: ApiSender,
  { id, version, variables }: NonNullable<EmailRequest['template']>,
): Promise<{ subject: string; text: string | undefined; html: string | undefined }> {
  const input = { organization, id: rowId('template', id) ?? 0, version: version ?? null };
  const found = await store.read(findTemplate, input);
  if (found === undefined) return notFound('template');
  const filled = fillTemplate(found, variables);
  if (filled.kind === 'filled') {
    const { subject, text, html } = filled;
    return { subject, text, html };
  }
  if (filled.kind === 'too-long') {
    const why = `the filled template is longer than ${MAX_FILLED_CHARS} characters: send shorter values`;
    return refuse('invalid_arguments', `template.variables: ${why}.`, {
      issues: [{ path: 'template.variables', message: why }],
    });
  }
  const issues = filled.names.map((name) => ({ path: `template.variables.${name}`, message: 'is missing' }));
  return refuse('invalid_arguments', `template.variables: the template also requires ${filled.names.join(', ')}.`, {
    issues,
  });
}

/** Creates the unsubscribe link. It identifies the recipient, so the message must have exactly one. */
function unsubscribeOf(
  { baseUrl, secrets }: AppContext,
  { organization }: ApiSender,
  { to, cc, bcc }: EmailRequest,
  trace: string,
): string {
  const [only, ...more] = [...to, ...cc, ...bcc];
  if (only !== undefined && more.length === 0) {
    const subscription = { organization, recipient: formatAddress(only.address), trace };
    return unsubscribeLink(baseUrl(), unsubscribeKey(secrets), subscription);
  }
  const why = 'send to one recipient at a time';
  return refuse('invalid_arguments', `listUnsubscribe: ${why}.`, {
    issues: [{ path: 'listUnsubscribe', message: why }],
  });
}

import type { AreaContext } from '../core/area-context.ts';
import { UNREACHABLE } from '../../mail/delivery/destinations.ts';
import type { MessageOctets } from '../../mail/delivery/octet-reader.ts';
import { findOutboxItem } from '../../mail/delivery/outbox-items.ts';
import type { SendVerdict } from '../../mail/agents/gate/sending-policy.ts';
import type { SubmissionDraft } from '../../mail/delivery/submission-draft.ts';
import { previewMessage, submitMessage, type UnreachableRecipients } from '../../mail/delivery/submit-message.ts';
import { formatAddress } from '../../mail/message/address.ts';
import type { IdempotencyGuard } from '../../mail/store/queue/idempotency.ts';
import { approveUrl } from '../approvals/url.ts';
import { refuse } from '../core/refusal.ts';
import { threadOfSent } from './answered-message.ts';
import { apiDraft, type ExcludedRecipient, limitsOf } from './api-draft.ts';
import { currentStatus, initialStatus, withStatus } from './send-status.ts';
import type { ComposedEmail } from './compose-email.ts';
import { withStoredOctets } from './stored-octets.ts';
import type { ApiSender } from './key-auth.ts';
import { remainingBudget } from './remaining-budget.ts';
import type { OutboundEmail } from './outbound.ts';
import { sendResult, dryRunResult, type SendResult } from './send-result.ts';
import { type StoppedSend, refuseStopped } from './send-refusals.ts';
import { recipientsOf, sendEmail } from './sent-commands.ts';
import type { SendOutcome, SendRequest } from './send-request.ts';
import { findSentByTrace, type SentEmail } from './sent-queries.ts';
import { submissionContext } from './submission-context.ts';

/** Commits the message, with or without an audit row. */
export type Commit = (request: SendRequest) => Promise<SendOutcome>;

/** Submits a ready message, or throws a refusal with the remedy. All recipients or none. */
export async function dispatch(
  world: AreaContext,
  sender: ApiSender,
  guard: IdempotencyGuard | null,
  mail: OutboundEmail,
  commit: Commit = (input) => world.store.write(sendEmail, input),
): Promise<SendResult> {
  checkSize(world, mail.composed);
  const limits = await limitsOf(world, sender);
  for (let leftOut: readonly ExcludedRecipient[] = []; ;) {
    const draft = await apiDraft(world, sender, { mail, guard, limits, leftOut });
    const record = recordOf(sender, mail, leftOut);
    const done = mail.dryRun
      ? await previewEmail(world, draft, record)
      : await submitEmail(world, draft, { record, mail, commit });
    if (done.kind === 'unreachable') return refuseUnreachable(done);
    if (done.kind === 'tried' || done.kind === 'sent' || done.kind === 'repeated') {
      const budget = await remainingBudget(world, sender, { limits, verdict: done.verdict });
      if (done.kind === 'tried') return dryRunResult(done.facts, mail.threadId, budget);
      return resultOfSent(world, sender, mail, done.sent, { repeated: done.kind === 'repeated', budget });
    }
    leftOut = excludeSuppressed(sender, mail, leftOut, done);
  }
}

type SentRecord = Omit<SendRequest, 'mail'>;

/** Submits the message; large octets are written to a file. */
async function submitEmail(
  world: AreaContext,
  draft: SubmissionDraft,
  { record, mail, commit }: { record: SentRecord; mail: OutboundEmail; commit: Commit },
): Promise<(SendOutcome & { verdict: SendVerdict }) | UnreachableRecipients> {
  const done = await submitMessage(submissionContext(world), draft, async (submission) => {
    const write = (octets: MessageOctets) => commit({ ...record, mail: { ...submission, ...octets } });
    return { ...(await withStoredOctets(world.store, mail.composed.data, 'sent', write)), verdict: submission.verdict };
  });
  world.metrics.count('sent_messages_total', { outcome: done.kind });
  return done;
}

function recordOf({ credential }: ApiSender, mail: OutboundEmail, leftOut: readonly ExcludedRecipient[]): SentRecord {
  const { tags, metadata, failIfHeld, answers, forwards, draft, recipients } = mail;
  const { messageId, sha256, index } = mail.composed;
  const fields = Object.fromEntries(recipients.map(({ address, ...one }) => [formatAddress(address), one]));
  const made = { answers, forwards, draft };
  return {
    credential,
    messageId,
    subject: index.subject,
    tags,
    metadata,
    sha256,
    leftOut,
    fields,
    failIfHeld,
    ...made,
  };
}

function refuseUnreachable({ unreachable }: UnreachableRecipients): never {
  const [{ address, why }] = unreachable;
  return refuse('recipient_blocked', `Cannot send to ${address}: ${UNREACHABLE[why]}.`, {
    recipients: unreachable.map((one) => one.address),
  });
}

/** Builds the result of an accepted message; for a repeated request, with its current status. */
export async function resultOfSent(
  world: AreaContext,
  sender: ApiSender,
  { from, threadId }: Pick<OutboundEmail, 'from' | 'threadId'>,
  sent: SentEmail,
  { repeated, budget }: { repeated: boolean; budget: SendResult['budget'] },
): Promise<SendResult> {
  const thread = await threadOfSent(world, sender, { from, threadId }, sent);
  const { outbox: id } = sent;
  const now = world.clock();
  const item = id === null ? undefined : await world.store.read(findOutboxItem, { id, now });
  const status = repeated ? currentStatus(sent, item, now) : initialStatus(sent);
  const asks = item?.state === 'pending' && item.approval !== null;
  const url = asks ? approveUrl(world, sender.organization, item.id) : null;
  const how = { status, repeated, budget, approveUrl: url };
  return sendResult(repeated ? withStatus(sent, status) : sent, thread, how);
}

/** Dry run. The same request may have been accepted meanwhile. */
async function previewEmail(world: AreaContext, draft: SubmissionDraft, record: SentRecord) {
  const found = await previewMessage(submissionContext(world), draft);
  if (found.kind === 'unreachable') return found;
  const { mail, preview } = found;
  const { verdict } = mail;
  if (preview.kind === 'passed') {
    const reasons = preview.reasons.map(({ text }) => text);
    return { kind: 'tried' as const, facts: factsOf({ ...record, mail }, reasons), verdict };
  }
  if (preview.kind !== 'repeated') return preview;
  const sent = await world.store.read(findSentByTrace, { trace: preview.trace });
  if (sent === undefined) throw new Error(`the message ${preview.trace} was sent before and has no record`);
  return { kind: 'repeated' as const, sent, verdict };
}

/** Excludes suppressed recipients so that the others can be submitted again; refuses on any other cause. */
function excludeSuppressed(
  sender: ApiSender,
  { recipients }: OutboundEmail,
  leftOut: readonly ExcludedRecipient[],
  stopped: StoppedSend,
): readonly ExcludedRecipient[] {
  if (stopped.kind !== 'suppressed') return refuseStopped(stopped, sender);
  const all = [...leftOut, ...stopped.recipients];
  return all.length < recipients.length ? all : refuseStopped({ ...stopped, recipients: [...all] }, sender);
}

function checkSize({ settings }: AreaContext, { data }: ComposedEmail): void {
  if (data.length <= settings.maxMessageBytes) return;
  refuse(
    'too_large',
    `The message has ${data.length} octets, over the limit of ${settings.maxMessageBytes}. Send less or smaller attachments.`,
    {
      maxBytes: settings.maxMessageBytes,
    },
  );
}

function factsOf(request: SendRequest, reasons: string[]): Omit<SentEmail, 'id'> {
  const { mail, messageId, subject, sha256, tags, metadata } = request;
  const { trace, sender, sendAt } = mail;
  const heldBecause = reasons[0] ?? null;
  const recipients = recipientsOf(request, sendAt === null && heldBecause === null ? null : { heldBecause });
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

import type { Submission } from './submission.ts';
import { formatAddress, needsUtf8 } from '../message/address.ts';
import { readFields } from '../message/header.ts';
import { requireIndex } from '../message/index-types.ts';
import { MAX_REPORT_OCTETS } from '../message/report.ts';
import { inspectMessage } from '../agents/gate/inspect-message.ts';
import { countAgentMail } from '../agents/gate/reasons.ts';
import { acceptNoticeReplies } from './notice-replies.ts';
import type { Unreachable } from './destinations.ts';
import { type OctetReader, createOctetReader } from './octet-reader.ts';
import {
  type ResolvedRecipients,
  resolveRecipients,
  createSuccessReport,
  withDsnRequests,
} from './resolve-recipients.ts';
import type { SendLimits, SubmissionContext, SubmissionDraft, Submitter } from './submission-draft.ts';
import { type SubmissionPreview, trySubmit } from './submission-commit.ts';

/** Unreachable local recipients; the message is not sent to the others either. */
export interface UnreachableRecipients {
  kind: 'unreachable';
  unreachable: readonly [Unreachable, ...Unreachable[]];
}

/** Outcome of the command that accepts a message, with anything else in the same transaction. */
export interface CommitOutcome {
  kind: string;
  /** Rows were queued for the relay. */
  queued?: boolean;
  error?: string;
}

/**
 * Submits one message: the only way out for mail of accounts, programs and agents. Everything that can be decided before the
 * commit is decided once, as values; `commit` runs one command, which checks limits, claims and the gate in its transaction.
 */
export async function submitMessage<T extends CommitOutcome>(
  context: SubmissionContext,
  draft: SubmissionDraft,
  commit: (mail: Submission) => Promise<T>,
): Promise<T | UnreachableRecipients> {
  const mail = await prepareSubmission(context, draft);
  if ('unreachable' in mail) return mail;
  const outcome = await commit(mail);
  countAgentMail(context.meter, mail.verdict, outcome);
  if (outcome.queued === true) context.queued();
  return outcome;
}

/** Returns what {@link submitMessage} would do, without changes. */
export async function previewMessage(
  context: SubmissionContext,
  draft: SubmissionDraft,
): Promise<{ kind: 'previewed'; mail: Submission; preview: SubmissionPreview } | UnreachableRecipients> {
  const prepared = await prepareSubmission(context, draft);
  if ('unreachable' in prepared) return prepared;
  const mail = { ...prepared, data: null, file: null };
  return { kind: 'previewed', mail, preview: await context.store.read(trySubmit, { mail, now: context.clock() }) };
}

/** Makes all decisions that do not need the transaction. */
async function prepareSubmission(
  context: SubmissionContext,
  draft: SubmissionDraft,
): Promise<Submission | UnreachableRecipients> {
  const { store, hold, clock, policy } = context;
  const { trace, submitter, message, sender, recipients, ret, envid, sendAt, skipsSuppressed } = draft;
  const read = createOctetReader(store, message.octets);
  const resolved = await resolveDestinations(context, draft, read);
  if ('kind' in resolved) return resolved;
  if (draft.mayReplyToNotices === true) await readNoticeReplies(context, draft, read);
  const { account, credential, login = null, agent = null } = submitter;
  const { tenant, allowance, budgets = [] } = await findLimits(context, submitter);
  const from = sender === undefined ? '' : formatAddress(sender);
  const to = recipients.map(({ address }) => formatAddress(address));
  const { size } = message.index;
  const verdict = await policy({ tenant, account, credential, login, sender: from, recipients: to, size });
  const { index, fields, sha256, octets } = message;
  const gateInput = { tenant, account, recipients: to, index, fields, sha256, read, related: draft.relatedMessages };
  const inspected = await inspectMessage(store, verdict, { ...gateInput, now: clock(), protocol: draft.protocol });
  const addresses = [...recipients.map(({ address }) => address), ...(sender === undefined ? [] : [sender])];
  const mail: Submission = {
    ...resolved,
    ...octets,
    ...inspected,
    trace,
    account,
    tenant,
    allowance,
    budgets,
    sender: from,
    smtputf8: message.smtputf8 || addresses.some(needsUtf8),
    eightBit: message.eightBit,
    ret,
    envid,
    requireTls: draft.requireTls === true,
    signAs: message.signAs,
    authors: message.authors,
    as: submitter.identity ?? ownIdentity(submitter),
    by: agent,
    skipsSuppressed,
    copyFor: draft.copyFor ?? null,
    guard: draft.guard ?? null,
    sendAt,
    hold,
  };
  // A scheduled message is reported when it is sent: its recipients may change until then.
  if (sendAt !== null || resolved.dsnRequests.length === 0) return mail;
  const header = () => read(0, requireIndex(mail.index).headerLength);
  const report = await createSuccessReport(context, { ...resolved, sender, envid, header });
  return report === undefined ? mail : { ...mail, report };
}

function ownIdentity({ account }: Submitter): Submission['as'] {
  if (account === null) throw new Error('a message without an account needs an identity');
  return { kind: 'account', account };
}

async function findLimits(context: SubmissionContext, { account, limits }: Submitter): Promise<SendLimits> {
  if (limits !== undefined) return limits;
  if (account === null) throw new Error('a message without an account needs limits');
  return context.senderOf(account);
}

/** Resolves the destinations of all recipients, unless the protocol server already did. */
async function resolveDestinations(
  context: SubmissionContext,
  draft: SubmissionDraft,
  read: OctetReader,
): Promise<Omit<ResolvedRecipients, 'unreachable'> | UnreachableRecipients> {
  const { destinations, recipients, message } = draft;
  if (destinations !== undefined) return withDsnRequests(destinations, recipients);
  const index = requireIndex(message.index);
  const fields = message.fields ?? readFields((await read(0, index.headerLength)).toString('latin1'));
  const { unreachable, ...resolved } = await resolveRecipients(context, { ...draft, ...message, index, fields });
  const [first, ...more] = unreachable;
  return first === undefined ? resolved : { kind: 'unreachable', unreachable: [first, ...more] };
}

/** Processes a reply to a notice at once, even if the message is sent later. */
async function readNoticeReplies(
  { noticeReplies }: SubmissionContext,
  { trace, sender, recipients, message: { index } }: SubmissionDraft,
  read: OctetReader,
): Promise<void> {
  const to = recipients.map(({ address }) => address);
  if (noticeReplies === undefined || to.every((address) => noticeReplies.classify(address) === undefined)) return;
  const octets = await read(0, Math.min(index.size, MAX_REPORT_OCTETS));
  await acceptNoticeReplies(noticeReplies, to, {
    trace,
    nullSender: sender === undefined,
    index: requireIndex(index),
    octets,
  });
}

import type { OutgoingMessage } from './types.ts';
import type { DsnRequest } from './types.ts';
import { formatAddress } from '../message/address.ts';
import type { Field } from '../message/header.ts';
import type { MessageIndex } from '../message/index-types.ts';
import { type Destinations, findDestinations, type Unreachable } from './destinations.ts';
import type { DraftRecipient, SubmissionContext, SubmissionDraft } from './submission-draft.ts';
import { findReachedRecipients, createLocalReport } from './success-report.ts';

/** Destinations of all recipients; `dsnRequests` are the DSN parameters of those on this box. */
export interface ResolvedRecipients extends Destinations {
  dsnRequests: DsnRequest[];
  unreachable: Unreachable[];
}

/** An outgoing message, submitted now or released from the schedule. */
export interface RecipientQuery extends Pick<SubmissionDraft, 'sender' | 'recipients' | 'mayReplyToNotices'> {
  fields: readonly Field[];
  index: Pick<MessageIndex, 'secretLink'>;
  /** Domains of From. */
  signAs: readonly string[];
  /** A full mailbox still takes mail that was accepted before. */
  late?: boolean;
}

type Resolver = Pick<SubmissionContext, 'store' | 'hostname' | 'clock' | 'forwardKey'> & {
  noticeReplies?: Pick<NonNullable<SubmissionContext['noticeReplies']>, 'classify'>;
};

/** Resolves the recipients of a message. */
export async function resolveRecipients(
  { store, hostname, clock, forwardKey: key, noticeReplies }: Resolver,
  { sender, recipients, fields, index, signAs, mayReplyToNotices = false, late = false }: RecipientQuery,
): Promise<ResolvedRecipients> {
  const mail = { sender, fields, key, now: clock(), hostname, authors: signAs, secretLink: index.secretLink };
  const { unreachable, ...found } = await findDestinations(
    store,
    recipients.map(({ address }) => address),
    mayReplyToNotices ? { ...mail, noticeReplies } : mail,
    { late },
  );
  return { ...withDsnRequests(found, recipients), unreachable };
}

/** Adds the DSN parameters of each recipient. */
export function withDsnRequests(
  found: Destinations,
  recipients: readonly DraftRecipient[],
): Omit<ResolvedRecipients, 'unreachable'> {
  const wanted = new Map(recipients.map((one) => [formatAddress(one.address), one]));
  const withWish = <T extends { recipient: string }>(row: T): T & DsnRequest => {
    const { notify = '', orcpt = '' } = wanted.get(row.recipient) ?? {};
    return { ...row, notify, orcpt };
  };
  const elsewhere = found.elsewhere.map(withWish);
  return { ...found, elsewhere, dsnRequests: found.local.map((recipient) => withWish({ recipient })) };
}

/** A message that is delivered to local recipients in this commit. */
interface LocallyDelivered
  extends Pick<SubmissionDraft, 'sender' | 'envid'>, Pick<ResolvedRecipients, 'dsnRequests' | 'local'> {
  header: () => Promise<Uint8Array>;
}

/**
 * Creates the success report about local recipients if the sender requested one. Remote recipients are reported after their
 * delivery. RFC 3461 5.2.6.
 */
export async function createSuccessReport(
  {
    store,
    hostname,
    clock,
    hold,
    traceId,
  }: Pick<SubmissionContext, 'store' | 'hostname' | 'clock' | 'hold' | 'traceId'>,
  { sender: to, envid, dsnRequests, local, header }: LocallyDelivered,
): Promise<OutgoingMessage | undefined> {
  const reached = to === undefined ? [] : await findReachedRecipients(store, dsnRequests, local);
  if (to === undefined || reached.length === 0) return undefined;
  const report = { to, envid, header: await header(), recipients: reached, hostname };
  return createLocalReport(store, { ...report, now: clock(), trace: traceId(), hold });
}

import type { MessageOctets } from '../delivery/octet-reader.ts';
import type { Login } from '../login/types.ts';
import type { Address } from '../message/address.ts';
import type { Field } from '../message/header.ts';
import type { MessageFacts, MessageIndex } from '../message/index-types.ts';
import { MAX_REPORT_OCTETS } from '../message/report.ts';
import type { ReceiverContext } from './context.ts';
import type { EnvelopeRecipient, MessageEnvelope, RecipientRoute, SmtpRefusal } from './needs.ts';

/** A message that was read to its end and is not accepted yet. */
export interface ReceivedMessage<Index extends MessageFacts = MessageIndex> {
  envelope: MessageEnvelope;
  index: Index;
  blob: MessageOctets;
  /** Header fields; undefined where no copy can be forwarded. */
  fields: readonly Field[] | undefined;
}

/** A message from a logged-in client. Only facts are indexed where no recipient is local. */
export interface ReceivedSubmission extends ReceivedMessage<MessageFacts | MessageIndex> {
  login: Login;
  /** Authors in From, Sender and their Resent forms. */
  authors: readonly Address[];
  /** Domains in From, whose keys sign the message. */
  signAs: readonly string[];
}

/** The decision on a message. */
export interface ReceiveResult {
  /** Undefined: accepted. */
  refusal: SmtpRefusal | undefined;
  /** True when a row names the blob, or may name it: its file must stay. */
  stored: boolean;
}

export const ACCEPTED: ReceiveResult = { refusal: undefined, stored: true };

/** Refuses a message of which no row exists. */
export function rejected(refusal: SmtpRefusal): ReceiveResult {
  return { refusal, stored: false };
}

export type LocalRecipient = EnvelopeRecipient & { route: RecipientRoute & { kind: 'here' } };

export function isLocal(recipient: EnvelopeRecipient): recipient is LocalRecipient {
  return recipient.route.kind === 'here';
}

/** True if copies of mail for this recipient are forwarded. */
export function isForwarded(route: RecipientRoute): boolean {
  return route.kind === 'forward' || (route.kind === 'here' && route.forwards === true);
}

/** Reads the beginning of a message, as far as reports and replies are parsed. */
export async function readBeginning({ store }: ReceiverContext, { data, file }: MessageOctets): Promise<Buffer> {
  if (file !== null) return store.files.read(file.file, 0, Math.min(file.size, MAX_REPORT_OCTETS));
  return Buffer.from(data ?? []).subarray(0, MAX_REPORT_OCTETS);
}

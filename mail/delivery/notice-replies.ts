import type { Address } from '../message/address.ts';
import type { MessageIndex } from '../message/index-types.ts';

/** Reply addresses of single notices of the box. They belong to no mailbox and no catch-all. */
export interface NoticeReplies {
  /** Classifies an address by its form alone. `over`: an expired reply address. */
  classify(to: Address): 'answer' | 'over' | undefined;
  /** Processes a reply. Resolves after the commit: the message is acknowledged only then. Idempotent. */
  accept(answer: NoticeReply): Promise<void>;
}

/** A message to a reply address. */
export interface NoticeReply {
  to: Address;
  /** Trace id of the message. */
  trace: string;
  /** It has the null reverse-path: an automatic message. */
  nullSender: boolean;
  index: MessageIndex;
  /** First octets. */
  octets: Buffer;
}

/** Notices that one message may reply to. */
const MAX_REPLIES = 5;

/** Passes a message to the reply addresses among its recipients. */
export async function acceptNoticeReplies(
  replies: NoticeReplies,
  recipients: readonly Address[],
  answer: Omit<NoticeReply, 'to'>,
): Promise<void> {
  const addresses = recipients.filter((to) => replies.classify(to) === 'answer').slice(0, MAX_REPLIES);
  for (const to of addresses) await replies.accept({ ...answer, to });
}

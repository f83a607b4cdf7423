import type { Address } from '../message/address.ts';
import type { MessageIndex } from '../message/index-types.ts';

/** Addresses that the box made for answers to single letters of its own: no mailbox has them, and no catch-all. */
export interface AnswerDesk {
  /** By nothing but the address. `over`: it was one, for a while. */
  meant(to: Address): 'answer' | 'over' | undefined;
  /** Resolves when what follows from it is on disk: only then is the message acknowledged. The same again changes nothing. */
  take(answer: Answer): Promise<void>;
}

/** A message to one of these addresses. */
export interface Answer {
  to: Address;
  /** Of the message, as it is logged. */
  trace: string;
  /** It came with the null reverse-path: nobody wrote it. */
  nullSender: boolean;
  index: MessageIndex;
  /** How it begins. */
  octets: Buffer;
}

/** Letters that one message may answer; more are nobody's meaning. */
const MOST_ANSWERED = 5;

/** Takes a message for those of its recipients that are such addresses. */
export async function takeAnswers(
  desk: AnswerDesk,
  recipients: readonly Address[],
  answer: Omit<Answer, 'to'>,
): Promise<void> {
  const meant = recipients.filter((to) => desk.meant(to) === 'answer').slice(0, MOST_ANSWERED);
  for (const to of meant) await desk.take({ ...answer, to });
}

import { reply } from '../../smtp/reply.ts';
import type { Answer } from '../answer.ts';
import type { Conversation, Transaction } from '../conversation.ts';

/** Why this message cannot begin now, or undefined when it can. Shared by DATA and the first BDAT. */
export function unfit(session: Conversation, transaction: Transaction): Answer | undefined {
  // RFC 2920 3.1: a pipelined DATA comes also when every RCPT before it was refused.
  if (transaction.recipients.length === 0) return reply(554, '5.5.1', 'No recipient was accepted');
  const refusal = session.settled.intake.ready();
  return refusal === undefined ? undefined : reply(refusal.code, refusal.enhanced, refusal.text);
}

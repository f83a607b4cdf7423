import { reply } from '../../smtp/reply.ts';
import type { SmtpResponse } from '../response.ts';
import type { MailTransaction, SmtpSessionState } from '../session-state.ts';

/** Refuses DATA and the first BDAT while no message can be received. */
export function refuseData(session: SmtpSessionState, transaction: MailTransaction): SmtpResponse | undefined {
  // RFC 2920 3.1: a pipelined DATA comes also when every RCPT before it was refused.
  if (transaction.recipients.length === 0) return reply(554, '5.5.1', 'No recipient was accepted');
  const refusal = session.options.backend.refuseNow();
  return refusal === undefined ? undefined : reply(refusal.code, refusal.enhanced, refusal.text);
}

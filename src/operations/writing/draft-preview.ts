import { z } from 'zod';
import { traceId } from '../../../mail/receiver/trace-id.ts';
import type { EmailRow } from '../../../mail/store/email-rows.ts';
import { refuseWithheld } from '../../reading/withheld.ts';
import { dispatch } from '../../sending/dispatch.ts';
import { draftAsSent } from '../../sending/draft-message.ts';
import { ownId } from '../../../mail/message/msg-id.ts';
import { answeredEmail } from '../../../mail/store/answerable.ts';
import type { Sender } from '../../sending/key-auth.ts';
import { MOST_RECIPIENTS } from '../../sending/email-request.ts';
import type { Outbound } from '../../sending/outbound.ts';
import { SendResult } from '../../sending/send-answer.ts';
import { checkAuthor } from '../../sending/send-email.ts';
import type { Call } from '../operation.ts';
import { refuse, Refused } from '../refusal.ts';
import { FOR_AGENTS } from './fields.ts';

/** What would become of a draft if it were sent now. */
export const PolicyPreview = z.object({
  wouldRequireApproval: z.boolean(),
  error: z.string().nullable().describe('why send_draft would refuse it'),
  reasons: z.array(z.string()),
  recipients: SendResult.shape.recipients,
});

/** How a draft is sent. */
export interface DraftSending {
  sendAt: number | null;
  dryRun: boolean;
  failIfHeld: boolean;
}

/** The stored octets of a draft, as they leave. */
export async function draftOutbound(
  call: Call,
  sender: Sender,
  row: EmailRow,
  { sendAt, dryRun, failIfHeld }: DraftSending,
): Promise<Outbound> {
  const { store, settings, clock, agents } = call;
  if (row.veiledFrom !== null) refuseWithheld('secret_link');
  const length = row.size - row.trace.length;
  if (length > settings.maxMessageBytes) {
    refuse('too_large', `The draft has ${length} octets: more than this server sends.`, {
      maxBytes: settings.maxMessageBytes,
    });
  }
  // What is sent is handed out, read or not: a person may have begun it.
  const { token } = call.caller;
  if (token !== undefined && sender.account !== null) await agents.handedToToken(token.id, sender.account, [row.id]);
  const octets = await store.blob(row.blob, 0, length);
  const { message, from, recipients, inReplyTo } = draftAsSent(octets, clock(), store.secretLinks);
  if (recipients.length === 0 || recipients.length > MOST_RECIPIENTS) {
    const why = recipients.length === 0 ? 'has no recipients yet' : `has more than ${MOST_RECIPIENTS} recipients`;
    refuse('invalid_arguments', `The draft ${why}.`, { issues: [{ path: 'to', message: why }] });
  }
  await checkAuthor(call, sender, from);
  const { account } = sender;
  const answers =
    inReplyTo === undefined || account === null
      ? undefined
      : await store.read(answeredEmail, { account, ids: [ownId(inReplyTo)], shown: true });
  return {
    ...FOR_AGENTS,
    trace: traceId(),
    from,
    recipients: recipients.map((address) => ({ address, source: null })),
    composed: message,
    sendAt,
    dryRun,
    failIfHeld,
    tags: {},
    threadId: null,
    answers: answers ?? null,
    forwards: null,
    // Whose files they are is not written in a draft.
    handsOn: row.hasAttachment,
    draft: row.id,
  };
}

/** What would become of it now. Nothing is sent, and nothing refused. */
export async function previewOf(call: Call, sender: Sender, row: EmailRow): Promise<z.output<typeof PolicyPreview>> {
  const how = { sendAt: null, dryRun: true, failIfHeld: false };
  try {
    const mail = await draftOutbound(call, sender, row, how);
    const { reasons, recipients, held } = await tried(call, sender, mail);
    return { wouldRequireApproval: held, error: null, reasons, recipients };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { error: code, message } = error.refusal;
    return { wouldRequireApproval: false, error: code, reasons: [message], recipients: [] };
  }
}

async function tried(
  call: Call,
  sender: Sender,
  mail: Outbound,
): Promise<Pick<SendResult, 'reasons' | 'recipients'> & { held: boolean }> {
  const { reasons, recipients } = await dispatch(call, sender, null, mail);
  return { reasons, recipients, held: reasons.length > 0 };
}

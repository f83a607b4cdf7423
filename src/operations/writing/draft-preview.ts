import { z } from 'zod';
import { traceId } from '../../../mail/receiver/trace-id.ts';
import type { EmailRow } from '../../../mail/store/message/email-rows.ts';
import { recordRead } from '../../reading/read-record.ts';
import { refuseQuarantined } from '../../reading/quarantine.ts';
import { dispatch } from '../../sending/dispatch.ts';
import { draftAsSent } from '../../sending/draft-message.ts';
import { ownId } from '../../../mail/message/msg-id.ts';
import { findRepliedEmail } from '../../../mail/store/message/reply-target.ts';
import type { ApiSender } from '../../sending/key-auth.ts';
import { MAX_RECIPIENTS } from '../../sending/email-request.ts';
import type { OutboundEmail } from '../../sending/outbound.ts';
import { SendResult } from '../../sending/send-result.ts';
import { checkAuthor } from '../../sending/send-email.ts';
import type { Call } from '../../core/operation.ts';
import { refuse, RefusedError } from '../../core/refusal.ts';
import { FOR_AGENTS } from './fields.ts';

/** Result of sending a draft now. */
export const PolicyPreview = z.object({
  wouldRequireApproval: z.boolean(),
  error: z.string().nullable().describe('why send_draft would refuse it'),
  reasons: z.array(z.string()),
  recipients: SendResult.shape.recipients,
});

/** Options for sending a draft. */
export interface DraftSending {
  sendAt: number | null;
  dryRun: boolean;
  failIfHeld: boolean;
}

/** Returns the stored bytes of a draft as they are sent. */
export async function draftOutbound(
  call: Call,
  sender: ApiSender,
  row: EmailRow,
  { sendAt, dryRun, failIfHeld }: DraftSending,
): Promise<OutboundEmail> {
  const { store, settings, clock } = call;
  if (row.redactedFrom !== null) refuseQuarantined('secret_link');
  const length = row.size - row.trace.length;
  if (length > settings.maxMessageBytes) {
    refuse('too_large', `The draft has ${length} bytes: more than this server sends.`, {
      maxBytes: settings.maxMessageBytes,
    });
  }
  // A person may have written it, so the agent may not have read it.
  if (sender.account !== null) await recordRead(call, [{ row }], 'send_draft', 'sent');
  const octets = await store.blob(row.blob, 0, length);
  const { message, from, recipients, inReplyTo } = await draftAsSent(call, octets, clock());
  if (recipients.length === 0 || recipients.length > MAX_RECIPIENTS) {
    const why = recipients.length === 0 ? 'has no recipients yet' : `has more than ${MAX_RECIPIENTS} recipients`;
    refuse('invalid_arguments', `The draft ${why}.`, { issues: [{ path: 'to', message: why }] });
  }
  await checkAuthor(call, sender, from);
  const { account } = sender;
  const answers =
    inReplyTo === undefined || account === null
      ? undefined
      : await store.read(findRepliedEmail, { account, ids: [ownId(inReplyTo)], shown: true });
  return {
    ...FOR_AGENTS,
    trace: traceId(),
    from,
    recipients: recipients.map((address) => ({ address })),
    composed: message,
    sendAt,
    dryRun,
    failIfHeld,
    tags: {},
    threadId: null,
    answers: answers ?? null,
    forwards: null,
    // A draft does not record where its attachments came from.
    findQuotedContent: row.hasAttachment,
    draft: row.id,
  };
}

/** Checks what sending the draft now would do. Sends and refuses nothing. */
export async function previewDraft(
  call: Call,
  sender: ApiSender,
  row: EmailRow,
): Promise<z.output<typeof PolicyPreview>> {
  const how = { sendAt: null, dryRun: true, failIfHeld: false };
  try {
    const mail = await draftOutbound(call, sender, row, how);
    const { reasons, recipients, held } = await tried(call, sender, mail);
    return { wouldRequireApproval: held, error: null, reasons, recipients };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    const { error: code, message } = error.refusal;
    return { wouldRequireApproval: false, error: code, reasons: [message], recipients: [] };
  }
}

async function tried(
  call: Call,
  sender: ApiSender,
  mail: OutboundEmail,
): Promise<Pick<SendResult, 'reasons' | 'recipients'> & { held: boolean }> {
  const { reasons, recipients } = await dispatch(call, sender, null, mail);
  return { reasons, recipients, held: reasons.length > 0 };
}

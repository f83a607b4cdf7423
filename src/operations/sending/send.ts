import { z } from 'zod';
import { parseAddress } from '../../../mail/message/address.ts';
import { rowId } from '../../ids.ts';
import { ownersOf } from '../../sending/allowance.ts';
import { EmailRequest } from '../../sending/email-request.ts';
import { SendResult } from '../../sending/send-answer.ts';
import { sendFor } from '../../sending/send-email.ts';
import { cancelSent } from '../../sending/sent-commands.ts';
import { findSent } from '../../sending/sent-queries.ts';
import { type Call, operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id, Line } from '../schemas.ts';
import { EMAIL_TOOL_FIELDS, filesAsked, FOR_AGENTS } from '../writing/fields.ts';
import { asSender, audited } from './as-sender.ts';

export const sendOneEmail = operation({
  name: 'send_email',
  title: 'Send an email',
  toolset: 'mail',
  core: true,
  reach: 'mailbox',
  action: 'send',
  description:
    'Sends an email from an address of this organization; there is no undo. Called again within ten minutes it sends nothing and answers duplicateOf, unless allowDuplicate. dryRun only says what would happen.',
  hints: { destructive: true, openWorld: true },
  input: z.strictObject(EMAIL_TOOL_FIELDS),
  output: SendResult,
  run: (call, input) => sendAs(call, { ...input, ...FOR_AGENTS, attachments: filesAsked(input.attachments) }),
});

/** Sends with its audit row in the same commit. */
async function sendAs(call: Call, request: EmailRequest): Promise<SendResult> {
  return sendFor(call, await asSender(call, request.from.address), request, audited(call));
}

const TEST_TEXT =
  'This is a test from your mail server: sending from this address works.\n\nThe header shows how it came: DKIM-Signature, and what the receiver made of it in Authentication-Results.\n';

export const sendTestEmail = operation({
  name: 'send_test_email',
  title: 'Send a test email',
  toolset: 'email',
  reach: 'mailbox',
  action: 'send',
  description:
    'Sends a short test from an address of this organization, by default to its owner. get_queue_item and the answer say how it went.',
  hints: { openWorld: true },
  input: z.strictObject({ from: Line(3, 500), to: Line(3, 500).optional() }),
  output: SendResult,
  run: (call, mail) => sendTest(call, { ...mail, allowDuplicate: true }),
});

/** Sends the test text, to the owner where nobody is named; the same within ten minutes once, unless `allowDuplicate`. */
export async function sendTest(
  call: Call,
  { from, to, allowDuplicate }: { from: string; to?: string | undefined; allowDuplicate: boolean },
): Promise<SendResult> {
  const [owner] = to === undefined ? await call.store.read(ownersOf, { organization: call.tenant }) : [to];
  if (owner === undefined) {
    const issues = [{ path: 'to', message: 'missing' }];
    return refuse('invalid_arguments', 'to: this organization has no owner to write to: say to whom.', { issues });
  }
  const mail = { from, to: owner, subject: 'A test from your mail server', text: TEST_TEXT, allowDuplicate };
  const read = EmailRequest.safeParse(mail);
  if (read.success) return sendAs(call, read.data);
  const issues = read.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  return refuse('invalid_arguments', `${issues[0]?.path ?? ''}: ${issues[0]?.message ?? ''}.`, { issues });
}

export const cancelScheduledEmail = operation({
  name: 'cancel_scheduled_email',
  title: 'Cancel a scheduled email',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'send',
  description:
    'Takes back an email that waits for its time or for a person; nobody gets it. What has left cannot be taken back.',
  hints: { idempotent: true },
  input: z.strictObject({ messageId: Id('sent') }),
  output: z.object({ cancelled: z.literal(true) }),
  rest: { method: 'DELETE', path: '/api/email/scheduled/:messageId' },
  async run(call, { messageId }) {
    const input = { organization: call.tenant, id: rowId('sent', messageId) ?? 0 };
    const sent = await call.store.read(findSent, input);
    const from = sent && parseAddress(sent.sender);
    if (from === undefined) return notFound('email');
    await asSender(call, from);
    if (sent?.cancelledAt !== null) return { cancelled: true as const };
    const done = await call.change(cancelSent, input, messageId);
    if (done.kind === 'missing') return notFound('email');
    if (done.kind === 'gone') refuse('conflict', 'The email has left already.');
    return { cancelled: true as const };
  },
});

import { z } from 'zod';
import { parseAddress } from '../../../mail/message/address.ts';
import { rowId } from '../../core/ids.ts';
import { ownerAddressKeys } from '../../sending/allowance.ts';
import { EmailRequest } from '../../sending/email-request.ts';
import { SendResult } from '../../sending/send-result.ts';
import { sendRequested } from '../../sending/send-email.ts';
import { cancelSent } from '../../sending/sent-commands.ts';
import { findSent, type SentEmail } from '../../sending/sent-queries.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, Line } from '../../core/schemas.ts';
import { EMAIL_TOOL_FIELDS, requestedFiles, FOR_AGENTS } from '../writing/fields.ts';
import { unlessOwnMail } from '../queue/own-mail.ts';
import { asSender, audited } from './as-sender.ts';

export const sendOneEmail = operation({
  name: 'send_email',
  title: 'Send an email',
  toolset: 'mail',
  core: true,
  reach: 'mailbox',
  action: 'send',
  description:
    'Sends an email from an address of this organization; no undo. A repeated call within ten minutes sends nothing and returns duplicateOf, unless allowDuplicate. dryRun only reports what would happen.',
  hints: { destructive: true, openWorld: true },
  input: z.strictObject(EMAIL_TOOL_FIELDS),
  output: SendResult,
  run: (call, input) => sendAs(call, { ...input, ...FOR_AGENTS, attachments: requestedFiles(input.attachments) }),
});

/** Sends with its audit row in the same commit. */
async function sendAs(call: Call, request: EmailRequest): Promise<SendResult> {
  return sendRequested(call, await asSender(call, request.from.address), request, audited(call));
}

const TEST_TEXT =
  'This is a test from your mail server: sending from this address works.\n\nThe header shows how it came: DKIM-Signature, and what the receiver made of it in Authentication-Results.\n';

export const sendTestEmail = operation({
  name: 'send_test_email',
  title: 'Send a test email',
  toolset: 'email',
  reach: 'mailbox',
  action: 'send',
  description: 'Sends a short test message from an address of this organization. get_queue_item shows the result.',
  hints: { openWorld: true },
  input: z.strictObject({
    from: Line(3, 500).describe('Own address'),
    to: Line(3, 500).describe('Default: the owner').optional(),
  }),
  output: SendResult,
  run: (call, mail) => sendTest(call, { ...mail, allowDuplicate: true }),
});

/**
 * Sends the test message, by default to the owner; repeated within ten minutes it is sent once, unless
 * `allowDuplicate`.
 */
export async function sendTest(
  call: Call,
  { from, to, allowDuplicate }: { from: string; to?: string | undefined; allowDuplicate: boolean },
): Promise<SendResult> {
  const [owner] = to === undefined ? await call.store.read(ownerAddressKeys, { organization: call.tenant }) : [to];
  if (owner === undefined) {
    const issues = [{ path: 'to', message: 'missing' }];
    return refuse('invalid_arguments', 'to is missing: this organization has no owner to send to.', { issues });
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
  description: 'Cancels an email that is scheduled or awaits approval; nobody gets it. Sent mail cannot be cancelled.',
  hints: { idempotent: true },
  rule: async (call, { messageId }) => unlessOwnMail(call, await sentOf(call, messageId)),
  input: z.strictObject({ messageId: Id('sent') }),
  output: z.object({ cancelled: z.literal(true) }),
  rest: { method: 'DELETE', path: '/api/email/scheduled/:messageId' },
  async run(call, { messageId }) {
    const { id, cancelledAt } = await sentOf(call, messageId);
    if (cancelledAt !== null) return { cancelled: true as const };
    const done = await call.change(cancelSent, { organization: call.tenant, id }, messageId);
    if (done.kind === 'missing') return notFound('email');
    if (done.kind === 'gone') refuse('conflict', 'The email was already sent.');
    return { cancelled: true as const };
  },
});

/** Finds a message of a mailbox that the caller may send from. */
async function sentOf(call: Call, messageId: string): Promise<SentEmail & { account: number | null }> {
  const sent = await call.store.read(findSent, { organization: call.tenant, id: rowId('sent', messageId) ?? 0 });
  const from = sent && parseAddress(sent.sender);
  if (sent === undefined || from === undefined) return notFound('email');
  const { account } = await asSender(call, from);
  return { ...sent, account };
}

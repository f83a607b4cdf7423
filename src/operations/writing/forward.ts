import { z } from 'zod';
import type { EmailRequest } from '../../sending/email-request.ts';
import { duplicateGuard } from '../../sending/duplicate-guard.ts';
import type { ApiSender } from '../../sending/key-auth.ts';
import type { OutboundEmail } from '../../sending/outbound.ts';
import { forwardedBody, prefixed } from '../../sending/quote.ts';
import { SendResult } from '../../sending/send-result.ts';
import { composeOutbound, sendOnce } from '../../sending/send-email.ts';
import { type Call, operation } from '../../core/operation.ts';
import { InMailbox, MessageId, namedMessage } from '../reading/mailbox-arguments.ts';
import { refuseQuarantined } from '../../reading/quarantine.ts';
import { refuse } from '../../core/refusal.ts';
import type { Mailbox } from '../scope.ts';
import { asMailbox, audited } from '../sending/as-sender.ts';
import { AgentMailboxes, FOR_AGENTS, MoreRecipients, SENDING_FIELDS } from './fields.ts';
import { mustRead, namedOriginal } from './original.ts';
import { addressOf } from './reply.ts';

const { attachments: _files, ...HOW } = SENDING_FIELDS;

const Forward = z.strictObject({
  ...InMailbox,
  messageId: MessageId,
  to: AgentMailboxes.describe('Recipients'),
  ...MoreRecipients,
  note: z.string().max(100_000).default('').describe('Text above it'),
  includeAttachments: z.boolean().default(true).describe('With its attachments'),
  ...HOW,
});
type Forward = z.output<typeof Forward>;

export const forwardEmail = operation({
  name: 'forward_email',
  title: 'Forward an email',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'send',
  description:
    'Forwards a message below your note, with its original text, HTML and attachments. Repeated within ten minutes it sends nothing. No undo. To attach the whole message, use send_email with its id as attachmentId.',
  hints: { destructive: true, openWorld: true },
  input: Forward,
  output: SendResult,
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailbox/messages/:messageId/forward' },
  async run(call, input) {
    mustRead(call);
    const { mailbox, messageId, ...request } = input;
    const { box, email } = await namedMessage(call, { mailbox, messageId });
    const sender = asMailbox(call, box);
    const guard = duplicateGuard(sender, request, { ...request, forward: email });
    const place = { from: addressOf(box), threadId: null };
    return sendOnce(call, sender, { guard, place, commit: audited(call) }, () =>
      passOn(call, { box, sender, email }, input),
    );
  },
});

async function passOn(
  call: Call,
  { box, sender, email }: { box: Mailbox; sender: ApiSender; email: number },
  { to, cc, bcc, note, includeAttachments, ...how }: Forward,
): Promise<OutboundEmail> {
  const { original, hidden } = await namedOriginal(call, box, email);
  if (hidden === 'secret_link') refuseQuarantined(hidden);
  if (hidden !== undefined || original.cut) {
    refuse(
      hidden ?? 'too_large',
      hidden !== undefined
        ? 'The message holds much more text than a person sees: a person can forward it from a mail program.'
        : 'The text of the message is too long to be quoted: attach the whole message instead (send_email with attachmentId).',
    );
  }
  const address = addressOf(box);
  const request: EmailRequest = {
    ...FOR_AGENTS,
    ...how,
    from: box.displayName === null ? { address } : { address, name: box.displayName },
    to,
    cc,
    bcc,
    replyTo: [],
    subject: prefixed('Fwd', original.subject),
    ...forwardedBody(note, original),
    headers: {},
    tags: {},
    attachments: includeAttachments ? original.files : [],
  };
  // RFC 5322 3.6.4: no In-Reply-To, but References.
  return composeOutbound(call, sender, request, {
    sources: new Map(),
    reply: undefined,
    answers: null,
    forwards: email,
  });
}

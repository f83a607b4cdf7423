import { z } from 'zod';
import type { EmailRequest } from '../../sending/email-request.ts';
import { guardOf } from '../../sending/guard.ts';
import type { Sender } from '../../sending/key-auth.ts';
import type { Outbound } from '../../sending/outbound.ts';
import { passedOn, prefixed } from '../../sending/quote.ts';
import { SendResult } from '../../sending/send-answer.ts';
import { outboundOf, sendOnce } from '../../sending/send-email.ts';
import { type Call, operation } from '../operation.ts';
import { InMailbox, MessageId, namedMessage } from '../reading/which.ts';
import { refuseWithheld } from '../../reading/withheld.ts';
import { refuse } from '../refusal.ts';
import type { Mailbox } from '../scope.ts';
import { asMailbox, audited } from '../sending/as-sender.ts';
import { AgentMailboxes, FOR_AGENTS, MoreRecipients, SENDING_FIELDS } from './fields.ts';
import { mustRead, namedOriginal } from './original.ts';
import { addressOf } from './reply.ts';

const { attachments: _files, ...HOW } = SENDING_FIELDS;

const Forward = z.strictObject({
  ...InMailbox,
  messageId: MessageId,
  to: AgentMailboxes,
  ...MoreRecipients,
  note: z.string().max(100_000).default(''),
  includeAttachments: z.boolean().default(true),
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
    'Passes a message on below your note, as mail programs do: its text and HTML as they came, and its attachments. Repeated within ten minutes it sends nothing. No undo. To send it whole as a file, use send_email with its id as attachmentId.',
  hints: { destructive: true, openWorld: true },
  input: Forward,
  output: SendResult,
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailbox/messages/:messageId/forward' },
  async run(call, input) {
    mustRead(call);
    const { mailbox, messageId, ...asked } = input;
    const { box, email } = await namedMessage(call, { mailbox, messageId });
    const sender = asMailbox(call, box);
    const guard = guardOf(sender, asked, { ...asked, forward: email });
    const place = { from: addressOf(box), threadId: null };
    return sendOnce(call, sender, { guard, place, commit: audited(call) }, () =>
      passOn(call, { box, sender, email }, input),
    );
  },
});

async function passOn(
  call: Call,
  { box, sender, email }: { box: Mailbox; sender: Sender; email: number },
  { to, cc, bcc, note, includeAttachments, ...how }: Forward,
): Promise<Outbound> {
  const { original, hidden } = await namedOriginal(call, box, email);
  if (hidden === 'secret_link') refuseWithheld(hidden);
  if (hidden !== undefined || original.cut) {
    refuse(
      hidden ?? 'too_large',
      hidden !== undefined
        ? 'The message holds much more than a person sees of it: a person can forward it from a mail program.'
        : 'The text of the message is too long to be passed on in another one: attach the message whole instead.',
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
    ...passedOn(note, original),
    headers: {},
    tags: {},
    attachments: includeAttachments ? original.files : [],
  };
  // RFC 5322 3.6.4: it answers nothing, and says what it goes back to.
  return outboundOf(call, sender, request, { sources: new Map(), reply: undefined, answers: null, forwards: email });
}

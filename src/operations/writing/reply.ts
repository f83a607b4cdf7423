import { z } from 'zod';
import { type Address, addressKey, parseAddress } from '../../../mail/message/address.ts';
import type { NamedAddress } from '../../../mail/message/compose.ts';
import { EMAIL_FIELDS, type EmailRequest } from '../../sending/email-request.ts';
import { guardOf } from '../../sending/guard.ts';
import type { Sender } from '../../sending/key-auth.ts';
import type { Outbound } from '../../sending/outbound.ts';
import { prefixed, quoted } from '../../sending/quote.ts';
import { ownRecipient, replyRecipients } from '../../sending/reply-recipients.ts';
import { SendResult } from '../../sending/send-answer.ts';
import { outboundOf, sendOnce } from '../../sending/send-email.ts';
import { type Call, operation } from '../operation.ts';
import { InMailbox, MessageId, namedMessage } from '../reading/which.ts';
import { refuse } from '../refusal.ts';
import type { Mailbox } from '../scope.ts';
import { asMailbox, audited } from '../sending/as-sender.ts';
import { filesAsked, FOR_AGENTS, MoreRecipients, SENDING_FIELDS } from './fields.ts';
import { leavesOut, mustRead, namedOriginal, owns } from './original.ts';

const Reply = z.strictObject({
  ...InMailbox,
  messageId: MessageId,
  text: EMAIL_FIELDS.text,
  html: EMAIL_FIELDS.html,
  replyAll: z.boolean().default(false),
  ...MoreRecipients,
  quote: z.boolean().default(true),
  ...SENDING_FIELDS,
});
type Reply = z.output<typeof Reply>;

export const replyToEmail = operation({
  name: 'reply_to_email',
  title: 'Reply to an email',
  toolset: 'mail',
  core: true,
  reach: 'thread',
  action: 'send',
  description:
    'Answers a message: recipients, subject and threading come from it, its text is quoted below. Each recipient says its source; a Reply-To that is not From is named in reasons. Repeated within ten minutes it sends nothing. No undo.',
  hints: { destructive: true, openWorld: true },
  input: Reply,
  output: SendResult,
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailbox/messages/:messageId/reply' },
  async run(call, input) {
    mustRead(call);
    const { mailbox, messageId, ...asked } = input;
    const { box, email } = await namedMessage(call, { mailbox, messageId });
    const sender = asMailbox(call, box);
    const guard = guardOf(sender, asked, { ...asked, reply: email });
    const place = { from: addressOf(box), threadId: null };
    return sendOnce(call, sender, { guard, place, commit: audited(call) }, () =>
      answerTo(call, { box, sender, email }, input),
    );
  },
});

async function answerTo(
  call: Call,
  { box, sender, email }: { box: Mailbox; sender: Sender; email: number },
  { text, html, replyAll, cc, bcc, quote, attachments, ...how }: Reply,
): Promise<Outbound> {
  const { original, hidden } = await namedOriginal(call, box, email);
  const isOwn = owns(call, box);
  const { to, cc: others, sources } = await replyRecipients(original.fields, leavesOut(call, box), replyAll);
  if (to.length + others.length === 0) {
    refuse('recipient_blocked', 'The message names nobody to whom an answer could go: use send_email.', {
      recipients: [],
    });
  }
  const isNew = ({ address }: NamedAddress): boolean => !sources.has(addressKey(address));
  const from = (await ownRecipient(original.fields, isOwn)) ?? addressOf(box);
  const request: EmailRequest = {
    ...FOR_AGENTS,
    ...how,
    from: box.displayName === null ? { address: from } : { address: from, name: box.displayName },
    to,
    cc: [...others, ...cc.filter(isNew)],
    bcc: bcc.filter(isNew),
    replyTo: [],
    subject: prefixed('Re', original.subject),
    // What a person does not see of a message is not quoted to anybody.
    ...(quote && hidden === undefined ? quoted({ text, html }, original) : { text, html }),
    headers: {},
    tags: {},
    attachments: filesAsked(attachments),
  };
  return outboundOf(call, sender, request, { sources, reply: original.reply, answers: email, forwards: null });
}

/** The mailbox's own address. */
export function addressOf({ address }: Mailbox): Address {
  const parsed = parseAddress(address);
  if (parsed === undefined) throw new Error('a mailbox whose address cannot be read');
  return parsed;
}

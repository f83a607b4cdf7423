import { z } from 'zod';
import { type Address, addressKey, parseAddress } from '../../../mail/message/address.ts';
import type { NamedAddress } from '../../../mail/message/compose-text.ts';
import type { EmailRequest } from '../../sending/email-request.ts';
import { duplicateGuard } from '../../sending/duplicate-guard.ts';
import type { ApiSender } from '../../sending/key-auth.ts';
import type { OutboundEmail } from '../../sending/outbound.ts';
import { prefixed, appendQuote } from '../../sending/quote.ts';
import { ownRecipient, replyRecipients } from '../../sending/reply-recipients.ts';
import { SendResult } from '../../sending/send-result.ts';
import { composeOutbound, sendOnce } from '../../sending/send-email.ts';
import { type Call, operation } from '../../core/operation.ts';
import { InMailbox, MessageId, namedMessage } from '../reading/mailbox-arguments.ts';
import { refuse, RefusedError } from '../../core/refusal.ts';
import type { Mailbox } from '../scope.ts';
import { asMailbox, audited } from '../sending/as-sender.ts';
import { BodyTexts, requestedFiles, FOR_AGENTS, MoreRecipients, SENDING_FIELDS, Quote, ReplyAll } from './fields.ts';
import { leavesOut, mustRead, namedOriginal, ownAddressTest } from './original.ts';

const Reply = z.strictObject({
  ...InMailbox,
  messageId: MessageId,
  ...BodyTexts,
  replyAll: ReplyAll,
  ...MoreRecipients,
  quote: Quote,
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
    'Replies to a message: recipients, subject and threading come from it, its text is quoted below. Each recipient shows its source; a Reply-To other than From is named in reasons. Repeated within ten minutes it sends nothing. No undo.',
  hints: { destructive: true, openWorld: true },
  input: Reply,
  output: SendResult,
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailbox/messages/:messageId/reply' },
  async run(call, input) {
    mustRead(call);
    const { mailbox, messageId, ...request } = input;
    const { box, email } = await namedMessage(call, { mailbox, messageId });
    const sender = asMailbox(call, box);
    const guard = duplicateGuard(sender, request, { ...request, reply: email });
    const place = { from: addressOf(box), threadId: null };
    const reply = (given: Reply) => () => answerTo(call, { box, sender, email }, given);
    try {
      return await sendOnce(call, sender, { guard, place, commit: audited(call) }, reply(input));
    } catch (error) {
      return refuseForQuote(error, input, async () => {
        await sendOnce(call, sender, { guard: null, place }, reply({ ...input, quote: false, dryRun: true }));
      });
    }
  },
});

/** Names the quoted original as the cause if the reply would be sent without it; else repeats the refusal. */
async function refuseForQuote(error: unknown, { quote }: Reply, tryWithoutQuote: () => Promise<void>): Promise<never> {
  if (!quote || !(error instanceof RefusedError) || error.refusal.error !== 'secret_in_message') throw error;
  try {
    await tryWithoutQuote();
  } catch {
    throw error;
  }
  const kinds = error.refusal.kinds;
  const what = Array.isArray(kinds) ? ` (${kinds.join(', ')})` : '';
  return refuse(
    'secret_in_message',
    `Blocked: the quoted original contains a secret${what}. Retry with quote: false.`,
    {
      kinds,
    },
  );
}

async function answerTo(
  call: Call,
  { box, sender, email }: { box: Mailbox; sender: ApiSender; email: number },
  { text, html, replyAll, cc, bcc, quote, attachments, ...how }: Reply,
): Promise<OutboundEmail> {
  const { original, hidden } = await namedOriginal(call, box, email);
  const isOwn = ownAddressTest(call, box);
  const { to, cc: others, sources } = await replyRecipients(original.fields, leavesOut(call, box), replyAll);
  if (to.length + others.length === 0) {
    refuse('recipient_blocked', 'The message has no address to reply to: use send_email.', {
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
    // Text that a person does not see is not quoted.
    ...(quote && hidden === undefined ? appendQuote({ text, html }, original) : { text, html }),
    headers: {},
    tags: {},
    attachments: requestedFiles(attachments),
  };
  return composeOutbound(call, sender, request, { sources, reply: original.reply, answers: email, forwards: null });
}

/** Returns the mailbox's own address. */
export function addressOf({ address }: Mailbox): Address {
  const parsed = parseAddress(address);
  if (parsed === undefined) throw new Error('a mailbox whose address cannot be read');
  return parsed;
}

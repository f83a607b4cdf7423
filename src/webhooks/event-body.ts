import type { Notice } from '../../mail/store/notice.ts';
import { publicId } from '../ids.ts';
import { deliveryId } from './delivery-id.ts';
import type { EventFacts } from './event-queries.ts';
import type { OutboundEvent } from './event-schemas.ts';
import { type OutboundType, outboundTypeOf } from './event-types.ts';

/** The body of an event of mail that leaves. */
export function outboundBody(notice: Notice, { sent, messageId, from }: EventFacts): Buffer {
  const { detail } = notice;
  const type = outboundTypeOf(notice.event);
  const enhancedCode = textOf(detail['status']);
  const code = detail['code'];
  const event: OutboundEvent = {
    id: deliveryId(notice.id),
    type,
    createdAt: new Date(notice.at).toISOString(),
    data: {
      emailId: sent === null ? null : publicId('sent', sent.id),
      trace: notice.trace,
      messageId: messageId === '' ? null : messageId,
      from,
      to: textsOf(detail['to']),
      subject: sent?.subject ?? null,
      tags: sent?.tags ?? {},
      smtpCode: typeof code === 'number' && code > 0 ? code : null,
      enhancedCode,
      host: textOf(detail['host']),
      text: textOf(detail['text']) ?? textOf(detail['because']),
      explanation: explanationOf(type, enhancedCode),
    },
  };
  return Buffer.from(JSON.stringify(event));
}

/** What each event means. */
export const MEANINGS: Readonly<Record<OutboundType, string>> = {
  'webhook.test': 'This is a test: no mail was sent.',
  'email.queued': 'The message was taken and is on its way to these recipients.',
  'email.delivered': 'The server of the recipient took the message.',
  'email.deferred': 'The server of the recipient did not take it now. It is tried again by itself.',
  'email.bounced': 'It was not delivered and is not tried again.',
  'email.complained': 'The recipient called it unwanted. Your programs write to this address no more.',
  'email.suppressed': 'Nothing was sent to this address: it is on the suppression list. list_suppressions says why.',
  'sender.paused':
    'The mailbox or key that sent this is paused: its mail is held. list_paused_senders says why, resume_sender lets it go on.',
};

/** What enhanced codes say of a failure, by how they begin. RFC 3463 3. */
const CAUSES: readonly (readonly [string, string])[] = [
  ['.1.', 'The address is wrong or does not exist: write to it no more.'],
  ['.2.2', 'The mailbox is full.'],
  ['.2.', 'The mailbox cannot take mail.'],
  ['.3.4', 'The message is too large for it.'],
  ['.4.', 'Its server could not be reached.'],
  ['.5.', 'The two servers did not understand each other.'],
  ['.6.', 'Its server does not take such content.'],
  ['.7.', 'Its server refuses it by policy: look at the text, and at the DNS records of your domain.'],
];

function explanationOf(type: OutboundType, status: string | null): string {
  const failed = type === 'email.deferred' || type === 'email.bounced';
  const cause = failed ? CAUSES.find(([code]) => status?.slice(1).startsWith(code))?.[1] : undefined;
  return cause === undefined ? MEANINGS[type] : `${MEANINGS[type]} ${cause}`;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function textsOf(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string');
}

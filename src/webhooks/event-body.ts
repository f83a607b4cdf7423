import type { WebhookEvent } from '../../mail/store/notification/webhook-event.ts';
import { publicId } from '../core/ids.ts';
import { deliveryId } from './delivery-id.ts';
import type { EventFacts } from './event-queries.ts';
import type { OutboundEvent } from './event-schemas.ts';
import { type OutboundType, outboundTypeOf } from './event-types.ts';

/** The body of an outbound event. */
export function outboundBody(notice: WebhookEvent, { sent, messageId, from }: EventFacts): Buffer {
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

/** Explanations of the events. */
export const EVENT_EXPLANATIONS: Readonly<Record<OutboundType, string>> = {
  'webhook.test': 'This is a test: no mail was sent.',
  'email.queued': 'The message was accepted and is queued for these recipients.',
  'email.delivered': "The recipient's server accepted the message.",
  'email.deferred': "The recipient's server deferred the message. It is retried automatically.",
  'email.bounced': 'The message was not delivered and is not retried.',
  'email.complained': 'The recipient reported it as spam. The address is now suppressed for API sending.',
  'email.suppressed': 'Not sent: the address is on the suppression list. list_suppressions shows the reason.',
  'sender.paused':
    'The mailbox or key that sent this is paused and its mail is held. list_paused_senders shows the reason, resume_sender releases the mail.',
};

/** Causes of a failure by prefix of the enhanced status code. RFC 3463 3. */
const FAILURE_CAUSES: readonly (readonly [string, string])[] = [
  ['.1.', 'The address is wrong or does not exist: remove it from your list.'],
  ['.2.2', 'The mailbox is full.'],
  ['.2.', 'The mailbox does not accept mail.'],
  ['.3.4', 'The message is too large for the mailbox.'],
  ['.4.', "The recipient's server could not be reached."],
  ['.5.', 'SMTP protocol error between the servers.'],
  ['.6.', "The recipient's server does not accept this content."],
  ['.7.', "The recipient's server rejected it by policy: check the reply text and the DNS records of your domain."],
];

function explanationOf(type: OutboundType, status: string | null): string {
  const failed = type === 'email.deferred' || type === 'email.bounced';
  const cause = failed ? FAILURE_CAUSES.find(([code]) => status?.slice(1).startsWith(code))?.[1] : undefined;
  return cause === undefined ? EVENT_EXPLANATIONS[type] : `${EVENT_EXPLANATIONS[type]} ${cause}`;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function textsOf(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string');
}

import { NOTIFIABLE_EVENTS, type NotifiableEvent } from '../../mail/store/notification/listener.ts';

/** Public event types, by journal event. */
const TYPES = {
  submitted: 'email.queued',
  delivered: 'email.delivered',
  deferred: 'email.deferred',
  failed: 'email.bounced',
  complained: 'email.complained',
  suppressed: 'email.suppressed',
  paused: 'sender.paused',
} as const satisfies Record<NotifiableEvent, string>;

/** Outbound events that webhooks of an organization can subscribe to. */
export const EVENT_TYPES = NOTIFIABLE_EVENTS.map((event) => TYPES[event]);

/** Outbound event types, with the test event. */
export const OUTBOUND_TYPES = [...EVENT_TYPES, 'webhook.test'] as const;
export type OutboundType = (typeof OUTBOUND_TYPES)[number];

/** The public type of a journal event. */
export function typeOf(event: string): OutboundType | 'email.inbound' {
  return event === 'received' ? 'email.inbound' : outboundTypeOf(event);
}

/** The public type of an outbound journal event. */
export function outboundTypeOf(event: string): OutboundType {
  return TYPES[event as NotifiableEvent] ?? 'webhook.test';
}

/** The journal events of public types. */
export function eventsOf(types: readonly string[]): NotifiableEvent[] {
  return NOTIFIABLE_EVENTS.filter((event) => types.includes(TYPES[event]));
}

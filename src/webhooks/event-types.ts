import { TOLD_OUTSIDE, type ToldOutside } from '../../mail/store/listener.ts';

/** What receivers call it, by what the journal calls it. */
const TYPES = {
  submitted: 'email.queued',
  delivered: 'email.delivered',
  deferred: 'email.deferred',
  failed: 'email.bounced',
  complained: 'email.complained',
  suppressed: 'email.suppressed',
  paused: 'sender.paused',
} as const satisfies Record<ToldOutside, string>;

export type EventType = (typeof TYPES)[ToldOutside];

/** Events of mail that leaves, which webhooks of an organization hear of. */
export const EVENT_TYPES = TOLD_OUTSIDE.map((event) => TYPES[event]);

/** All that webhooks of an organization are told. */
export const OUTBOUND_TYPES = [...EVENT_TYPES, 'webhook.test'] as const;
export type OutboundType = (typeof OUTBOUND_TYPES)[number];

/** As receivers know an event of the journal. */
export function typeOf(event: string): OutboundType | 'email.inbound' {
  return event === 'received' ? 'email.inbound' : outboundTypeOf(event);
}

/** As receivers know an event of mail that leaves. */
export function outboundTypeOf(event: string): OutboundType {
  return TYPES[event as ToldOutside] ?? 'webhook.test';
}

/** As the journal knows what receivers ask for. */
export function eventsOf(types: readonly string[]): ToldOutside[] {
  return TOLD_OUTSIDE.filter((event) => types.includes(TYPES[event]));
}

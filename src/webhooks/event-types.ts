import { TOLD_OUTSIDE, type ToldOutside } from '../../mail/store/listener.ts';

/** What receivers call it, by what the journal calls it. */
const TYPES = {
  submitted: 'email.queued',
  delivered: 'email.delivered',
  deferred: 'email.deferred',
  failed: 'email.bounced',
  complained: 'email.complained',
  suppressed: 'email.suppressed',
} as const satisfies Record<ToldOutside, string>;

export type EventType = (typeof TYPES)[ToldOutside];

/** Events of mail that leaves, which webhooks of an organization hear of. */
export const EVENT_TYPES = TOLD_OUTSIDE.map((event) => TYPES[event]);

/** All that is posted. */
export type PostedType = EventType | 'email.inbound' | 'webhook.test';

/** As receivers know an event of the journal. */
export function typeOf(event: string): PostedType {
  return TYPES[event as ToldOutside] ?? (event === 'test' ? 'webhook.test' : 'email.inbound');
}

/** As the journal knows what receivers ask for. */
export function eventsOf(types: readonly string[]): ToldOutside[] {
  return TOLD_OUTSIDE.filter((event) => types.includes(TYPES[event]));
}

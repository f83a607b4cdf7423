import type { StoreBusy } from '../store/engine/types.ts';
import { formatAddress } from '../message/address.ts';
import type { Recipient, Refusal } from './needs.ts';

/** A refusal with its SMTP code and enhanced code. RFC 3463. */
export function refuse(code: number, enhanced: string, text: string): Refusal {
  return { kind: 'refused', code, enhanced, text };
}

/** The store takes nothing now: the mail is to come again. */
export function busy({ reason }: StoreBusy): Refusal {
  return reason === 'disk-full'
    ? refuse(452, '4.3.1', 'The disk is full, try again later')
    : refuse(451, '4.3.2', 'Too busy, try again later');
}

/**
 * An alias took its last message while this one was on its way. The other recipients are not to miss it for that: when
 * it comes again, RCPT says who is meant.
 */
export function takenNoMore(recipients: readonly Recipient[]): Refusal {
  const [only, ...more] = recipients;
  if (only === undefined || more.length > 0 || only.route.kind !== 'here' || only.route.forwards === true)
    return refuse(451, '4.2.1', 'An address of this message has just gone out of use: send it again for the others');
  return refuse(550, '5.2.1', `${formatAddress(only.address)} is not in use any more`);
}

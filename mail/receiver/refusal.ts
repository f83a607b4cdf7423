import { formatAddress } from '../message/address.ts';
import type { StoreBusy } from '../store/engine/types.ts';
import type { EnvelopeRecipient, SmtpRefusal } from './needs.ts';

/** A refusal with its SMTP code and enhanced code. RFC 3463. */
export function smtpRefusal(code: number, enhanced: string, text: string): SmtpRefusal {
  return { kind: 'refused', code, enhanced, text };
}

/** Defers a message at MAIL or before DATA: what is free on the disk is kept for what was accepted already. */
export function earlyRefusal(busy: StoreBusy): SmtpRefusal {
  if (busy.reason === 'disk-full') return smtpRefusal(452, '4.3.1', 'The disk is nearly full, try again later');
  return busyRefusal(busy);
}

/** Defers a message after its octets, which the store could not take. */
export function busyRefusal({ reason }: StoreBusy): SmtpRefusal {
  if (reason === 'disk-full') return smtpRefusal(452, '4.3.1', 'The disk is full, try again later');
  if (reason === 'bucket')
    return smtpRefusal(451, '4.3.1', 'The storage of large messages is unavailable, try again later');
  if (reason === 'database') return smtpRefusal(451, '4.3.0', 'The database is unavailable, try again later');
  return smtpRefusal(451, '4.3.2', 'Too busy, try again later');
}

/**
 * Refuses a message whose alias expired while the message was on its way. Defers it where there are other recipients:
 * at the next try RCPT refuses the expired alias alone.
 */
export function expiredAliasRefusal(recipients: readonly EnvelopeRecipient[]): SmtpRefusal {
  const [only, ...more] = recipients;
  if (only === undefined || more.length > 0 || only.route.kind !== 'here' || only.route.forwards === true)
    return smtpRefusal(451, '4.2.1', 'The address of one recipient has just expired, send the message again');
  return smtpRefusal(550, '5.2.1', expiredText(only.address));
}

/** RFC 3463 3.3: the address exists, and accepts no messages. */
export function expiredText(address: EnvelopeRecipient['address']): string {
  return `${formatAddress(address)} has expired and accepts no more mail`;
}

/** Explains why addresses of a domain cannot send for now. */
export function pausedText(domain: string): string {
  return `Sending from ${domain} is paused: its DNS records have been wrong for three days. Correct them and verify the domain`;
}

import type { StoreBusy } from '../store/engine/types.ts';
import type { Refusal } from './needs.ts';

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

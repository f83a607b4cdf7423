import type { NotForwarded } from '../delivery/forward.ts';
import { type Address, formatAddress } from '../message/address.ts';
import type { SmtpRefusal } from './needs.ts';
import { smtpRefusal } from './refusal.ts';

/** Refuses a message that would reach nobody for one of its recipients, so that its sender learns of it. */
export function forwardRefusal(unreached: readonly Address[], kept: readonly NotForwarded[]): SmtpRefusal {
  const [first] = unreached;
  const to = first === undefined ? 'the recipient' : formatAddress(first);
  const reasons = kept.filter(({ recipient }) => recipient === first);
  // A temporary reason takes precedence: the same message may be accepted later.
  const reason = reasons.find(({ kind }) => CODES[kind].code < 500) ?? reasons[0];
  if (reason === undefined) return smtpRefusal(451, '4.2.1', `Cannot forward mail for ${to} now, try again later`);
  const { code, enhanced } = CODES[reason.kind];
  const retry = code < 500 ? '; try again later' : '';
  return smtpRefusal(code, enhanced, `Cannot forward this message for ${to}: ${reason.why}${retry}`);
}

const CODES: Readonly<Record<NotForwarded['kind'], { code: number; enhanced: string }>> = {
  automatic: { code: 550, enhanced: '5.7.1' },
  loop: { code: 550, enhanced: '5.4.6' },
  unproven: { code: 550, enhanced: '5.7.1' },
  secret: { code: 550, enhanced: '5.7.1' },
  trouble: { code: 451, enhanced: '4.7.0' },
  spent: { code: 451, enhanced: '4.7.1' },
  pending: { code: 450, enhanced: '4.2.1' },
  stopped: { code: 450, enhanced: '4.2.1' },
  junk: { code: 550, enhanced: '5.7.1' },
};

import type { Kept } from '../delivery/forward.ts';
import { type Address, formatAddress } from '../message/address.ts';
import type { Refusal } from './needs.ts';
import { refuse } from './refusal.ts';

/** Nobody would get it for one of the recipients: then it is not taken for any, and its sender hears of it. */
export function unreached(lost: readonly Address[], kept: readonly Kept[]): Refusal {
  const [first] = lost;
  const to = first === undefined ? 'An address' : formatAddress(first);
  const reasons = kept.filter(({ recipient }) => recipient === first);
  // What may be over later comes first: the same mail may pass then.
  const reason = reasons.find(({ kind }) => ANSWERS[kind].code < 500) ?? reasons[0];
  if (reason === undefined) return refuse(451, '4.2.1', `${to} leads nowhere at the moment, try again later`);
  const { code, enhanced } = ANSWERS[reason.kind];
  const later = code < 500 ? '; try again later' : '';
  return refuse(code, enhanced, `Mail for ${to} is only forwarded, and this message is not: ${reason.why}${later}`);
}

const ANSWERS: Readonly<Record<Kept['kind'], { code: number; enhanced: string }>> = {
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

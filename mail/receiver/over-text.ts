import type { OverAllowance } from '../store/allowance.ts';
import type { Refusal } from './needs.ts';

/** What a sender is told whose organization may send no more for now. RFC 3463: 4.7.1, 5.7.1. */
export function overText(over: OverAllowance): Refusal {
  if (over.what === 'recipient') {
    const text = `${over.recipient} may not be written to yet. ${over.until}`;
    return { kind: 'refused', code: 550, enhanced: '5.7.1', text };
  }
  const what = {
    rate: `at most ${over.most} messages a second`,
    burst: `at most ${over.most} messages in 10 seconds`,
    messages: `at most ${over.most} messages a day`,
    'new-recipients': `at most ${over.most} new recipients a day`,
  }[over.what];
  const text = `Too much for now: ${what}, try again in ${spoken(over.wait)}. ${over.until}`;
  return { kind: 'refused', code: 450, enhanced: '4.7.1', text };
}

function spoken(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  if (minutes <= 1) return `${Math.ceil(ms / 1000)} s`;
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}

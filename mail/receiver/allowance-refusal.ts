import type { OverAllowance } from '../store/limit/allowance.ts';
import type { SmtpRefusal } from './needs.ts';
import { smtpRefusal } from './refusal.ts';

/** Refuses a message that exceeds the sending limits of its organization. RFC 3463: 4.7.1, 5.7.1. */
export function allowanceRefusal(over: OverAllowance): SmtpRefusal {
  if (over.what === 'recipient')
    return smtpRefusal(550, '5.7.1', `Sending to ${over.recipient} is not allowed yet. ${over.until}`);
  const limit = {
    rate: `${over.most} messages a second`,
    burst: `${over.most} messages in 10 seconds`,
    messages: `${over.most} messages a day`,
    'new-recipients': `${over.most} new recipients a day`,
  }[over.what];
  return smtpRefusal(
    450,
    '4.7.1',
    `Sending limit reached (${limit}), try again in ${formatWait(over.wait)}. ${over.until}`,
  );
}

function formatWait(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  if (minutes <= 1) return `${Math.ceil(ms / 1000)} s`;
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}

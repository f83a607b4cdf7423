import type { Host } from './destination.ts';
import type { AttemptResult } from '../store/queue/queue.ts';
import type { QueueItem } from './relay-queue.ts';
import { BOUNCE_LIFETIME, jitter, LIFETIME, nextAttempt, type RetryState } from './schedule.ts';
import type { AttemptVerdict } from './attempt-verdict.ts';

/** Host, TLS and time of an attempt. */
export interface AttemptContext {
  /** Undefined when no host was reached. */
  host: Host | undefined;
  tls: string;
  now: number;
  random: () => number;
}

const DAY = 24 * 3600 * 1000;

/** Returns the retry state of a row after the current attempt. */
export function retryStateAfterAttempt(item: QueueItem): RetryState {
  const lifetime = item.sender === undefined ? BOUNCE_LIFETIME : LIFETIME;
  return { attempts: item.attempts + 1, since: item.queuedAt, lifetime };
}

/** An item of the age that it has without a jump of the clock that is not confirmed: it must not expire by that. */
export function withoutJump(item: QueueItem, aheadMs: number): QueueItem {
  return aheadMs === 0 ? item : { ...item, queuedAt: item.queuedAt + aheadMs };
}

/** Converts a verdict to the recorded result: a deferral gets its next attempt, or fails if the message expires. */
export function toAttemptResult(item: QueueItem, verdict: AttemptVerdict, context: AttemptContext): AttemptResult {
  const { host, tls, now, random } = context;
  const result: AttemptResult = {
    id: item.id,
    outcome: verdict.outcome,
    host: host === undefined ? '' : host.name.replace(/[^\x21-\x7e]/g, '?').slice(0, 255),
    ip: host?.ip ?? '',
    code: verdict.code,
    status: verdict.status,
    text: verdict.text,
    tls,
    at: now,
    nextAt: 0,
  };
  if (verdict.outcome !== 'deferred') return result;
  const nextAt = nextAttempt(retryStateAfterAttempt(item), now, jitter(random));
  return nextAt === undefined ? toExpired(result, item) : { ...result, nextAt };
}

/** RFC 3463 3.5: X.4.7, delivery time expired. */
function toExpired(result: AttemptResult, item: QueueItem): AttemptResult {
  const days = Math.max(1, Math.round((result.at - item.queuedAt) / DAY));
  const text = `Given up after ${days} ${days === 1 ? 'day' : 'days'}. The last reply was: ${result.text}`;
  return { ...result, outcome: 'failed', status: '5.4.7', text: text.slice(0, 1000) };
}

/**
 * Makes the remaining recipients due at once, in a new transaction, if the server accepted some and then replied "too many
 * recipients" (RFC 5321 4.5.3.1.10), or closed the connection with 421.
 */
export function retryRestNow(results: readonly AttemptResult[], now: number): AttemptResult[] {
  if (!results.some((result) => result.outcome === 'delivered')) return [...results];
  return results.map((result) => (isTransactionLimit(result) ? { ...result, nextAt: now } : result));
}

function isTransactionLimit({ outcome, code, status }: AttemptResult): boolean {
  if (outcome !== 'deferred') return false;
  return code === 421 || ((code === 452 || code === 552) && (status === '4.5.3' || status === '4.0.0'));
}

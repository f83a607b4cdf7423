import type { Host } from './destination.ts';
import type { AttemptResult, QueueItem } from './needs.ts';
import { BOUNCE_LIFETIME, jitter, LIFETIME, nextAttempt, type Tried } from './schedule.ts';
import type { Verdict } from './verdict.ts';

/** Where and when an attempt was made. */
export interface Place {
  /** Undefined when no host was reached. */
  host: Host | undefined;
  tls: string;
  now: number;
  random: () => number;
}

const DAY = 24 * 3600 * 1000;

/** What is known of a row when the attempt that is under way has ended. */
export function triedWith(item: QueueItem): Tried {
  const lifetime = item.sender === undefined ? BOUNCE_LIFETIME : LIFETIME;
  return { attempts: item.attempts + 1, since: item.queuedAt, lifetime };
}

/** The attempt as it is recorded: "later" gets its next time, or becomes "never" when there is none. */
export function settle(item: QueueItem, verdict: Verdict, place: Place): AttemptResult {
  const { host, tls, now, random } = place;
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
  const nextAt = nextAttempt(triedWith(item), now, jitter(random));
  return nextAt === undefined ? givenUp(result, item) : { ...result, nextAt };
}

/** RFC 3463 3.5: X.4.7, delivery time expired. */
function givenUp(result: AttemptResult, item: QueueItem): AttemptResult {
  const days = Math.max(1, Math.round((result.at - item.queuedAt) / DAY));
  const text = `Given up after ${days} ${days === 1 ? 'day' : 'days'}. The last answer was: ${result.text}`;
  return { ...result, outcome: 'failed', status: '5.4.7', text: text.slice(0, 1000) };
}

/**
 * RFC 5321 4.5.3.1.10: "too many recipients" after some were taken means that the rest come at once in a message of
 * their own, not at the next attempt; so does a connection that has had enough of us after some.
 */
export function restAtOnce(results: readonly AttemptResult[], now: number): AttemptResult[] {
  if (!results.some((result) => result.outcome === 'delivered')) return [...results];
  return results.map((result) => (isEnough(result) ? { ...result, nextAt: now } : result));
}

function isEnough({ outcome, code, status }: AttemptResult): boolean {
  if (outcome !== 'deferred') return false;
  return code === 421 || ((code === 452 || code === 552) && (status === '4.5.3' || status === '4.0.0'));
}

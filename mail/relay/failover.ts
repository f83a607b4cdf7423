import type { AttemptResult } from '../store/queue/queue.ts';
import type { QueueItem } from './relay-queue.ts';
import { classifyReply } from './reply-class.ts';

/** Circumstances of a direct attempt, besides its result. */
export interface AttemptCircumstances {
  /** Rejected before MAIL: the server rejects this box. */
  turnedAway: boolean;
  /** No mail server could be reached recently. */
  cutOff: boolean;
}

/**
 * Turns a rejection of this box, as opposed to the message, into an immediate retry by the failover smarthost, before any
 * bounce. Per recipient. Not after a connection was lost during DATA: the message may have arrived, so it is retried
 * directly. RFC 1047.
 */
export function applyFailover(item: QueueItem, result: AttemptResult, how: AttemptCircumstances): AttemptResult {
  const via = item.nextHop.failover;
  if (via === undefined || result.outcome === 'delivered' || !isFailoverUseful(result, how)) return result;
  return { ...result, outcome: 'deferred', nextAt: result.at, via };
}

function isFailoverUseful(result: AttemptResult, { turnedAway, cutOff }: AttemptCircumstances): boolean {
  const kind = classifyReply(result);
  if (kind === 'blocked') return true;
  if (kind === 'unreachable') return cutOff;
  // 521 and 556: the host accepts no mail at all. RFC 7504.
  if (turnedAway) return result.outcome === 'failed' && result.code !== 521 && result.code !== 556;
  return result.status === '5.4.7';
}

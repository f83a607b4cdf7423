import type { AttemptResult, QueueItem } from './needs.ts';
import { classOf } from './reply-class.ts';

/** How an attempt at the receiver's own servers went, beside its result. */
export interface Circumstances {
  /** Refused before any mail was named: it is this server that is not wanted. */
  turnedAway: boolean;
  /** No mail server anywhere could be reached of late. */
  cutOff: boolean;
}

/**
 * Turns a refusal that is meant for this server, and not for the message, into one more attempt by the smarthost that
 * stands by: at once, and before anybody gets a bounce. Each recipient for itself. A connection that was lost with the
 * message on the wire is none of these: it may have arrived, so it is tried again where it was. RFC 1047.
 */
export function failOver(item: QueueItem, result: AttemptResult, how: Circumstances): AttemptResult {
  const via = item.way.failover;
  if (via === undefined || result.outcome === 'delivered' || !isOfUse(result, how)) return result;
  return { ...result, outcome: 'deferred', nextAt: result.at, via };
}

function isOfUse(result: AttemptResult, { turnedAway, cutOff }: Circumstances): boolean {
  const kind = classOf(result);
  if (kind === 'blocked') return true;
  if (kind === 'unreachable') return cutOff;
  // 521 and 556 say that no mail is taken there at all. RFC 7504.
  if (turnedAway) return result.outcome === 'failed' && result.code !== 521 && result.code !== 556;
  return result.status === '5.4.7';
}

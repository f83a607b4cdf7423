import { randomBytes } from 'node:crypto';
import { composeBounce, daemon, type RecipientReport } from '../message/bounce.ts';
import type { AttemptResult, BounceMessage, QueueItem } from './needs.ts';
import { DELAY_NOTICE, LIFETIME } from './schedule.ts';

/** How an attempt for one recipient ended. */
export interface Attempted {
  item: QueueItem;
  result: AttemptResult;
  /** The next hop took the sender's wishes over (DSN), so a report of success is its business. RFC 3461 5.2.1. */
  dsnPassedOn: boolean;
}

type Kind = BounceMessage['kind'];

/**
 * What the sender has to be told of an attempt, or undefined for nothing. A null sender is never told anything: that is
 * what ends every loop of bounces. RFC 5321 6.1, RFC 3461 4.1, 5.2.
 */
export function reportKind({ item, result, dsnPassedOn }: Attempted): Kind | undefined {
  if (item.sender === undefined) return undefined;
  const asked = item.notify.toUpperCase().split(',');
  // Without NOTIFY a failure is told, and a delay may be.
  const wants = (word: string): boolean => (item.notify === '' ? word !== 'SUCCESS' : asked.includes(word));
  switch (result.outcome) {
    case 'failed':
      return wants('FAILURE') ? 'failure' : undefined;
    case 'deferred':
      return wants('DELAY') && !item.delayTold && result.at - item.queuedAt >= DELAY_NOTICE ? 'delay' : undefined;
    case 'delivered':
      return wants('SUCCESS') && !dsnPassedOn ? 'success' : undefined;
    default:
      return result.outcome satisfies never;
  }
}

/** What reports say of the box. */
export interface Reporter {
  hostname: string;
  /** ms UTC. */
  now: number;
}

/**
 * The reports of attempts at one message: at most one of each kind, each naming all its recipients. `originalHeader` is
 * the header block of that message, empty when it cannot be read: a bounce is sent even so.
 */
export function composeReports(
  attempted: readonly Attempted[],
  originalHeader: Uint8Array,
  reporter: Reporter,
): BounceMessage[] {
  const kinds: readonly Kind[] = ['failure', 'delay', 'success'];
  return kinds.flatMap((kind) => {
    const about = attempted.filter((one) => reportKind(one) === kind);
    return compose(kind, about, originalHeader, reporter) ?? [];
  });
}

function compose(
  kind: Kind,
  about: readonly Attempted[],
  originalHeader: Uint8Array,
  { hostname, now }: Reporter,
): BounceMessage | undefined {
  const first = about[0]?.item;
  if (first?.sender === undefined) return undefined;
  const bytes = composeBounce({
    host: hostname,
    from: daemon(hostname),
    to: first.sender,
    date: now,
    messageId: `<${randomBytes(16).toString('hex')}@${hostname}>`,
    recipients: about.map((one) => report(kind, one)),
    ...(first.envid === '' ? {} : { envelopeId: first.envid }),
    arrivalDate: first.queuedAt,
    originalHeader,
  });
  return { recipient: first.sender, about: about.map((one) => one.item.id), kind, bytes };
}

const ACTIONS = { failure: 'failed', delay: 'delayed', success: 'relayed' } as const;

function report(kind: Kind, { item, result }: Attempted): RecipientReport {
  return {
    address: item.recipient,
    action: ACTIONS[kind],
    status: result.status,
    ...(item.orcpt === '' ? {} : { originalRecipient: item.orcpt }),
    ...(result.host === '' ? {} : { remoteMta: result.host }),
    diagnostic: result.text,
    lastAttempt: result.at,
    ...(kind === 'delay' ? { willRetryUntil: item.queuedAt + LIFETIME } : {}),
  };
}

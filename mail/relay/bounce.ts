import { randomBytes } from 'node:crypto';
import { composeDeliveryReport, mailerDaemon, type RecipientReport } from '../message/delivery-report.ts';
import type { AttemptResult } from '../store/queue/queue.ts';
import type { BounceMessage, QueueItem } from './relay-queue.ts';
import { DELAY_REPORT_AFTER, LIFETIME } from './schedule.ts';

/** Completed attempt for one recipient. */
export interface CompletedAttempt {
  item: QueueItem;
  result: AttemptResult;
  /** The next hop supports DSN, so it is responsible for the success report. RFC 3461 5.2.1. */
  dsnPassedOn: boolean;
}

type BounceKind = BounceMessage['kind'];

/**
 * Determines the report that an attempt needs, or undefined for none. The null sender gets no report, which prevents bounce
 * loops. RFC 5321 6.1, RFC 3461 4.1, 5.2.
 */
export function reportKind({ item, result, dsnPassedOn }: CompletedAttempt): BounceKind | undefined {
  if (item.sender === undefined) return undefined;
  const requested = item.notify.toUpperCase().split(',');
  // Without NOTIFY, failures and delays are reported.
  const wants = (word: string): boolean => (item.notify === '' ? word !== 'SUCCESS' : requested.includes(word));
  switch (result.outcome) {
    case 'failed':
      return wants('FAILURE') ? 'failure' : undefined;
    case 'deferred':
      return wants('DELAY') && !item.delayReported && result.at - item.queuedAt >= DELAY_REPORT_AFTER
        ? 'delay'
        : undefined;
    case 'delivered':
      return wants('SUCCESS') && !dsnPassedOn ? 'success' : undefined;
    default:
      return result.outcome satisfies never;
  }
}

/** Host name and time of reports. */
export interface ReportOptions {
  hostname: string;
  /** ms UTC. */
  now: number;
}

/**
 * Composes the reports about one message: at most one of each kind with all its recipients. `originalHeader`: header block of
 * the message, empty if unreadable; a bounce is sent even so.
 */
export function composeReports(
  attempted: readonly CompletedAttempt[],
  originalHeader: Uint8Array,
  reporter: ReportOptions,
): BounceMessage[] {
  const kinds: readonly BounceKind[] = ['failure', 'delay', 'success'];
  return kinds.flatMap((kind) => {
    const about = attempted.filter((one) => reportKind(one) === kind);
    return composeReport(kind, about, originalHeader, reporter) ?? [];
  });
}

function composeReport(
  kind: BounceKind,
  about: readonly CompletedAttempt[],
  originalHeader: Uint8Array,
  { hostname, now }: ReportOptions,
): BounceMessage | undefined {
  const first = about[0]?.item;
  if (first?.sender === undefined) return undefined;
  const bytes = composeDeliveryReport({
    host: hostname,
    from: mailerDaemon(hostname),
    to: first.sender,
    date: now,
    messageId: `<${randomBytes(16).toString('hex')}@${hostname}>`,
    recipients: about.map((one) => recipientReport(kind, one)),
    ...(first.envid === '' ? {} : { envelopeId: first.envid }),
    arrivalDate: first.queuedAt,
    originalHeader,
  });
  return { recipient: first.sender, about: about.map((one) => one.item.id), kind, bytes };
}

const ACTIONS = { failure: 'failed', delay: 'delayed', success: 'relayed' } as const;

function recipientReport(kind: BounceKind, { item, result }: CompletedAttempt): RecipientReport {
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

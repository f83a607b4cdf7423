import type { KeyObject } from 'node:crypto';
import { allowAll, type SendingPolicy } from '../agents/gate/sending-policy.ts';
import type { SubmissionContext } from '../delivery/submission-draft.ts';
import type { MailFilter } from '../filter/mail-filter.ts';
import type { MemoryBudget } from '../limits/memory-budget.ts';
import { KeyedTokenBucket, perHour } from '../limits/token-bucket.ts';
import type { Log } from '../log.ts';
import type { DmarcResult } from '../store/filter/dmarc-result.ts';
import type { Greylist } from './greylist.ts';
import type { ReportInbox } from './needs.ts';
import { Tarpit } from './tarpit.ts';
import { traceId } from './trace-id.ts';

/** Reports an hour about nothing that was sent from here, for one mailbox: forged senders cause them. */
const MAX_UNMATCHED_REPORTS = 200;
/** Reports an hour that are returned to one author of forwarded mail. */
const MAX_RETURNED_REPORTS = 20;
/** Mailboxes, or authors, whose reports are counted. */
const MAX_COUNTED = 10_000;

export interface StoreBackendOptions extends Omit<SubmissionContext, 'policy' | 'traceId'> {
  /** Holds or refuses submitted mail; left out: neither. */
  policy?: SendingPolicy;
  /** Key of the envelope senders that identify one copy each. */
  reportKey: KeyObject;
  /** Null: mail from outside is accepted unchecked. */
  filter: InboundFilter | null;
  /** Left out: there are no report addresses. */
  reports?: ReportInbox;
  /** Counts DMARC results for the reports to other domains; left out: none are sent. */
  dmarcResults?: { count(result: DmarcResult): void };
  /** Left out: no greylisting. */
  greylist?: Greylist;
  /** Memory of the messages that are received; left out: it is not limited. */
  memory?: MemoryBudget;
  log: Log;
}

/** The filter for mail from outside, and how far it is used. */
export interface InboundFilter {
  filter: MailFilter;
  /** True: every message is checked. False: only the author, and only where we forward the message. */
  checks: boolean;
  /** SPF, DKIM and DMARC may be looked up; false in local mode. */
  network: boolean;
  /** True if replies to this address may be delayed. */
  slows(ip: string): boolean;
}

/** State and services that all received messages share. */
export interface ReceiverContext extends Omit<StoreBackendOptions, 'policy'>, SubmissionContext {
  /** Delays replies to unknown senders. */
  readonly tarpit: Tarpit;
  /** By account. */
  readonly unmatchedReports: KeyedTokenBucket<number>;
  /** By address of the author. */
  readonly returnedReports: KeyedTokenBucket;
}

export function createContext(options: StoreBackendOptions): ReceiverContext {
  return {
    ...options,
    policy: options.policy ?? allowAll,
    traceId,
    tarpit: new Tarpit(),
    unmatchedReports: new KeyedTokenBucket<number>(perHour(MAX_UNMATCHED_REPORTS), MAX_COUNTED),
    returnedReports: new KeyedTokenBucket(perHour(MAX_RETURNED_REPORTS), MAX_COUNTED),
  };
}

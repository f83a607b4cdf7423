import type { ProviderTransport } from '../dns-providers/transport.ts';
import type { Settings } from '../../config/settings.ts';
import type { ImapLimits } from '../../mail/imap/limits.ts';
import type { SteadyClock } from '../../mail/jobs/steady-clock.ts';
import type { Log } from '../../mail/log.ts';
import type { RecentLog } from '../core/recent-log.ts';
import type { Metrics } from '../core/metrics.ts';

/** A failed start, with a message for the operator. */
export class CannotStart extends Error {
  override readonly name = 'CannotStart';
}

/** Settings and process-wide dependencies of a start. */
export interface StartOptions {
  settings: Settings;
  log: Log;
  /** The newest lines of `log`; left out: none are kept. */
  recentLog?: RecentLog;
  metrics: Metrics;
  clock: () => number;
  /** Watches the system clock for jumps; left out: the clock is trusted. */
  steadyClock?: SteadyClock;
  /** Called when the store can no longer guarantee durability; the process must exit. */
  fatal: (error: Error) => void;
  /** Mail is deferred (4xx) while the disk has less free space than this, in octets. Default: room for mail in progress. */
  keepFree?: number;
  /** Overrides IMAP limits, for benchmarks. */
  imapLimits?: Partial<ImapLimits>;
  /** Port of remote MTA-STS policies instead of 443, for tests. */
  policyPort?: number;
  /**
   * Roots of a certificate authority's own server; pauses after failed orders, of the jobs, and between polls; timeout of a
   * request. For tests.
   */
  acmeTest?: {
    roots: readonly string[];
    pause?: (failures: number) => number;
    everyMs?: number;
    pollMs?: number;
    timeoutMs?: number;
  };
  /** Requests to DNS providers in place of HTTPS, for tests. */
  providerTransport?: ProviderTransport;
  /** Port of remote name servers instead of 53, for tests. */
  nameServerPort?: number;
}

import type { Settings } from '../../config/settings.ts';
import type { ImapLimits } from '../../mail/imap/limits.ts';
import type { Log } from '../../mail/log.ts';
import type { Metrics } from '../metrics.ts';

/** A start that cannot go on, told to the person who started it in one sentence. */
export class CannotStart extends Error {
  override readonly name = 'CannotStart';
}

/** What a start is given: settings, and what is the process's own. */
export interface Surroundings {
  settings: Settings;
  log: Log;
  metrics: Metrics;
  clock: () => number;
  /** The store can promise nothing any more; the process has to end. */
  fatal: (error: Error) => void;
  /** Mail is refused for now while the disk has less free than this, in octets. Left out: room for what is under way. */
  keepFree?: number;
  /** Other limits of the IMAP door than its own, for measuring. */
  imapLimits?: Partial<ImapLimits>;
  /** Where other people's MTA-STS policies are served when it is not port 443, for tests. */
  policyPort?: number;
  /** Where other people's name servers listen when it is not port 53, for tests. */
  nameServerPort?: number;
}

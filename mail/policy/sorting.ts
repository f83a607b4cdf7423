import type { Sample } from './sample.ts';
import type { Verdict } from './trust.ts';

/** Where a message that is kept goes, and how it is marked. */
export interface Sorted {
  /** Full name of a mailbox of the account, or the role of one: `inbox`, `junk`, `archive`. A name that is not there: the inbox. */
  mailbox: string;
  /** IMAP keywords, at most a few. */
  keywords: readonly string[];
}

/**
 * A person's own rules about mail that comes in, in the manner of Sieve: the place for them. It is asked once for each
 * account that keeps a message, after the verdict and before the commit; it is pure and quick, and null leaves the
 * message where the verdict puts it. What goes to Rejects is never asked about.
 */
export type Sorting = (message: Sample, verdict: Verdict) => Sorted | null;

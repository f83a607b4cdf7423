import type { Finding } from '../../policy/finding.ts';

/** A message as a scanner is given it. */
export interface Scanned {
  /** Under which it is logged. */
  trace: string;
  peer: {
    ip: string;
    helo: string;
    /** '' when the address has no name that leads back to it. */
    name: string;
  };
  /** Envelope sender, '' for the null reverse-path. */
  sender: string;
  recipients: readonly string[];
  /** Octets. */
  size: number;
  /** The octets, from their beginning each time; what is not read to its end is closed. */
  octets(): AsyncIterable<Uint8Array>;
}

/** What looks at whole messages and is no part of this process. */
export interface Scanner {
  /** For people; it begins sentences. */
  readonly name: string;
  /** For metrics. */
  readonly label: 'rspamd' | 'clamav';
  /** Larger messages are not given to it, octets. */
  readonly largest: number;
  /** Rejects with {@link ScanTrouble} where there is no answer. `signal` ends it in any case. */
  scan(mail: Scanned, signal: AbortSignal): Promise<readonly Finding[]>;
}

/** No answer, in a few words of ours: `it does not answer`. */
export class ScanTrouble extends Error {
  override readonly name = 'ScanTrouble';
}

import type { Finding } from '../../policy/finding.ts';

/** Message as it is passed to a scanner. */
export interface ScannedMessage {
  /** Trace id. */
  trace: string;
  peer: {
    ip: string;
    helo: string;
    /** Verified reverse name; '' for none. */
    name: string;
  };
  /** Envelope sender, '' for the null reverse-path. */
  sender: string;
  recipients: readonly string[];
  /** Octets. */
  size: number;
  /** Reads the octets from the beginning, each time it is called; an unfinished read is closed. */
  octets(): AsyncIterable<Uint8Array>;
}

/** External program that scans whole messages. */
export interface Scanner {
  /** Display name, at the start of sentences. */
  readonly name: string;
  /** Label in metrics. */
  readonly label: 'rspamd' | 'clamav';
  /** Largest message that is passed to it, octets. */
  readonly maxSize: number;
  /** Rejects with {@link ScanError} if there is no response. `signal` aborts the scan. */
  scan(mail: ScannedMessage, signal: AbortSignal): Promise<readonly Finding[]>;
}

/** Scanner failure; the message is a short reason such as `no response`. */
export class ScanError extends Error {
  override readonly name = 'ScanError';
}

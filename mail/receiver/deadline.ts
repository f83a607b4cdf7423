import type { Limits } from './options.ts';

/** What a session is waiting for, and since when (monotonic milliseconds). */
export type Waiting =
  | { for: 'handshake'; since: number }
  | { for: 'command'; since: number; connected: number; trusted: boolean }
  /** `since` has moved on with what came, see {@link Limits.octetsPerSecond}. */
  | { for: 'octets'; since: number }
  /** The peer does not read. */
  | { for: 'reader'; since: number }
  /** Everything is said; the peer may still be sending. */
  | { for: 'end'; since: number }
  /** For ourselves: that is not the peer's fault. */
  | { for: 'us' };

/** Whether a session has been waited for long enough. RFC 5321 4.5.3.2, and notes of Postfix on stress. */
export function isOverdue(waiting: Waiting, now: number, limits: Limits, stressed: boolean): boolean {
  const commandMs = stressed ? limits.stressedCommandMs : limits.commandMs;
  switch (waiting.for) {
    case 'us':
      return false;
    case 'handshake':
      return now - waiting.since > limits.handshakeMs;
    case 'command':
      // From our answer, not from the last octet: who sends one octet at a time gets no more time for it.
      return now - waiting.since > commandMs || (!waiting.trusted && now - waiting.connected > limits.sessionMs);
    case 'octets':
      return now - waiting.since > commandMs;
    case 'reader':
      return now - waiting.since > limits.slowReaderMs;
    case 'end':
      return now - waiting.since > limits.lingerMs;
  }
}

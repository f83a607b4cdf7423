import type { SmtpLimits } from './options.ts';

/** The event for which a session waits, and since when (monotonic ms). */
export type PendingEvent =
  | { for: 'handshake'; since: number }
  | { for: 'command'; since: number; connected: number; trusted: boolean }
  /** `since` advances with the octets received, see {@link SmtpLimits.octetsPerSecond}. */
  | { for: 'octets'; since: number }
  /** The peer does not read. */
  | { for: 'reader'; since: number }
  /** The last response is written; the peer may still be sending. */
  | { for: 'end'; since: number }
  /** Our own work, which never times out the peer. */
  | { for: 'us' };

/** True if a session exceeds its timeout. RFC 5321 4.5.3.2; Postfix shortens timeouts under stress likewise. */
export function isOverdue(pending: PendingEvent, now: number, limits: SmtpLimits, stressed: boolean): boolean {
  const commandMs = stressed ? limits.stressedCommandMs : limits.commandMs;
  switch (pending.for) {
    case 'us':
      return false;
    case 'handshake':
      return now - pending.since > limits.handshakeMs;
    case 'command':
      // Counts from our response, not from the last octet: single octets must not extend the time.
      return now - pending.since > commandMs || (!pending.trusted && now - pending.connected > limits.sessionMs);
    case 'octets':
      return now - pending.since > commandMs;
    case 'reader':
      return now - pending.since > limits.slowReaderMs;
    case 'end':
      return now - pending.since > limits.lingerMs;
  }
}

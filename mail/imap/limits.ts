/** Limits of the IMAP server. Times in ms, sizes in octets. */
export interface ImapLimits {
  sessionsEachAccount: number;
  commandsEachMinute: number;
  commandsBeforeLogin: number;
  badCommands: number;
  failedLogins: number;
  handshakeMs: number;
  beforeLoginMs: number;
  idleMs: number;
  /** Interval of the untagged OK during IDLE, which keeps NAT mappings alive. */
  keepAliveMs: number;
  /** Time after which a client that reads nothing of a pending response is disconnected. */
  stalledMs: number;
  /** Time for the peer to close, after BYE. */
  closingMs: number;
  messageBytes: number;
  /** Messages of one APPEND. SAVELIMIT of RFC 9738. */
  savedMessages: number;
}

export const DEFAULT_LIMITS: ImapLimits = {
  sessionsEachAccount: 20,
  commandsEachMinute: 2000,
  commandsBeforeLogin: 10,
  badCommands: 20,
  failedLogins: 3,
  handshakeMs: 15_000,
  beforeLoginMs: 60_000,
  // RFC 9051 5.4: at least 30 minutes.
  idleMs: 30 * 60_000,
  keepAliveMs: 120_000,
  stalledMs: 60_000,
  closingMs: 5_000,
  messageBytes: 25 * 1024 * 1024,
  savedMessages: 1000,
};

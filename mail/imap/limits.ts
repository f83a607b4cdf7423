/** Bounds of the IMAP door. Times in ms, sizes in octets. */
export interface ImapLimits {
  sessionsEachAccount: number;
  commandsEachMinute: number;
  commandsBeforeLogin: number;
  badCommands: number;
  failedLogins: number;
  handshakeMs: number;
  beforeLoginMs: number;
  idleMs: number;
  /** How often an IDLEing client hears that we are still here, which also keeps NAT tables warm. */
  keepAliveMs: number;
  /** How long a client that is owed something may take nothing of it. */
  stalledMs: number;
  /** How long a closing connection may wait for the other side. */
  closingMs: number;
  messageBytes: number;
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
};

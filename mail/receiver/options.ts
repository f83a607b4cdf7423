import type { SecureContext } from 'node:tls';
import type { MailGuard } from '../guard/types.ts';
import type { Log, Meter } from '../log.ts';
import type { Logins } from '../login/types.ts';
import type { ReceiverBackend } from './needs.ts';

/** `mx` takes mail from everybody, `submission` from logged-in clients. */
export type SmtpService = 'mx' | 'submission';

export interface SmtpListener {
  service: SmtpService;
  /** `starttls` begins in plaintext and offers STARTTLS; `implicit` begins with the handshake. RFC 8314 3.3. */
  tls: 'starttls' | 'implicit';
  host: string;
  /** 0 takes a free port; see {@link SmtpServer.addresses}. */
  port: number;
}

export interface SmtpClock {
  /** Milliseconds since 1970, for header fields. */
  now(): number;
  /** Monotonic milliseconds, for deadlines: setting the system clock must not end sessions. */
  monotonic(): number;
}

export const systemClock: SmtpClock = { now: () => Date.now(), monotonic: () => performance.now() };

/** Limits of one peer. Those marked (T) do not apply to trusted peers. */
export interface SmtpLimits {
  /** Octets of a command line with CRLF. RFC 5321 4.5.3.1.4 asks for 512. */
  lineOctets: number;
  /** The same for AUTH and its responses. RFC 4954 4. */
  authLineOctets: number;
  /** Recipients of one message. RFC 5321 4.5.3.1.8 asks for 100. */
  recipients: number;
  /** Refused recipients until the session ends (T). */
  failedRecipients: number;
  /** Delay of the response to a refused recipient, from the second on (T). */
  recipientDelayMs: number;
  /** Faulty commands until the session ends. */
  protocolErrors: number;
  /** NOOP, RSET and similar commands since the last message (T). */
  idleCommands: number;
  /** Failed logins until the session ends. */
  failedLogins: number;
  /** Messages in one session (T). RFC 9422 MAILMAX. */
  transactions: number;
  /** From our response to the end of the next command. RFC 5321 4.5.3.2.7 asks for 5 minutes. */
  commandMs: number;
  /** The same while more than {@link stress} of the connections are in use. */
  stressedCommandMs: number;
  stress: number;
  handshakeMs: number;
  /** From the connection to the last command outside of a message (T). */
  sessionMs: number;
  /** While a peer does not read our responses. */
  slowReaderMs: number;
  /** From our last response to the end of the connection. */
  lingerMs: number;
  /**
   * Octets of a message that add a second to its deadline, which is never more than {@link commandMs} ahead: otherwise a
   * connection that dies after much data would be held for hours.
   */
  octetsPerSecond: number;
  /** Delay of the banner on the MX service (T): a peer that talks before it is no mail server. RFC 5321 4.3.1. */
  bannerDelayMs: number;
  /** Time that `close` allows messages in transfer. */
  closeMs: number;
}

export const defaultLimits: SmtpLimits = {
  lineOctets: 2048,
  authLineOctets: 12_288,
  recipients: 100,
  failedRecipients: 5,
  recipientDelayMs: 1000,
  protocolErrors: 10,
  idleCommands: 20,
  failedLogins: 3,
  transactions: 10_000,
  commandMs: 300_000,
  stressedCommandMs: 10_000,
  stress: 0.8,
  handshakeMs: 15_000,
  sessionMs: 1_800_000,
  slowReaderMs: 60_000,
  lingerMs: 5000,
  octetsPerSecond: 500,
  bannerDelayMs: 200,
  closeMs: 25_000,
};

export interface ReceiverOptions {
  /** Host name in the banner, in EHLO and in Received. */
  hostname: string;
  listeners: readonly SmtpListener[];
  backend: ReceiverBackend;
  logins: Logins;
  /**
   * Called at each handshake, with the name that the client sent, so that a renewed certificate needs no restart. Must be
   * created with `minVersion: 'TLSv1.2'`.
   */
  secureContext(serverName?: string): SecureContext;
  limits?: Partial<SmtpLimits>;
  /** Limits connections and records offences by network. */
  guard: MailGuard;
  /** Peers without rate limits. They get no other privilege. */
  exempt(ip: string): boolean;
  /** Reports each accepted connection to the MX service, with the address here that it came to. */
  connected?(ip: string, own: string): void;
  /** Local mode: loopback may log in without TLS and is exempt. */
  local: boolean;
  maxMessageBytes: number;
  log: Log;
  meter: Meter;
  clock?: SmtpClock;
}

/** Options with defaults filled in, shared by all sessions. */
export interface ResolvedReceiverOptions extends Omit<ReceiverOptions, 'limits' | 'clock' | 'listeners'> {
  limits: SmtpLimits;
  clock: SmtpClock;
}

import type { SecureContext } from 'node:tls';
import type { MailGate } from '../guard/types.ts';
import type { Log, Meter } from '../log.ts';
import type { Logins } from '../login/types.ts';
import type { Intake } from './needs.ts';

export type Door = 'mx' | 'submission';

export interface Listener {
  door: Door;
  /** `starttls` begins in the clear and offers STARTTLS; `implicit` begins with the handshake. RFC 8314 3.3. */
  tls: 'starttls' | 'implicit';
  host: string;
  /** 0 takes a free port; {@link Receiver.addresses} tells which. */
  port: number;
}

export interface Clock {
  /** Milliseconds since 1970, for what people read. */
  now(): number;
  /** Milliseconds that only grow, for deadlines: a clock set by an operator must not end sessions. */
  monotonic(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** Bounds on what a peer may use. Those marked (T) are not applied to trusted peers. */
export interface Limits {
  /** Octets of a command line with CRLF. RFC 5321 4.5.3.1.4 asks for 512. */
  lineOctets: number;
  /** The same for AUTH and its responses. RFC 4954 4. */
  authLineOctets: number;
  /** Recipients of one message. RFC 5321 4.5.3.1.8 asks for 100. */
  recipients: number;
  /** The refused recipient that ends the session (T). */
  failedRecipients: number;
  /** Wait before the answer to a refused recipient, from the second on (T). */
  recipientDelayMs: number;
  /** The faulty command that ends the session. */
  protocolErrors: number;
  /** NOOP, RSET and their like since the last message (T). */
  idleCommands: number;
  /** The failed login that ends the session. */
  failedLogins: number;
  /** Messages in one session (T). RFC 9422 MAILMAX. */
  transactions: number;
  /** From our answer to the end of the next command. RFC 5321 4.5.3.2.7 asks for 5 minutes. */
  commandMs: number;
  /** The same while more than {@link stress} of the places are taken. */
  stressedCommandMs: number;
  stress: number;
  handshakeMs: number;
  /** From the connection to the last command outside of a message (T). */
  sessionMs: number;
  /** While a peer does not read our answers. */
  slowReaderMs: number;
  /** From our last word to the end of the connection. */
  lingerMs: number;
  /**
   * Octets of a message that buy a second more, up to {@link commandMs} ahead and no further: what has come is no leave
   * to fall silent, for then a line that went dead would be held for hours.
   */
  octetsPerSecond: number;
  /** Wait before the banner on the MX door (T); who talks before it is not a mail server. RFC 5321 4.3.1. */
  bannerDelayMs: number;
  /** How long `close` waits for messages that are being taken. */
  closeMs: number;
}

export const defaultLimits: Limits = {
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
  /** Our name in the banner, in EHLO and in Received. */
  hostname: string;
  listeners: readonly Listener[];
  intake: Intake;
  logins: Logins;
  /** Asked at each handshake, so a renewed certificate needs no restart. Must be made with `minVersion: 'TLSv1.2'`. */
  secureContext(): SecureContext;
  limits?: Partial<Limits>;
  /** Who may come in, and what speaks against whom. */
  guard: MailGate;
  /** Peers whose pace is not limited. They are not trusted with anything else. */
  exempt(ip: string): boolean;
  /** Local mode: loopback may log in without TLS and is exempt. */
  local: boolean;
  maxMessageBytes: number;
  log: Log;
  meter: Meter;
  clock?: Clock;
}

/** What every session of a receiver shares. */
export interface Settled extends Omit<ReceiverOptions, 'limits' | 'clock' | 'listeners'> {
  limits: Limits;
  clock: Clock;
}

import type { Login, Peer } from '../login/types.ts';
import type { Address } from '../message/address.ts';
import type { BdatReader } from '../smtp/bdat-reader.ts';
import type { MessageFlaw } from '../smtp/data-reader.ts';
import type { EnvelopeRecipient } from './needs.ts';
import type { ResolvedReceiverOptions, SmtpService } from './options.ts';
import type { SmtpResponse } from './response.ts';

/** The transfer of one message, by DATA or BDAT. */
export interface OpenTransfer {
  /** Octets received, discarded ones included. */
  readonly octets: number;
  /** True when nothing of the message will be stored. */
  readonly discarded: boolean;
  /** Takes octets of the message. Never rejects. */
  take(octets: Buffer): Promise<void> | undefined;
  /** Counts octets and discards the whole message. */
  discard(octets: number): void;
  /** Answers the whole message. Resolves after the commit; never rejects. */
  finish(flaw: MessageFlaw | undefined): SmtpResponse | Promise<SmtpResponse>;
  /** Discards a message that the peer did not complete, and counts it. */
  abandon(): void;
}

/** A mail transaction: the parameters of MAIL and RCPT. RFC 5321 3.3. */
export interface MailTransaction {
  /** Trace id under which the message is logged and journaled. */
  readonly id: string;
  readonly sender: Address | undefined;
  readonly smtputf8: boolean;
  readonly body: '7BIT' | '8BITMIME';
  readonly ret: 'FULL' | 'HDRS' | undefined;
  readonly envid: string | undefined;
  readonly requireTls: boolean;
  /** Octets announced with SIZE. */
  readonly size: number | undefined;
  readonly recipients: EnvelopeRecipient[];
  /** Set by DATA and by the first BDAT: from then on the envelope is closed. */
  transfer: OpenTransfer | undefined;
  /** Set by the first BDAT. */
  chunks: BdatReader | undefined;
}

/** Counts of one session that are limited. */
export interface SessionCounters {
  transactions: number;
  failedRecipients: number;
  /** Temporarily refused recipients since the last message. */
  deferredRecipients: number;
  protocolErrors: number;
  idleCommands: number;
  failedLogins: number;
}

/** The state of a session that commands read and change. They have no access to the socket. */
export interface SmtpSessionState {
  readonly options: ResolvedReceiverOptions;
  readonly service: SmtpService;
  readonly peer: { readonly ip: string; readonly port: number };
  /** Exempt from rate limits: exempt networks, and loopback in local mode. */
  readonly trusted: boolean;
  tls: boolean;
  /** Passwords may be sent: TLS, or loopback in local mode. */
  secure: boolean;
  /** The argument of HELO or EHLO. */
  greeting: string | undefined;
  /** True after EHLO. */
  extended: boolean;
  login: Login | undefined;
  transaction: MailTransaction | undefined;
  readonly counters: SessionCounters;
  /** Sets the login; the session ends when its credential does. */
  logIn(login: Login): void;
}

/**
 * The client of a login attempt. No channel binding, so that SCRAM-SHA-256-PLUS is not offered: programs with GNU SASL (neomutt)
 * choose it without having the data of the connection, and try nothing else for SMTP.
 */
export function loginPeer({ peer, secure }: SmtpSessionState): Peer {
  return { ip: peer.ip, protocol: 'submission', secure };
}

/** Discards the transaction and nothing else. RFC 5321 4.1.1.5. */
export function resetTransaction(session: SmtpSessionState): void {
  session.transaction?.transfer?.abandon();
  session.transaction = undefined;
}

/** Ends the transaction when the last octet of its message has come: the next command is about another message. */
export function endTransaction(session: SmtpSessionState): void {
  session.transaction = undefined;
  session.counters.idleCommands = 0;
  session.counters.deferredRecipients = 0;
}

/** Discards everything that was received before STARTTLS. RFC 3207 4.2. */
export function discardPlaintextState(session: SmtpSessionState): void {
  resetTransaction(session);
  session.greeting = undefined;
  session.extended = false;
  session.login = undefined;
}

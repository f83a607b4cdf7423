import type { Address } from '../message/address.ts';
import type { Login } from '../login/types.ts';
import type { BdatReader } from '../smtp/bdat-reader.ts';
import type { Incoming } from './incoming.ts';
import type { Recipient } from './needs.ts';
import type { Door, Settled } from './options.ts';

/** A message on its way: what MAIL and RCPT have said. RFC 5321 3.3. */
export interface Transaction {
  /** The id under which this message is logged, journaled and traced. */
  readonly id: string;
  readonly sender: Address | undefined;
  readonly smtputf8: boolean;
  readonly body: '7BIT' | '8BITMIME';
  readonly ret: 'FULL' | 'HDRS' | undefined;
  readonly envid: string | undefined;
  readonly requireTls: boolean;
  /** Octets that the client announced with SIZE. */
  readonly size: number | undefined;
  readonly recipients: Recipient[];
  /** Set by DATA and by the first BDAT: from then on the envelope is closed. */
  incoming: Incoming | undefined;
  /** Set by the first BDAT: what has been read of the message by its chunks. */
  chunks: BdatReader | undefined;
}

/** What the peer has done so far that counts against it. */
export interface Tally {
  transactions: number;
  failedRecipients: number;
  /** Recipients that could not be taken for now, since the last message. */
  postponedRecipients: number;
  protocolErrors: number;
  idleCommands: number;
  failedLogins: number;
}

/** One session as its commands see it: state without a socket. They read and change it, the loop does the rest. */
export interface Conversation {
  readonly settled: Settled;
  readonly door: Door;
  readonly peer: { readonly ip: string; readonly port: number };
  /** Not limited in pace: exempt networks, and loopback in local mode. */
  readonly trusted: boolean;
  tls: boolean;
  /** Passwords may pass here. */
  secure: boolean;
  /** The name of HELO or EHLO. */
  greeting: string | undefined;
  /** True after EHLO. */
  extended: boolean;
  login: Login | undefined;
  transaction: Transaction | undefined;
  readonly tally: Tally;
  /** Takes a login; the session ends when its credential does. */
  enter(login: Login): void;
}

/** RFC 5321 4.1.1.5: forgets the message under way and nothing else. */
export function resetTransaction(session: Conversation): void {
  session.transaction?.incoming?.abandon();
  session.transaction = undefined;
}

/** Closes the envelope when the last octet of its message has come: the next command is about another message. */
export function endTransaction(session: Conversation): void {
  session.transaction = undefined;
  session.tally.idleCommands = 0;
  session.tally.postponedRecipients = 0;
}

/** After STARTTLS nothing that was said in the clear counts. RFC 3207 4.2. */
export function forgetPlaintext(session: Conversation): void {
  resetTransaction(session);
  session.greeting = undefined;
  session.extended = false;
  session.login = undefined;
}

import type { Address } from '../message/address.ts';
import type { Login } from '../login/types.ts';
import type { Departed } from '../store/departed.ts';

/** What a recipient address means to this box. Decided by `delivery/route`, answered by the RCPT command. */
export type Route =
  /** A mailbox, alias or detail address of this box. */
  | { kind: 'here'; accounts: readonly number[]; address: Address; forwards?: boolean; aliases?: readonly number[] }
  /** No mailbox; mail for it goes on to other addresses. */
  | { kind: 'forward'; address: Address }
  /** A sender that this box rewrote when it forwarded: a report for it goes to the original one. */
  | { kind: 'return'; to: Address }
  /** No mailbox, and no forward of it passes anything on for now. */
  | { kind: 'waiting' }
  /** The sender of one copy that left from here: what comes is a report about it, or an answer. */
  | { kind: 'report'; copy: Departed }
  /** Made for answers to one letter of the box: what comes is read by whoever wrote that. */
  | { kind: 'answer' }
  | { kind: 'unknown' }
  | { kind: 'unverified' }
  | { kind: 'full' }
  /** An alias that was made for a while, or for some messages, and takes no more. */
  | { kind: 'over' }
  /** Everybody whom it leads to blocks who sends this. */
  | { kind: 'blocked' }
  /** A domain that this box does not host. */
  | { kind: 'elsewhere' };

/** DSN parameters of one recipient, already decoded from xtext. RFC 3461 4. */
export interface DsnRecipient {
  notify?: readonly ('NEVER' | 'SUCCESS' | 'FAILURE' | 'DELAY')[];
  orcpt?: string;
}

/** `paused`: the address is one's own, but the records of its domain have been wrong for days. */
export type Sending = 'own' | 'paused' | 'foreign';

export interface Recipient {
  address: Address;
  route: Route;
  dsn: DsnRecipient;
}

/** One SMTP transaction as it stands when DATA or the last BDAT begins. */
export interface Envelope {
  /** The trace id under which everything about this message is logged and journaled. */
  id: string;
  door: 'mx' | 'submission';
  /** Envelope sender; undefined is the null reverse-path. */
  sender: Address | undefined;
  recipients: readonly Recipient[];
  /** Present on the submission door. */
  login: Login | undefined;
  smtputf8: boolean;
  body: '7BIT' | '8BITMIME';
  ret: 'FULL' | 'HDRS' | undefined;
  envid: string | undefined;
  /** RFC 8689. */
  requireTls?: boolean;
  /** Octets that SIZE announced: RCPT has asked whether there is room for them. */
  size?: number | undefined;
  /** The Received field for this transaction, complete with CRLF; the first bytes of the stored message. RFC 5321 4.4. */
  received: string;
  peer: { ip: string; port: number; helo: string; tls: boolean };
}

export interface Refusal {
  kind: 'refused';
  code: number;
  enhanced: string;
  text: string;
}

/** Takes the bytes of one message, dots removed, exactly as they came. */
export interface MessageSink {
  /** A promise means: wait for it before the next chunk. The sink copies nothing that it was given away: it owns `chunk`. */
  write(chunk: Buffer): Promise<void> | undefined;
  /** Resolves after the commit. Rejecting means "later" (451); the sink has logged why. */
  finish(): Promise<{ kind: 'accepted' } | Refusal>;
  /** Forgets everything; nothing of the message stays on disk. */
  abort(): void;
}

/** What MAIL said of the message that a recipient is named for, and who said it. */
export interface Announced {
  /** Undefined is the null reverse-path. */
  sender: Address | undefined;
  ip: string;
  /** Octets; undefined where SIZE was not given. */
  size: number | undefined;
}

/** What the SMTP door needs of the rest of the system. */
export interface Intake {
  /** `login` is set on the submission door. */
  route(to: Address, login: Login | undefined, announced?: Announced): Route | Promise<Route>;
  /** "Later" for a stranger who has to come again first; left out where nobody has to. */
  postpone?(contact: {
    ip: string;
    sender: Address | undefined;
    to: Address;
    route: Route;
  }): Promise<Refusal | undefined>;
  /** Whether this login may use this envelope sender; undefined sender is the null reverse-path. */
  maySend(login: Login, sender: Address | undefined): Sending | Promise<Sending>;
  /** A refusal now, before any byte, when the disk is nearly full or the store cannot write. */
  ready(): Refusal | undefined;
  open(envelope: Envelope): MessageSink;
  /** The door closes: answers that are held back are given now. */
  close?(): void;
}

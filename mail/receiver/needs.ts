import type { Login } from '../login/types.ts';
import type { Address } from '../message/address.ts';
import type { SentCopy } from '../store/queue/sent-copies.ts';

/** The handling of mail for a recipient address. Decided by `delivery/route`, answered by the RCPT command. */
export type RecipientRoute =
  /** A mailbox, alias or detail address of this server. */
  | {
      kind: 'here';
      accounts: readonly number[];
      address: Address;
      forwards?: boolean;
      aliases?: readonly number[];
      /** Octets that the quota of the only account had left; undefined: not known. */
      room?: number;
    }
  /** No mailbox; its mail is forwarded to other addresses. */
  | { kind: 'forward'; address: Address }
  /** A sender that was rewritten here (SRS): reports go to the original one. */
  | { kind: 'return'; to: Address }
  /** No mailbox, and none of its forwards is active. */
  | { kind: 'waiting' }
  /** The envelope sender of one copy that was sent from here: its mail is reports and replies. */
  | { kind: 'report'; copy: SentCopy }
  /** The reply address of one notice of this server. */
  | { kind: 'answer' }
  /** The address for DMARC and TLS reports about a hosted domain, by its row. */
  | { kind: 'reports'; domain: number }
  | { kind: 'unknown' }
  /** A deleted mailbox that can be restored. */
  | { kind: 'deleted' }
  | { kind: 'unverified' }
  | { kind: 'full' }
  /** An alias that has expired, or has accepted its number of messages. */
  | { kind: 'over' }
  /** All its accounts block this sender. */
  | { kind: 'blocked' }
  /** A domain that is not hosted here. */
  | { kind: 'elsewhere' };

/** DSN parameters of one recipient, decoded from xtext. RFC 3461 4. */
export interface DsnParameters {
  notify?: readonly ('NEVER' | 'SUCCESS' | 'FAILURE' | 'DELAY')[];
  orcpt?: string;
}

/** `paused`: the address belongs to the login, but the DNS records of its domain have been wrong for days. */
export type SenderPermission = 'own' | 'paused' | 'foreign';

export interface EnvelopeRecipient {
  address: Address;
  route: RecipientRoute;
  dsn: DsnParameters;
}

/** The envelope of one message when DATA or the first BDAT begins. */
export interface MessageEnvelope {
  /** Trace id under which the message is logged and journaled. */
  id: string;
  service: 'mx' | 'submission';
  /** Undefined: the null reverse-path. */
  sender: Address | undefined;
  recipients: readonly EnvelopeRecipient[];
  /** Set on the submission service. */
  login: Login | undefined;
  smtputf8: boolean;
  body: '7BIT' | '8BITMIME';
  ret: 'FULL' | 'HDRS' | undefined;
  envid: string | undefined;
  /** RFC 8689. */
  requireTls?: boolean;
  /** Octets announced with SIZE; RCPT has checked that they fit. */
  size?: number | undefined;
  /** The Received field with its CRLF: the first octets of the stored message. RFC 5321 4.4. */
  received: string;
  peer: { ip: string; port: number; helo: string; tls: boolean };
}

export interface SmtpRefusal {
  kind: 'refused';
  code: number;
  enhanced: string;
  text: string;
}

/** Takes the octets of one message without dot-stuffing. */
export interface MessageSink {
  /** Owns `chunk` from then on. A promise must be awaited before the next chunk. */
  write(chunk: Buffer): Promise<void> | undefined;
  /** Resolves after the commit. An error is answered with 451 and logged by the caller. */
  finish(): Promise<{ kind: 'accepted' } | SmtpRefusal>;
  /** Discards the message and its file. */
  abort(): void;
}

/** The peer and the parameters of MAIL, as far as they decide about a recipient. */
export interface SenderFacts {
  /** Undefined: the null reverse-path. */
  sender: Address | undefined;
  ip: string;
  /** Octets; undefined without SIZE. */
  size: number | undefined;
}

/** The services that the SMTP server needs. */
export interface ReceiverBackend {
  /** `login` is set on the submission service. */
  route(to: Address, login: Login | undefined, from?: SenderFacts): RecipientRoute | Promise<RecipientRoute>;
  /** Defers a first attempt from an unknown sender; left out: no greylisting. */
  greylist?(attempt: {
    ip: string;
    sender: Address | undefined;
    to: Address;
    route: RecipientRoute;
  }): Promise<SmtpRefusal | undefined>;
  /** Checks if the login may use an envelope sender; undefined is the null reverse-path. */
  maySend(login: Login, sender: Address | undefined): SenderPermission | Promise<SenderPermission>;
  /** Refuses all messages while the disk is nearly full or the store cannot write. */
  refuseNow(): SmtpRefusal | undefined;
  open(envelope: MessageEnvelope): MessageSink;
  /** Called when the server closes: ends delays of replies. */
  close?(): void;
}

/** Stores messages to the report addresses of hosted domains. They are read later, and never into a mailbox. */
export interface ReportInbox {
  /** Finds the row of the domain whose reports an address receives; undefined for any other address. */
  find(to: Address): Promise<number | undefined>;
  /** Stores a message. Resolves after the commit. `full`: too many wait. */
  store(report: {
    domain: number;
    trace: string;
    verified: string;
    parts: string;
    octets: Uint8Array;
  }): Promise<'stored' | 'full'>;
}

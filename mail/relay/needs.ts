import type { KeyObject } from 'node:crypto';
import type { ChainStatus } from '../auth/authentication.ts';
import type { Address } from '../message/address.ts';
import type { TlsResult } from '../store/tls-result.ts';

/** How a row leaves. Numbers are those of smarthosts. */
export interface Way {
  /** The smarthost that takes it; undefined: the receiver's own mail servers. */
  via: number | undefined;
  /** The smarthost that is tried when the receiver's own servers refuse this box. */
  failover: number | undefined;
}

/** A queue row that the relay may try: one recipient of one message. */
export interface QueueItem {
  id: number;
  /** Trace id of the message. */
  trace: string;
  /** Rows with the same message, sender and destination may share one transaction on the wire. */
  message: number;
  sender: Address | undefined;
  recipient: Address;
  /** Destination domain in A-labels. */
  domain: string;
  /** Whose turn it takes: the tenant, and within it one sender. */
  tenant: number;
  owner: number;
  /** What this sender has waiting for this destination has one number. */
  lane: number;
  way: Way;
  /** Attempts recorded so far, this one not counted. */
  attempts: number;
  /** When it was queued and when it is due, ms UTC. */
  queuedAt: number;
  nextAt: number;
  smtputf8: boolean;
  eightBit: boolean;
  notify: string;
  orcpt: string;
  envid: string;
  ret: string;
  /** The sender asked for TLS all the way: REQUIRETLS. RFC 8689 */
  requireTls?: boolean;
  /** Octets of the message without our signatures. */
  size: number;
  /** Whether the sender was told of the delay already. */
  delayTold: boolean;
  /**
   * Domains in whose name it may be signed: those of the checked From addresses. Without it the envelope sender's domain
   * signs, never an unchecked From: a forwarded message must not be vouched for in the name of its forged author.
   */
  signAs?: readonly string[];
  /** Whose domains of ours among these were when it was taken, by their names: the keys of others are not for it. */
  signers?: Readonly<Record<string, number>>;
  /** What an ARC seal on it says of the chain before; none is put on without it. RFC 8617 5.1. */
  arc?: ChainStatus;
}

/** How an attempt ended for one recipient. Texts from peers are sanitised by the relay's client. */
export interface AttemptResult {
  id: number;
  /** Of the message, and the recipient: for the journal, also when the row is gone by now. */
  trace?: string;
  to?: string;
  outcome: 'delivered' | 'failed' | 'deferred';
  /** Remote host name and address, empty when none was reached. */
  host: string;
  ip: string;
  /** SMTP reply code, 0 when there was none. */
  code: number;
  /** Enhanced status code, always present: made from the code or the kind of failure when the peer sent none. */
  status: string;
  /** The peer's reply or our own sentence, one line. */
  text: string;
  /** Version, cipher and how it was verified; `none`; '' when no server was reached. */
  tls: string;
  /** Connections that this attempt made, to be counted in its commit. RFC 8460 */
  tlsResults?: readonly TlsResult[];
  at: number;
  /** For 'deferred': the next attempt, ms UTC. */
  nextAt: number;
  /** For 'deferred': the smarthost by which it leaves from now on. */
  via?: number;
}

/** One look at what is due. */
export interface Look {
  now: number;
  /** Rows at most. */
  limit: number;
  /** Lanes that are left out: they have rows in memory. */
  lanes: readonly number[];
  /** Senders that are left out: they have their share in memory. */
  owners: readonly number[];
  /** Goes on behind this sender; undefined begins with the first. */
  after: number | undefined;
}

/** What the relay needs of the store. Every call that writes resolves after the commit. */
export interface Queue {
  /**
   * Due rows, sender after sender; `next` is where the next look goes on, undefined at the end. Rows whose nextAt is
   * further ahead than LONGEST_WAIT of schedule.ts count as due: a clock that has since been put back wrote them.
   */
  due(look: Look): Promise<{ items: QueueItem[]; next: number | undefined }>;
  /** When the next row will be due, ms UTC, or undefined for an empty queue. */
  nextDue(): Promise<number | undefined>;
  /**
   * Records an attempt before dialling: attempts + 1 and the next time, so that a crash cannot hammer the remote.
   * Answers the ids that are still there to be tried (not cancelled or held meanwhile).
   */
  begin(items: readonly { id: number; nextAt: number }[]): Promise<number[]>;
  /** Records results; a failed row and its bounce, made by `bounce`, are one commit. */
  finish(results: readonly AttemptResult[], bounces: readonly BounceMessage[]): Promise<void>;
  /** The message as it was accepted, in chunks of at most 64 KiB. */
  content(message: number): AsyncIterable<Buffer>;
  /** Calls back when rows may have become due. */
  onChange(listener: () => void): () => void;
}

/** A DSN that the relay composed: a delivery like any other. RFC 3464. */
export interface BounceMessage {
  /** Who gets it: the envelope sender of what failed. Never the null reverse-path. */
  recipient: Address;
  /** The queue rows that it speaks of. */
  about: readonly number[];
  kind: 'failure' | 'delay' | 'success';
  bytes: Buffer;
}

/** Keys that sign what leaves from a domain. */
export interface SigningKey {
  domain: string;
  selector: string;
  algorithm: 'rsa-sha256' | 'ed25519-sha256';
  /** PKCS#8 PEM or a KeyObject made from it. */
  key: KeyObject;
}

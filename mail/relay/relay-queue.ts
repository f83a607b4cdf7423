import type { KeyObject } from 'node:crypto';
import type { ChainStatus } from '../auth/authentication.ts';
import type { Address } from '../message/address.ts';
import type { AttemptResult } from '../store/queue/queue.ts';

/** Next hop of a row; numbers are smarthost ids. */
export interface NextHop {
  /** Smarthost; undefined: direct delivery. */
  via: number | undefined;
  /** Smarthost that is used if the destination rejects this box. */
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
  /** Tenant and sender for fair scheduling. */
  tenant: number;
  owner: number;
  /** Id of this sender's rows for this destination (queue lane). */
  ownerDestination: number;
  nextHop: NextHop;
  /** Recorded attempts, without this one. */
  attempts: number;
  /** Queue time and due time, ms UTC. */
  queuedAt: number;
  nextAt: number;
  smtputf8: boolean;
  eightBit: boolean;
  notify: string;
  orcpt: string;
  envid: string;
  ret: string;
  /** REQUIRETLS. RFC 8689. */
  requireTls?: boolean;
  /** Octets of the message without our signatures. */
  size: number;
  /** A delay report was already sent. */
  delayReported: boolean;
  /**
   * Domains that sign it: those of the verified From addresses. Left out: the domain of the envelope sender, never an
   * unverified From: a forwarded message must not be signed in the name of a forged author.
   */
  signAs?: readonly string[];
  /** Owner tenants of these domains when it was accepted: keys of other tenants are not used. */
  signers?: Readonly<Record<string, number>>;
  /** ARC chain status for the seal; left out: no seal. RFC 8617 5.1. */
  arc?: ChainStatus;
}

/** Query for due rows. */
export interface DueQuery {
  now: number;
  /** Maximum rows. */
  limit: number;
  /** Excluded lanes: their rows are in memory. */
  lanes: readonly number[];
  /** Excluded senders: their share of memory is used. */
  owners: readonly number[];
  /** Continues after this sender; undefined: the first. */
  after: number | undefined;
}

/** Queue of the relay. Writes resolve after the commit. */
export interface RelayQueue {
  /**
   * Reads due rows by sender; `next`: continuation, undefined at the end. Rows whose nextAt is
   * further ahead than MAX_RETRY_DELAY of schedule.ts count as due: the clock was set back since.
   */
  due(look: DueQuery): Promise<{ items: QueueItem[]; next: number | undefined }>;
  /** Due time of the next row, ms UTC; undefined for an empty queue. */
  nextDue(): Promise<number | undefined>;
  /**
   * Records attempts before they start: attempts + 1 and the retry time, so that a crash loop cannot hammer the server.
   * Returns the ids that are still due (not canceled or held meanwhile).
   */
  begin(items: readonly { id: number; nextAt: number }[]): Promise<number[]>;
  /** Records results; a failed row and its bounce are one commit. */
  finish(results: readonly AttemptResult[], bounces: readonly BounceMessage[]): Promise<void>;
  /** Reads the message as accepted, in chunks of at most 64 KiB. */
  content(message: number): AsyncIterable<Buffer>;
  /** Calls back when rows may have become due. */
  onChange(listener: () => void): () => void;
}

/** A DSN that the relay composed: a delivery like any other. RFC 3464. */
export interface BounceMessage {
  /** Envelope sender of the message; never null. */
  recipient: Address;
  /** Queue rows that it reports. */
  about: readonly number[];
  kind: 'failure' | 'delay' | 'success';
  bytes: Buffer;
}

/** DKIM key of a domain. */
export interface SigningKey {
  domain: string;
  selector: string;
  algorithm: 'rsa-sha256' | 'ed25519-sha256';
  /** PKCS#8 PEM or a KeyObject made from it. */
  key: KeyObject;
}

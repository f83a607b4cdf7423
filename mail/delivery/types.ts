import type { ChainStatus } from '../auth/authentication.ts';
import type { MessageFacts, MessageIndex } from '../message/index-types.ts';
import type { NewQueueRow } from '../store/queue/queue.ts';
import type { Filing } from './filing.ts';

/** One local recipient: where the message goes and the header lines that are this recipient's own. */
export interface Delivery {
  account: number;
  /** The recipient address as it was given. */
  to: string;
  /** `Return-Path` and `Delivered-To`, one character an octet, each line with its CRLF. */
  trace: string;
  /** Aliases by which it came; they count it, and may be used up. */
  aliases?: readonly number[];
  /** No webhook or push notification. */
  quiet?: boolean;
  /** Filing by the filter; without one it goes to the inbox. */
  filing?: Filing;
  /**
   * The message was accepted long ago, and nobody can be asked to send it again: a mailbox that was deleted since keeps it
   * too, as long as it can be restored. Otherwise the delivery to a deleted mailbox fails.
   */
  evenIfDeleted?: boolean;
}

/** One copy that is forwarded to a remote address. */
export interface ForwardedCopy {
  tenant: number;
  /** Envelope sender, '' for the null reverse-path. */
  sender: string;
  /** Domains that sign it; null: none. */
  signAs: readonly string[] | null;
  /** Header lines of this copy, one character per octet. */
  prefix: string;
  /** Address key of the forward's source, for its limit; '' if it is no forward. */
  source?: string;
  /** Aliases by which it came; they count it, and may be used up. */
  aliases?: readonly number[];
  /** Status of the ARC seal to add; '' for none. */
  arc?: ChainStatus | '';
  smtputf8: boolean;
  row: NewQueueRow;
}

/** A message sent by an account, a program, or the box itself. */
export interface OutgoingMessage {
  trace: string;
  /** Null: a program, or the box itself. */
  account: number | null;
  tenant: number;
  /** Envelope sender, '' for the null reverse-path. */
  sender: string;
  smtputf8: boolean;
  eightBit: boolean;
  ret: string;
  envid: string;
  /** Domains of the verified authors: their keys sign it, so that it passes DMARC. */
  signAs: readonly string[];
  /** REQUIRETLS: bounced unless every hop has TLS. RFC 8689. */
  requireTls?: boolean;
  /** Local deliveries, in the same commit. */
  here: readonly Delivery[];
  /**
   * Local recipients as named, if they differ from `here`: some only forward, and the sender must not learn the targets.
   */
  local?: readonly string[];
  elsewhere: readonly NewQueueRow[];
  /** Copies that local recipients forward. */
  onward?: readonly ForwardedCopy[];
  /** The agent that sends it; null or left out: a person, a program, the box. */
  by?: string | null;
  /** Sender that is watched for anomalies; '' or left out: none. */
  sentBy?: string;
  /** Account whose Sent mailbox gets a copy. */
  copyFor?: number | null;
  /** Reason why remote mail is held; null: none. */
  hold: string | null;
  data: Uint8Array | null;
  file: { file: string; size: number } | null;
  /** The complete index if a local account gets it: recipients of `here`, or `copyFor`. */
  index: MessageFacts | MessageIndex;
  /** Success report about local recipients, in the same commit. */
  report?: OutgoingMessage;
  /** DSN parameters of local recipients of a scheduled message: its report is composed when it is sent. */
  dsnRequests?: readonly DsnRequest[];
}

/** DSN parameters of one recipient. RFC 3461 4. */
export type DsnRequest = Pick<NewQueueRow, 'recipient' | 'notify' | 'orcpt'>;

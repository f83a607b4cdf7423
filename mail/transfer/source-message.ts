import type { NamedFlags } from '../store/mailbox/flags.ts';
import type { MailboxRole } from '../store/mailbox/mailbox.ts';

/** One message of a file. */
export interface SourceMessage {
  /** Name of the folder, with '/' between levels; '' for that of the import. */
  folder: string;
  role?: MailboxRole | undefined;
  flags: NamedFlags;
  /** The keywords may be words of its sender: they are from a field that may have come with the message. */
  sendersKeywords?: boolean;
  /** ms UTC; undefined: taken from the message. */
  receivedAt: number | undefined;
  /** Place in the source, for the report. */
  place: string;
  octets: AsyncIterable<Buffer>;
  /** Says in the report what was left out. */
  note?: string;
}

/** Something of a source that is no message, and why it was skipped. */
export interface SkippedEntry {
  place: string;
  problem: string;
}

export type SourceItem = { message: SourceMessage } | { skipped: SkippedEntry };

/** Octets that can be read at any position. */
export interface RandomReader {
  readonly size: number;
  /** Fewer octets than asked for: the end. */
  read(position: number, length: number): Promise<Buffer>;
}

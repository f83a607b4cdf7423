import { readableOctets } from '../../store/blob/unreadable.ts';
import { redacted } from '../../agents/quarantine/redact.ts';
import type { EmailRow } from '../../store/message/email-rows.ts';
import { blobId } from '../core/ids.ts';
import type { JmapContext } from '../core/method.ts';

/** A stored or parsed message: its indexed data and access to its octets. */
export interface MessageSource {
  /** Trace fields before the stored octets, as latin1. */
  trace: string;
  /** Header length in the stored octets, with the empty line. */
  headerLength: number;
  /** Wire-ready ENVELOPE and BODYSTRUCTURE, and the part table. */
  envelope: string;
  bodyStructure: string;
  parts: string;
  preview: string;
  hasAttachment: boolean;
  /** Reads octets; offset 0 is the first octet after the trace. Returns fewer at the end. */
  read(start: number, length: number): Promise<Buffer>;
  /** Blob id of a part; null if it cannot be downloaded. */
  partBlobId(path: string): string | null;
}

/** A stored message, redacted for programs. Data not read from the store is empty. */
export function storedSource(context: Pick<JmapContext, 'store'>, row: EmailRow, isHuman: boolean): MessageSource {
  const from = isHuman ? null : row.redactedFrom;
  const length = row.size - row.trace.length;
  return {
    trace: row.trace,
    headerLength: row.listing?.headerLength ?? 0,
    envelope: row.listing?.envelope ?? '',
    bodyStructure: row.structure?.bodyStructure ?? '',
    parts: row.structure?.parts ?? '[]',
    preview: row.listing?.preview ?? '',
    hasAttachment: row.hasAttachment,
    async read(start, octets) {
      const stored = await context.store.blob(row.blob, start, Math.min(octets, length - start)).catch(readableOctets);
      return from === null ? stored : redacted(stored, start, from);
    },
    partBlobId: (path) => blobId({ kind: 'part', email: row.id, path }),
  };
}

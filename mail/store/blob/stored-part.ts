import { type Part, unpackParts } from '../../message/parts.ts';
import { lookup } from '../engine/types.ts';

/** Location of the octets of a message, its trace header lines, and its parts. */
export interface StoredParts {
  trace: string;
  blob: number;
  /** Octet of the blob from which agents get redacted content; null: nothing is redacted. */
  redactedFrom: number | null;
  /** Octets of trace and blob together. */
  size: number;
  parts: Part[];
}

/** A message in an existing mailbox; for JMAP an expunged one does not exist. */
export const storedParts = lookup(
  'stored-parts',
  async (rx, input: { account: number; email: number }): Promise<StoredParts | undefined> => {
    const row = await rx.get<{
      blob_id: number;
      redacted_from: number | null;
      size: number;
      trace: string;
      parts: string;
    }>(
      `SELECT e.blob_id, e.redacted_from, e.size, e.trace, m.parts FROM email e JOIN email_meta m ON m.email_id = e.id
       WHERE e.id = ? AND e.account_id = ? AND EXISTS (SELECT 1 FROM entry n JOIN mailbox b ON b.id = n.mailbox_id
         WHERE n.email_id = e.id AND b.deleted_at IS NULL)`,
      input.email,
      input.account,
    );
    if (row === undefined) return undefined;
    const { blob_id: blob, redacted_from: redactedFrom, size, trace, parts } = row;
    return { trace, blob, redactedFrom, size, parts: unpackParts(parts) };
  },
);

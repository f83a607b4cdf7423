import { type Part, unpackParts } from '../message/parts.ts';
import { query } from './engine/types.ts';

/** Where the octets of a message are, with the lines of its own that stand before them, and its parts. */
export interface StoredParts {
  trace: string;
  blob: number;
  /** Octet of the blob from which on programs are shown nothing of it; null: they are shown all. */
  veiledFrom: number | null;
  /** Octets of trace and blob together. */
  size: number;
  parts: Part[];
}

/** A message that stands in a mailbox which is there: for JMAP an expunged one does not exist. */
export const storedParts = query(
  'stored-parts',
  async (rx, input: { account: number; email: number }): Promise<StoredParts | undefined> => {
    const row = await rx.get<{
      blob_id: number;
      veiled_from: number | null;
      size: number;
      trace: string;
      parts: string;
    }>(
      `SELECT e.blob_id, e.veiled_from, e.size, e.trace, m.parts FROM email e JOIN email_meta m ON m.email_id = e.id
       WHERE e.id = ? AND e.account_id = ? AND EXISTS (SELECT 1 FROM entry n JOIN mailbox b ON b.id = n.mailbox_id
         WHERE n.email_id = e.id AND b.gone_at IS NULL)`,
      input.email,
      input.account,
    );
    if (row === undefined) return undefined;
    const { blob_id: blob, veiled_from: veiledFrom, size, trace, parts } = row;
    return { trace, blob, veiledFrom, size, parts: unpackParts(parts) };
  },
);

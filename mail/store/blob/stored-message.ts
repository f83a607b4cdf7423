import { unpackParts, type Part } from '../../message/parts.ts';
import type { Trust } from '../../policy/trust.ts';
import { lookup } from '../engine/types.ts';

export interface StoredMessage {
  blob: number;
  /** Octet of the blob from which agents get redacted content; null: nothing is redacted. */
  redactedFrom: number | null;
  /** Octets of the blob. */
  length: number;
  receivedAt: number;
  parts: Part[];
  /** Filter results; null: not from outside. */
  trust: Trust | null;
}

/** Location of the octets of a message, and its parts. */
export const storedMessage = lookup(
  'stored-message',
  async (rx, input: { account: number; email: number }): Promise<StoredMessage | undefined> => {
    const row = await rx.get<{
      blob_id: number;
      redacted_from: number | null;
      size: number;
      trace: string;
      received_at: number;
      parts: string;
      trust: string | null;
    }>(
      `SELECT e.blob_id, e.redacted_from, e.size, e.trace, e.received_at, m.parts, j.trust FROM email e
         JOIN email_meta m ON m.email_id = e.id LEFT JOIN filter_result j ON j.email_id = e.id
       WHERE e.id = ? AND e.account_id = ?`,
      input.email,
      input.account,
    );
    return (
      row && {
        blob: row.blob_id,
        redactedFrom: row.redacted_from,
        length: row.size - row.trace.length,
        receivedAt: row.received_at,
        parts: unpackParts(row.parts),
        trust: row.trust === null ? null : (JSON.parse(row.trust) as Trust),
      }
    );
  },
);

import { lookup } from '../engine/types.ts';
import { DELETED } from '../mailbox/flags.ts';

/** A message that may request a read receipt. */
export interface MdnRequest extends Record<string, number | string | null> {
  id: number;
  blob: number;
  size: number;
  headerLength: number;
  /** Octet of the blob from which agents get redacted content; null: nothing is redacted. */
  redactedFrom: number | null;
  /** Header lines of this recipient before the blob; one character an octet. */
  trace: string;
  /** Decoded subject. */
  subject: string;
  /** 1: it has the keyword $mdnsent. RFC 3503 3.1 */
  hasReceipt: number;
}

export const mdnRequest = lookup(
  'mdn-request',
  (rx, { account, id }: { account: number; id: number }): Promise<MdnRequest | undefined> =>
    rx.get<MdnRequest>(
      `SELECT e.id, e.blob_id AS blob, b.size, m.header_length AS headerLength, e.redacted_from AS redactedFrom, e.trace, m.subject,
         EXISTS (SELECT 1 FROM entry n LEFT JOIN keyword k ON k.account_id = ?2 AND k.lname = '$mdnsent'
           WHERE n.email_id = e.id AND (n.flags & (1 << coalesce(k.slot, 62)) <> 0
             OR instr(' ' || lower(coalesce(n.kw, '')) || ' ', ' $mdnsent ') > 0)) AS hasReceipt
       FROM email e JOIN blob b ON b.id = e.blob_id JOIN email_meta m ON m.email_id = e.id
       WHERE e.id = ?1 AND e.account_id = ?2
         AND EXISTS (SELECT 1 FROM entry n WHERE n.email_id = e.id AND n.flags & ?3 = 0)`,
      id,
      account,
      DELETED,
    ),
);

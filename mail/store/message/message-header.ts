import { lookup } from '../engine/types.ts';

/** Location of the header of a message. */
export interface MessageHeader {
  /** Header lines that this server wrote for the recipient, before the blob. */
  trace: string;
  blob: number;
  /** Octets of the header in the blob. */
  length: number;
}

export const storedHeader = lookup(
  'message-header',
  async (rx, { account, email }: { account: number; email: number }): Promise<MessageHeader | undefined> =>
    rx.get<{ trace: string; blob: number; length: number }>(
      `SELECT e.trace, e.blob_id AS blob, m.header_length AS length FROM email e JOIN email_meta m ON m.email_id = e.id
       WHERE e.id = ? AND e.account_id = ? AND EXISTS (SELECT 1 FROM entry n WHERE n.email_id = e.id)`,
      email,
      account,
    ),
);

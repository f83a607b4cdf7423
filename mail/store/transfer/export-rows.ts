import { kwList, type NamedFlags } from '../mailbox/flags.ts';
import { lookup, query } from '../engine/types.ts';

/** One message of a mailbox for an export. */
export interface ExportRow {
  uid: number;
  email: number;
  /** Header lines of this recipient before the blob; one character an octet. */
  trace: string;
  blob: number;
  /** Octets of trace and blob. */
  size: number;
  /** ms UTC. */
  receivedAt: number;
  flags: NamedFlags;
}

interface Row extends Record<string, string | number | null> {
  uid: number;
  email: number;
  trace: string;
  blob: number;
  size: number;
  receivedAt: number;
  flags: number;
  kw: string | null;
}

/** Messages of a mailbox after a UID, ascending. */
export const exportRows = query(
  'export-rows',
  async (rx, input: { account: number; mailbox: number; after: number; limit: number }): Promise<ExportRow[]> => {
    const rows = await rx.all<Row>(
      `SELECT n.uid, n.email_id AS email, e.trace, e.blob_id AS blob, e.size, e.received_at AS receivedAt, n.flags, n.kw
       FROM entry n JOIN email e ON e.id = n.email_id
       WHERE n.mailbox_id = ?1 AND n.uid > ?2 AND e.account_id = ?3 ORDER BY n.uid LIMIT ?4 + 0`,
      input.mailbox,
      input.after,
      input.account,
      input.limit,
    );
    const slots = await rx.all<{ slot: number; name: string }>(
      'SELECT slot, name FROM keyword WHERE account_id = ?',
      input.account,
    );
    return rows.map(({ flags, kw, ...row }) => {
      const keywords = slots.filter(({ slot }) => (flags & (1 << slot)) !== 0).map(({ name }) => name);
      return { ...row, flags: { bits: flags & 31, keywords: [...keywords, ...kwList(kw)] } };
    });
  },
);

/** All keywords of an account, in the order in which it got them. */
export const accountKeywords = lookup('account-keywords', async (rx, input: { account: number }): Promise<string[]> => {
  const rows = await rx.all<{ name: string }>(
    'SELECT name FROM keyword WHERE account_id = ? ORDER BY slot',
    input.account,
  );
  return rows.map(({ name }) => name);
});

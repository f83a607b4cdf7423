import { command, query, type Read } from '../engine/types.ts';
import { kwList, type NamedFlags } from '../mailbox/flags.ts';

/** Registers a folder of another server, and answers its number. */
export const openRemoteFolder = command(
  'open-remote-folder',
  async (
    tx,
    input: { account: number; source: string; name: string; uidValidity: string; mailbox: number },
  ): Promise<number> => {
    await tx.run(
      'INSERT INTO import_source (account_id, key) VALUES (?, ?) ON CONFLICT DO NOTHING',
      input.account,
      input.source,
    );
    const source = await tx.get<{ id: number }>(
      'SELECT id FROM import_source WHERE account_id = ? AND key = ?',
      input.account,
      input.source,
    );
    await tx.run(
      `INSERT INTO import_folder (source_id, name, uidvalidity, mailbox_id) VALUES (?, ?, ?, ?)
       ON CONFLICT (source_id, name, uidvalidity) DO UPDATE SET mailbox_id = excluded.mailbox_id`,
      source?.id ?? 0,
      input.name,
      input.uidValidity,
      input.mailbox,
    );
    const row = await tx.get<{ id: number }>(
      'SELECT id FROM import_folder WHERE source_id = ? AND name = ? AND uidvalidity = ?',
      source?.id ?? 0,
      input.name,
      input.uidValidity,
    );
    return row?.id ?? 0;
  },
);

/** A message of another server that was pulled. */
export interface PulledMessage {
  uid: number;
  email: number;
  /** First 16 octets of the SHA-256 of what the other server sent, hex. */
  hash: string;
  /** Flags there at the last pass, sorted. */
  flags: string;
  /** The message here; null: it is in no mailbox. */
  here: MessageHere | null;
  /** It is in no mailbox since it was deleted: the deletion is recorded. */
  isDeletedHere: boolean;
}

/** A pulled message in a mailbox here. */
export interface MessageHere {
  mailbox: number;
  uid: number;
  flags: NamedFlags;
  blob: number;
  size: number;
  receivedAt: number;
  /** A command changed it after it was stored. */
  isChanged: boolean;
}

interface PulledRow extends Record<string, string | number | Uint8Array | null> {
  uid: number;
  email: number;
  hash: Uint8Array;
  flags: string;
  mailbox: number | null;
  here: number | null;
  bits: number;
  kw: string | null;
  blob: number;
  size: number;
  receivedAt: number;
  changed: number;
  expunged: number;
}

/** Pulled messages of a folder after a UID, ascending. */
export const pulledMessages = query(
  'pulled-messages',
  async (rx, input: { account: number; folder: number; after: number; limit: number }): Promise<PulledMessage[]> => {
    const rows = await rx.all<PulledRow>(
      `SELECT u.uid, u.email_id AS email, u.hash, u.flags, n.mailbox_id AS mailbox, n.uid AS here, n.flags AS bits, n.kw,
         e.blob_id AS blob, e.size, e.received_at AS receivedAt,
         iif(n.modseq > e.created_modseq, 1, 0) AS changed,
         iif(EXISTS (SELECT 1 FROM expunged x INDEXED BY expunged_email WHERE x.email_id = u.email_id), 1, 0) AS expunged
       FROM (SELECT * FROM import_uid WHERE folder_id = ?1 AND uid > ?2 ORDER BY uid LIMIT ?3 + 0) u
       LEFT JOIN email e ON e.id = u.email_id LEFT JOIN entry n ON n.email_id = u.email_id
       ORDER BY u.uid, n.mailbox_id`,
      input.folder,
      input.after,
      input.limit,
    );
    const slots = await rx.all<{ slot: number; name: string }>(
      'SELECT slot, name FROM keyword WHERE account_id = ?',
      input.account,
    );
    const first = rows.filter((row, at) => row.uid !== rows[at - 1]?.uid);
    const purged = await purgedOf(rx, input.account, first);
    return first.map((row) => pulledMessage(row, slots, row.expunged === 1 || purged.has(row.email)));
  },
);

/** Those of the messages here no more whose deletion is recorded, though they were purged since. */
async function purgedOf(rx: Read, account: number, rows: readonly PulledRow[]): Promise<ReadonlySet<number>> {
  const gone = rows.filter((row) => row.mailbox === null && row.expunged === 0).map(({ email }) => email);
  if (gone.length === 0) return new Set();
  const found = await rx.all<{ id: number }>(
    `SELECT object_id AS id FROM tombstone WHERE account_id = ? AND type = 'Email'
       AND object_id IN (SELECT value FROM json_each(?))`,
    account,
    JSON.stringify(gone),
  );
  return new Set(found.map(({ id }) => id));
}

function pulledMessage(
  row: PulledRow,
  slots: readonly { slot: number; name: string }[],
  isRecorded: boolean,
): PulledMessage {
  const { uid, email, hash, flags, mailbox, here, bits, kw, blob, size, receivedAt, changed } = row;
  const names = slots.filter(({ slot }) => (bits & (1 << slot)) !== 0).map(({ name }) => name);
  const now = { bits: bits & 31, keywords: [...names, ...kwList(kw)] };
  return {
    uid,
    email,
    hash: Buffer.from(hash).toString('hex'),
    flags,
    here:
      mailbox === null || here === null
        ? null
        : { mailbox, uid: here, flags: now, blob, size, receivedAt, isChanged: changed === 1 },
    isDeletedHere: mailbox === null && isRecorded,
  };
}

/** Records the flags that messages of another server have now. */
export const recordRemoteFlags = command(
  'record-remote-flags',
  async (tx, input: { folder: number; changes: readonly { uid: number; flags: string }[] }): Promise<void> => {
    for (const { uid, flags } of input.changes) {
      await tx.run('UPDATE import_uid SET flags = ? WHERE folder_id = ? AND uid = ?', flags, input.folder, uid);
    }
  },
);

/** Forgets messages of another server that are no longer there. */
export const dropRemoteMessages = command(
  'drop-remote-messages',
  async (tx, input: { folder: number; uids: readonly number[] }): Promise<void> => {
    await tx.run(
      'DELETE FROM import_uid WHERE folder_id = ? AND uid IN (SELECT value FROM json_each(?))',
      input.folder,
      JSON.stringify(input.uids),
    );
  },
);

import { addBlob } from './blob.ts';
import { command, query, type Read, type Write } from './engine/types.ts';
import { newBlob } from './entry-commands.ts';
import { collectBlob } from './tidy.ts';

/** RFC 8620 6.1 asks for an hour at least. */
const KEEP_MS = 24 * 3_600_000;
/** Of one account at a time. */
const MOST = 1_000;
const MOST_BYTES = 500_000_000;
/** Rows of one slice. */
const SLICE = 50;

export interface NewUpload {
  account: number;
  /** Media type. */
  type: string;
  data: Uint8Array | null;
  file: { file: string; size: number } | null;
}

export type Uploaded = { kind: 'uploaded'; upload: number; size: number } | { kind: 'too-many' };

/** Keeps what a client brings. Past the limits the client has to use what is there first, or wait a day. */
export const addUpload = command('add-jmap-upload', async (tx, input: NewUpload, stamp): Promise<Uploaded> => {
  const size = input.data?.byteLength ?? input.file?.size ?? 0;
  if (!(await hasPlace(tx, input.account, size, stamp.now))) return { kind: 'too-many' };
  const upload = await keepUpload(tx, { ...input, blob: await addBlob(tx, newBlob(input)), size }, stamp.now);
  return { kind: 'uploaded', upload, size };
});

async function hasPlace(rx: Read, account: number, size: number, now: number): Promise<boolean> {
  const held = await rx.get<{ n: number; bytes: number }>(
    'SELECT count(*) AS n, coalesce(sum(size), 0) AS bytes FROM jmap_upload WHERE account_id = ? AND expires_at > ?',
    account,
    now,
  );
  return (held?.n ?? 0) < MOST && (held?.bytes ?? 0) + size <= MOST_BYTES;
}

/** Whether so many octets more may be kept; asked before they are written, and again as they are committed. */
export const hasUploadRoom = query(
  'has-upload-room',
  (rx, input: { account: number; more: number; now: number }): Promise<boolean> =>
    hasPlace(rx, input.account, input.more, input.now),
);

/** Names a blob that is there as an upload of the account. Answers the row. */
export async function keepUpload(
  tx: Write,
  { account, blob, type, size }: { account: number; blob: number; type: string; size: number },
  now: number,
): Promise<number> {
  const { id } = await tx.run(
    'INSERT INTO jmap_upload (account_id, blob_id, type, size, expires_at) VALUES (?, ?, ?, ?, ?)',
    account,
    blob,
    type,
    size,
    now + KEEP_MS,
  );
  return id;
}

export interface StoredUpload {
  blob: number;
  type: string;
  size: number;
}

/** An upload of this account, while it is kept. */
export const findUpload = query(
  'find-jmap-upload',
  (rx, input: { account: number; upload: number; now: number }): Promise<StoredUpload | undefined> =>
    rx.get<{ blob: number; type: string; size: number }>(
      'SELECT blob_id AS blob, type, size FROM jmap_upload WHERE id = ? AND account_id = ? AND expires_at > ?',
      input.upload,
      input.account,
      input.now,
    ),
);

/** Forgets a slice of what has expired; an account that goes ends its uploads. Answers blob files to remove. */
export const forgetUploads = command(
  'forget-jmap-uploads',
  async (tx, _input: undefined, stamp): Promise<{ files: string[]; more: boolean }> => {
    const rows = await tx.all<{ blob_id: number }>(
      `DELETE FROM jmap_upload WHERE id IN (SELECT id FROM jmap_upload WHERE expires_at <= ? LIMIT ?) RETURNING blob_id`,
      stamp.now,
      SLICE,
    );
    const files: string[] = [];
    for (const row of rows) {
      const file = await collectBlob(tx, row.blob_id);
      if (file !== undefined) files.push(file);
    }
    return { files, more: rows.length === SLICE };
  },
);

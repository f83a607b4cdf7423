import { addBlob } from './blob.ts';
import { command, lookup, query, type Read, type Write } from '../engine/types.ts';
import { newBlob } from '../mailbox/entry-commands.ts';
import { collectBlob } from '../retention/purge.ts';

/** RFC 8620 6.1 requires at least one hour. */
const UPLOAD_RETENTION_MS = 24 * 3_600_000;
/** Limit for one account. */
const MAX_UPLOADS = 1_000;
const MAX_UPLOAD_BYTES = 500_000_000;
/** Rows of one slice. */
const SLICE = 50;

export interface NewUpload {
  account: number;
  /** Media type. */
  type: string;
  data: Uint8Array | null;
  file: { file: string; size: number } | null;
}

export type AddUploadResult = { kind: 'uploaded'; upload: number; size: number } | { kind: 'too-many' };

/** Stores an upload of a client. At the limit the client has to use existing uploads first, or wait a day. */
export const addJmapUpload = command(
  'add-jmap-upload',
  async (tx, input: NewUpload, stamp): Promise<AddUploadResult> => {
    const size = input.data?.byteLength ?? input.file?.size ?? 0;
    if (!(await hasUploadCapacity(tx, input.account, size, stamp.now))) return { kind: 'too-many' };
    const upload = await storeUpload(tx, { ...input, blob: await addBlob(tx, newBlob(input)), size }, stamp.now);
    return { kind: 'uploaded', upload, size };
  },
);

async function hasUploadCapacity(rx: Read, account: number, size: number, now: number): Promise<boolean> {
  const held = await rx.get<{ n: number; bytes: number }>(
    'SELECT count(*) AS n, coalesce(sum(size), 0) AS bytes FROM jmap_upload WHERE account_id = ? AND expires_at > ?',
    account,
    now,
  );
  return (held?.n ?? 0) < MAX_UPLOADS && (held?.bytes ?? 0) + size <= MAX_UPLOAD_BYTES;
}

/** Reports whether the account may upload so many octets; checked before they are written, and again in the commit. */
export const hasUploadRoom = query(
  'has-upload-room',
  (rx, input: { account: number; more: number; now: number }): Promise<boolean> =>
    hasUploadCapacity(rx, input.account, input.more, input.now),
);

/** Adds an existing blob as an upload of the account. Returns its id. */
export async function storeUpload(
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
    now + UPLOAD_RETENTION_MS,
  );
  return id;
}

export interface StoredUpload {
  blob: number;
  type: string;
  size: number;
}

/** An upload of the account that has not expired. */
export const findJmapUpload = lookup(
  'find-jmap-upload',
  (rx, input: { account: number; upload: number; now: number }): Promise<StoredUpload | undefined> =>
    rx.get<{ blob: number; type: string; size: number }>(
      'SELECT blob_id AS blob, type, size FROM jmap_upload WHERE id = ? AND account_id = ? AND expires_at > ?',
      input.upload,
      input.account,
      input.now,
    ),
);

/** Purges a slice of expired uploads; the deletion of an account expires its uploads. Returns blob files to remove. */
export const purgeJmapUploads = command(
  'purge-jmap-uploads',
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

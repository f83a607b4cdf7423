import { addBlob } from '../../mail/store/blob.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { newBlob } from '../../mail/store/entry-commands.ts';
import { collectBlob } from '../../mail/store/tidy.ts';

/** An upload is there to be sent soon. */
const UPLOAD_MS = 24 * 3_600_000;
/** Of one credential at a time. */
const MOST = 100;
const MOST_BYTES = 200 * 1024 * 1024;

export interface NewUpload {
  organization: number;
  /** Public id. */
  credential: string;
  name: string;
  /** Left out where nobody said. */
  filename?: string;
  contentType?: string;
  data: Uint8Array | null;
  file: { file: string; size: number } | null;
}

export type Uploaded = { kind: 'uploaded'; expiresAt: number } | { kind: 'too-many' };

/** Keeps a file for a message; one of the same name is replaced. */
export const addUpload = command('add-upload', async (tx, input: NewUpload, stamp): Promise<Uploaded> => {
  const { organization, credential, name, filename = '', contentType = '' } = input;
  const replaced = await tx.all<{ blob_id: number }>(
    'DELETE FROM upload WHERE credential = ? AND name = ? RETURNING blob_id',
    credential,
    name,
  );
  // A file on disk stays until the daily sweep, which finds that no row names it.
  for (const row of replaced) await collectBlob(tx, row.blob_id);
  const size = input.data?.byteLength ?? input.file?.size ?? 0;
  const held = await tx.get<{ n: number; bytes: number }>(
    'SELECT count(*) AS n, coalesce(sum(size), 0) AS bytes FROM upload WHERE credential = ? AND expires_at > ?',
    credential,
    stamp.now,
  );
  if ((held?.n ?? 0) >= MOST || (held?.bytes ?? 0) + size > MOST_BYTES) return { kind: 'too-many' };
  const blob = await addBlob(tx, newBlob(input));
  await tx.run(
    `INSERT INTO upload (organization_id, credential, name, blob_id, size, expires_at, filename, content_type)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    organization,
    credential,
    name,
    blob,
    size,
    stamp.now + UPLOAD_MS,
    filename,
    contentType,
  );
  return { kind: 'uploaded', expiresAt: stamp.now + UPLOAD_MS };
});

/** Files of one slice. */
const SLICE = 100;

/** Forgets a slice of what has expired. Answers whether there may be more. */
export const forgetUploads = command('forget-uploads', async (tx, _input: undefined, stamp): Promise<boolean> => {
  const gone = await tx.all<{ blob_id: number }>(
    'DELETE FROM upload WHERE id IN (SELECT id FROM upload WHERE expires_at <= ? LIMIT ?) RETURNING blob_id',
    stamp.now,
    SLICE,
  );
  for (const row of gone) await collectBlob(tx, row.blob_id);
  return gone.length === SLICE;
});

export interface StoredUpload {
  blob: number;
  size: number;
  /** '' where nobody said. */
  filename: string;
  contentType: string;
}

/** A file that a credential put there, while it is good. */
export const findUpload = query(
  'find-upload',
  (rx, input: { credential: string; name: string; now: number }): Promise<StoredUpload | undefined> =>
    rx.get<StoredUpload & Record<string, number | string>>(
      `SELECT blob_id AS blob, size, filename, content_type AS contentType FROM upload
       WHERE credential = ? AND name = ? AND expires_at > ?`,
      input.credential,
      input.name,
      input.now,
    ),
);

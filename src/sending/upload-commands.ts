import { addBlob } from '../../mail/store/blob/blob.ts';
import { command, lookup } from '../../mail/store/engine/types.ts';
import { newBlob } from '../../mail/store/mailbox/entry-commands.ts';
import { collectBlob } from '../../mail/store/retention/purge.ts';

/** Lifetime of an upload. */
const UPLOAD_MS = 24 * 3_600_000;
/** Uploads of one credential. */
const MAX_UPLOADS = 100;
const MAX_UPLOAD_BYTES = 200 * 1024 * 1024;

export interface NewAttachmentUpload {
  organization: number;
  /** Public id. */
  credential: string;
  name: string;
  /** Undefined if not given. */
  filename?: string;
  contentType?: string;
  data: Uint8Array | null;
  file: { file: string; size: number } | null;
}

export type AttachmentUploadResult = { kind: 'uploaded'; expiresAt: number } | { kind: 'too-many' };

/** Stores a file to attach later; replaces one of the same name. */
export const addUpload = command(
  'add-upload',
  async (tx, input: NewAttachmentUpload, stamp): Promise<AttachmentUploadResult> => {
    const { organization, credential, name, filename = '', contentType = '' } = input;
    const replaced = await tx.all<{ blob_id: number }>(
      'DELETE FROM upload WHERE credential = ? AND name = ? RETURNING blob_id',
      credential,
      name,
    );
    // The file on disk is deleted by the daily sweep.
    for (const row of replaced) await collectBlob(tx, row.blob_id);
    const size = input.data?.byteLength ?? input.file?.size ?? 0;
    const held = await tx.get<{ n: number; bytes: number }>(
      'SELECT count(*) AS n, coalesce(sum(size), 0) AS bytes FROM upload WHERE credential = ? AND expires_at > ?',
      credential,
      stamp.now,
    );
    if ((held?.n ?? 0) >= MAX_UPLOADS || (held?.bytes ?? 0) + size > MAX_UPLOAD_BYTES) return { kind: 'too-many' };
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
  },
);

/** Uploads deleted in one run. */
const SLICE = 100;

/** Deletes a batch of expired uploads. True: there may be more. */
export const purgeUploads = command('purge-uploads', async (tx, _input: undefined, stamp): Promise<boolean> => {
  const gone = await tx.all<{ blob_id: number }>(
    'DELETE FROM upload WHERE id IN (SELECT id FROM upload WHERE expires_at <= ? LIMIT ?) RETURNING blob_id',
    stamp.now,
    SLICE,
  );
  for (const row of gone) await collectBlob(tx, row.blob_id);
  return gone.length === SLICE;
});

export interface AttachmentUpload {
  blob: number;
  size: number;
  /** '' if not given. */
  filename: string;
  contentType: string;
}

/** Finds an unexpired upload of a credential. */
export const findUpload = lookup(
  'find-upload',
  (rx, input: { credential: string; name: string; now: number }): Promise<AttachmentUpload | undefined> =>
    rx.get<AttachmentUpload & Record<string, number | string>>(
      `SELECT blob_id AS blob, size, filename, content_type AS contentType FROM upload
       WHERE credential = ? AND name = ? AND expires_at > ?`,
      input.credential,
      input.name,
      input.now,
    ),
);

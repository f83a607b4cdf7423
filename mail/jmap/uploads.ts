import { addUpload, type Uploaded } from '../store/jmap-upload.ts';
import { StoreBusy } from '../store/engine/types.ts';
import type { BlobWriter, NewBlob } from '../store/blob.ts';
import type { JmapDesk } from './method.ts';

export type Kept = Uploaded | { kind: 'too-large' };

/**
 * Keeps octets as an upload of an account while they come. Nothing stays of what is larger than `most`, ends early or
 * is refused. Throws {@link StoreBusy} while nothing can be taken.
 */
export async function keepBlob(
  desk: Pick<JmapDesk, 'store'>,
  { account, type }: { account: number; type: string },
  pieces: AsyncIterable<Buffer>,
  most: number,
): Promise<Kept> {
  const { store } = desk;
  const busy = store.unavailable();
  if (busy !== undefined) throw busy;
  const writer = store.files.create();
  const blob = await written(writer, pieces, most);
  if (blob === undefined) return { kind: 'too-large' };
  const octets = 'data' in blob ? { data: blob.data, file: null } : { data: null, file: blob };
  try {
    const done = await store.write(addUpload, { account, type, ...octets });
    if (done.kind !== 'uploaded') writer.abort();
    else if (octets.file !== null) store.files.settled(octets.file.file);
    return done;
  } catch (error) {
    // After anything but a clear refusal the row may be on disk and needs its file; the sweep of the next start knows.
    if (error instanceof StoreBusy) writer.abort();
    throw error;
  }
}

/** Undefined: there is more than `most` octets. Nothing stays of that, nor of what fails. */
async function written(writer: BlobWriter, pieces: AsyncIterable<Buffer>, most: number): Promise<NewBlob | undefined> {
  try {
    if (await takeAll(writer, pieces, most)) return await writer.finish();
    writer.abort();
    return undefined;
  } catch (error) {
    writer.abort();
    throw error;
  }
}

/** False: there is more than `most` octets. All are taken all the same, or the client would never hear why. */
async function takeAll(writer: BlobWriter, pieces: AsyncIterable<Buffer>, most: number): Promise<boolean> {
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size <= most) await writer.write(piece);
  }
  return size <= most;
}

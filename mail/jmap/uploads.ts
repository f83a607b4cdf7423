import { addUpload, type Uploaded } from '../store/jmap-upload.ts';
import { StoreBusy } from '../store/engine/types.ts';
import type { BlobWriter } from '../store/blob.ts';
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
  try {
    if (!(await takeAll(writer, pieces, most))) {
      writer.abort();
      return { kind: 'too-large' };
    }
    const blob = await writer.finish();
    const octets = 'data' in blob ? { data: blob.data, file: null } : { data: null, file: blob };
    return await commit(desk, writer, { account, type, ...octets });
  } catch (error) {
    if (!(error instanceof UncertainCommit)) writer.abort();
    throw error instanceof UncertainCommit ? error.cause : error;
  }
}

/** The row may be on disk and need its file: the sweep of the next start knows. */
class UncertainCommit extends Error {
  override readonly name = 'UncertainCommit';
}

async function commit(
  { store }: Pick<JmapDesk, 'store'>,
  writer: BlobWriter,
  input: Parameters<typeof addUpload.run>[1],
): Promise<Uploaded> {
  const done = await store.write(addUpload, input).catch((error: unknown) => {
    throw error instanceof StoreBusy ? error : new UncertainCommit('the commit failed', { cause: error });
  });
  if (done.kind !== 'uploaded') writer.abort();
  else if (input.file !== null) store.files.settled(input.file.file);
  return done;
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

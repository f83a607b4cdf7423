import type { MessageOctets } from '../../mail/delivery/octet-reader.ts';
import { INLINE_LIMIT } from '../../mail/store/blob/blob.ts';
import { StoreBusy } from '../../mail/store/engine/types.ts';
import type { MailStore } from '../../mail/store/store.ts';

/** Writes large octets to a blob file and runs the command that references it; deletes the file unless the result kind is `kept`. */
export async function withStoredOctets<T extends { kind: string }>(
  store: MailStore,
  data: Buffer,
  kept: T['kind'],
  commit: (octets: MessageOctets) => Promise<T>,
): Promise<T> {
  // A copy of exact size: cloning a view clones its whole buffer.
  if (data.length <= INLINE_LIMIT) return commit({ data: Uint8Array.from(data), file: null });
  const writer = store.files.create();
  try {
    await writer.write(data);
    const blob = await writer.finish();
    const done = await commit('data' in blob ? { data: blob.data, file: null } : { data: null, file: blob });
    if (done.kind !== kept) writer.abort();
    else if ('file' in blob) store.files.release(blob.file);
    return done;
  } catch (error) {
    // After any other error the transaction may be on disk; the sweep at the next start decides.
    if (error instanceof StoreBusy) writer.abort();
    throw error;
  }
}

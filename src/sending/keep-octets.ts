import { StoreBusy } from '../../mail/store/engine/types.ts';
import type { MailStore } from '../../mail/store/store.ts';

/** Octets as a command takes them: small ones cross with it, large ones are in a file by then. */
export interface Octets {
  data: Uint8Array | null;
  file: { file: string; size: number } | null;
}

/** Runs the command that names octets; unless it ends as `kept`, nothing of them stays. */
export async function keepOctets<T extends { kind: string }>(
  store: MailStore,
  data: Buffer,
  kept: T['kind'],
  commit: (octets: Octets) => Promise<T>,
): Promise<T> {
  const writer = store.files.create();
  try {
    await writer.write(data);
    const blob = await writer.finish();
    const done = await commit('data' in blob ? { data: blob.data, file: null } : { data: null, file: blob });
    if (done.kind !== kept) writer.abort();
    else if ('file' in blob) store.files.settled(blob.file);
    return done;
  } catch (error) {
    // After anything but a clear refusal the transaction may be on disk: the sweep of the next start knows.
    if (error instanceof StoreBusy) writer.abort();
    throw error;
  }
}

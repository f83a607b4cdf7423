import { createHash } from 'node:crypto';
import type { World } from '../operations/world.ts';
import { waitingOctets } from './queries.ts';

const AT_ONCE = 256 * 1024;

/** The SHA-256, hex, of the octets of a message that waits as they are now; undefined when it waits no more. */
export async function sha256OfWaiting({ store }: Pick<World, 'store'>, id: number): Promise<string | undefined> {
  const found = await store.read(waitingOctets, { id });
  if (found === undefined) return undefined;
  const hash = createHash('sha256');
  for (let at = 0; ; at += AT_ONCE) {
    const octets = await store.blob(found.blob, at, AT_ONCE);
    hash.update(octets);
    if (octets.length < AT_ONCE) return hash.digest('hex');
  }
}

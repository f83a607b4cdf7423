import { createHash } from 'node:crypto';
import type { AppContext } from '../core/app-context.ts';
import { heldOctets } from './queries.ts';

const CHUNK = 256 * 1024;

/** SHA-256, hex, of the present octets of a held message; undefined if not held any more. */
export async function sha256OfHeld({ store }: Pick<AppContext, 'store'>, id: number): Promise<string | undefined> {
  const found = await store.read(heldOctets, { id });
  if (found === undefined) return undefined;
  const hash = createHash('sha256');
  for (let at = 0; ; at += CHUNK) {
    const octets = await store.blob(found.blob, at, CHUNK);
    hash.update(octets);
    if (octets.length < CHUNK) return hash.digest('hex');
  }
}

import { createHash } from 'node:crypto';
import type { MailStore } from '../../../mail/store/store.ts';
import { octetsOf } from '../../trace/queries.ts';
import { emailsOf, type Story } from './timeline.ts';

const CHUNK = 64 * 1024;
/** Larger ones would make every look at a story a look at all their octets. */
const MOST_OCTETS = 8 * 1024 * 1024;

/**
 * SHA-256, in hex, of a message as it was accepted, without the lines that each recipient's copy and each way out have of
 * their own. Undefined when nobody has its octets any more, or they are too many.
 */
export async function digestOf(
  store: MailStore,
  { tenant, trace, lines }: { tenant: number; trace: string; lines: Story['lines'] },
): Promise<string | undefined> {
  const email = emailsOf(lines)[0]?.email ?? 0;
  const octets = await store.read(octetsOf, { tenant, trace, email });
  if (octets === undefined || octets.size > MOST_OCTETS) return undefined;
  const digest = createHash('sha256');
  try {
    for (let at = 0; at < octets.size; at += CHUNK) {
      digest.update(await store.blob(octets.blob, at, Math.min(CHUNK, octets.size - at)));
    }
  } catch {
    // The last copy went while it was being read.
    return undefined;
  }
  return digest.digest('hex');
}

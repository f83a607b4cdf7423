import { hasRoom } from '../../store/email-commands.ts';
import { hasUploadRoom } from '../../store/jmap-upload.ts';
import { blobId } from '../ids.ts';
import type { JmapDesk } from '../method.ts';
import { done, type Outcome, refused } from '../standard-set.ts';
import { keepBlob } from '../uploads.ts';

/** A blob that was made, as its methods answer it. */
export type MadeBlob = Record<string, unknown> & { id: string; type: string; size: number };

interface Octets {
  size: number;
  stream(): AsyncIterable<Buffer>;
}

/**
 * Keeps octets as an upload of an account. What has no room is refused before a file is written: a request may name
 * many large ones.
 */
export async function keepOctets(
  desk: JmapDesk,
  { account, type }: { account: number; type: string },
  octets: Octets,
): Promise<Outcome<MadeBlob>> {
  const { size } = octets;
  const most = desk.limits.maxSizeUpload;
  if (size > most) return refused('tooLarge', `A blob has at most ${most} octets.`, { maxSize: most });
  if (!(await desk.store.read(hasRoom, { account, more: size }))) {
    return refused('overQuota', 'The account has no room for it: delete something first.');
  }
  if (!(await desk.store.read(hasUploadRoom, { account, more: size, now: desk.clock() }))) return tooMany();
  const kept = await keepBlob(desk, { account, type }, octets.stream(), most);
  if (kept.kind !== 'uploaded') return tooMany();
  return done({ id: blobId({ kind: 'upload', upload: kept.upload }), type, size: kept.size });
}

const tooMany = (): Outcome<never> =>
  refused('overQuota', 'The account holds 1,000 uploads or 500 MB already: use them, or wait a day.');

import { createHash, type Hash } from 'node:crypto';
import type { JmapBlob } from '../blobs.ts';
import type { ReadBudget } from '../email/read-budget.ts';

/** Names of RFC 9404 3 and node's for them. */
const DIGESTS = { sha: 'sha1', 'sha-256': 'sha256', 'sha-512': 'sha512' } as const;
export const DIGEST_NAMES = Object.keys(DIGESTS) as (keyof typeof DIGESTS)[];

const DATA = ['data', 'data:asText', 'data:asBase64'];
const PROPERTIES = new Set(['size', ...DATA, ...DIGEST_NAMES.map((name) => `digest:${name}`)]);

export const isBlobProperty = (name: string): boolean => name === 'id' || PROPERTIES.has(name);

export interface ShownRange {
  offset: number;
  /** Null: to the end. */
  length: number | null;
}

/** One blob as Blob/get answers it: data and digests are of the range. Throws `requestTooLarge`. RFC 9404 4.2. */
export async function shownBlob(
  id: string,
  blob: JmapBlob,
  properties: ReadonlySet<string>,
  { offset, length }: ShownRange,
  budget: ReadBudget,
): Promise<Record<string, unknown> & { id: string }> {
  const start = Math.min(offset, blob.size);
  const end = Math.min(blob.size, length === null ? blob.size : offset + length);
  const truncated = offset > blob.size || (length !== null && offset + length > blob.size);
  const digests = DIGEST_NAMES.filter((name) => properties.has(`digest:${name}`));
  const wantsData = DATA.some((name) => properties.has(name));
  const read = digests.length > 0 || wantsData;
  if (read) budget.take(Math.max(0, end - start) * Math.max(1, digests.length));
  const { octets, hashes } = read ? await gather(blob.stream(start, end), digests, wantsData) : NOTHING;
  return {
    id,
    ...(wantsData && shownData(octets, properties)),
    ...Object.fromEntries(hashes.map(([name, hash]) => [`digest:${name}`, hash.digest('base64')])),
    ...(properties.has('size') && { size: blob.size }),
    ...(truncated && { isTruncated: true }),
  };
}

type Hashes = (readonly [keyof typeof DIGESTS, Hash])[];

const NOTHING: { octets: Buffer; hashes: Hashes } = { octets: Buffer.alloc(0), hashes: [] };

async function gather(
  pieces: AsyncIterable<Buffer>,
  digests: readonly (keyof typeof DIGESTS)[],
  keep: boolean,
): Promise<{ octets: Buffer; hashes: Hashes }> {
  const hashes = digests.map((name) => [name, createHash(DIGESTS[name])] as const);
  const kept: Buffer[] = [];
  for await (const piece of pieces) {
    for (const [, hash] of hashes) hash.update(piece);
    if (keep) kept.push(piece);
  }
  return { octets: Buffer.concat(kept), hashes };
}

/** `data` is text where it can be; what was asked as text and is none is null. */
function shownData(octets: Buffer, properties: ReadonlySet<string>): Record<string, unknown> {
  const asked = properties.has('data');
  const wantsText = asked || properties.has('data:asText');
  const text = wantsText ? utf8(octets) : undefined;
  const problem = wantsText && text === undefined;
  const asBase64 = properties.has('data:asBase64') || (asked && problem);
  return {
    ...((properties.has('data:asText') || text !== undefined) && { 'data:asText': text ?? null }),
    ...(asBase64 && { 'data:asBase64': octets.toString('base64') }),
    ...(problem && { isEncodingProblem: true }),
  };
}

function utf8(octets: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(octets);
  } catch {
    return undefined;
  }
}

import { createHash, type Hash } from 'node:crypto';
import { yieldToEventLoop } from '../../limits/event-loop.ts';
import { access, resolveCreationId } from '../core/access.ts';
import { idOrCreation, list, nullable, object, text, unsigned, wrong } from '../core/arguments.ts';
import { BLOB } from '../core/capabilities.ts';
import { blobRef } from '../core/ids.ts';
import type { JmapMethod } from '../core/method.ts';
import { MAX_OCTETS_READ, ReadBudget } from '../email/header-values.ts';
import { tooManyObjects } from '../standard/standard-get.ts';
import { type JmapBlob, openReadableBlob } from './blobs.ts';

/** Maximum octets that one call reads for digests and sizes; the largest upload with one digest fits. */
const MAX_HASHED_BYTES = 64 * 1024 * 1024;

/** Blob/get: data, digests and sizes. Has no state, since blobs never change. RFC 9404 4.2. */
export const blobGet: JmapMethod = {
  name: 'Blob/get',
  capability: BLOB,
  async run(call, args) {
    const read = object({
      accountId: access(call),
      ids: list(idOrCreation),
      properties: nullable(list(text)),
      offset: nullable(unsigned),
      length: nullable(unsigned),
    })(args, '');
    const { account } = read.accountId;
    const unknown = read.properties?.find((name) => !isBlobProperty(name));
    if (unknown !== undefined) throw wrong('properties', `must not have "${unknown.slice(0, 100)}"`);
    const properties = new Set(read.properties ?? ['data', 'size']);
    const ids = [...new Set(read.ids.map((one) => resolveCreationId(call, one) ?? one))];
    if (ids.length > call.context.limits.maxObjectsInGet) throw tooManyObjects(call);
    const wantsData = [...properties].some((name) => name.startsWith('data'));
    const budget = new ReadBudget(wantsData ? MAX_OCTETS_READ : MAX_HASHED_BYTES, wantsData ? call.memory : undefined);
    const range = { offset: read.offset ?? 0, length: read.length };
    const found: Record<string, unknown>[] = [];
    const notFound: string[] = [];
    for (const id of ids) {
      const ref = blobRef(account, id);
      const blob = ref && (await openReadableBlob(call, account, ref, budget));
      if (blob === undefined) notFound.push(id);
      else found.push(await blobObject(id, blob, properties, range, budget));
      await yieldToEventLoop(account);
    }
    return { accountId: args['accountId'], list: found, notFound };
  },
};

/** Digest names of RFC 9404 3 and of Node. */
const DIGESTS = { sha: 'sha1', 'sha-256': 'sha256', 'sha-512': 'sha512' } as const;
export const DIGEST_NAMES = Object.keys(DIGESTS) as (keyof typeof DIGESTS)[];

const DATA = ['data', 'data:asText', 'data:asBase64'];
const PROPERTIES = new Set(['size', ...DATA, ...DIGEST_NAMES.map((name) => `digest:${name}`)]);

const isBlobProperty = (name: string): boolean => name === 'id' || PROPERTIES.has(name);

interface BlobRange {
  offset: number;
  /** Null for the rest of the blob. */
  length: number | null;
}

/** A Blob/get object; data and digests cover the range. Throws `requestTooLarge`. RFC 9404 4.2. */
async function blobObject(
  id: string,
  blob: JmapBlob,
  properties: ReadonlySet<string>,
  { offset, length }: BlobRange,
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
    ...(wantsData && dataProperties(octets, properties)),
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

/** `data` becomes text if it is valid UTF-8, else base64; invalid text is null. */
function dataProperties(octets: Buffer, properties: ReadonlySet<string>): Record<string, unknown> {
  const dataRequested = properties.has('data');
  const wantsText = dataRequested || properties.has('data:asText');
  const text = wantsText ? utf8(octets) : undefined;
  const problem = wantsText && text === undefined;
  const asBase64 = properties.has('data:asBase64') || (dataRequested && problem);
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

import { idOrCreation, list, nullable, object, text, unsigned, wrong } from '../arguments.ts';
import { openShown } from '../blobs.ts';
import { realId } from '../created.ts';
import type { ReadBudget } from '../email/read-budget.ts';
import { blobRef } from '../ids.ts';
import type { Call } from '../method.ts';
import { SetRefusal } from '../set-refusal.ts';

/** RFC 9404 3: of one blob. */
export const MOST_SOURCES = 64;

/** A piece of a blob that is to be. */
export interface DataSource {
  size: number;
  stream(): AsyncIterable<Buffer>;
}

interface Asked {
  call: Call;
  account: number;
  budget: ReadBudget;
}

const SOURCE = object({
  'data:asText': nullable(text),
  'data:asBase64': nullable(text),
  blobId: nullable(idOrCreation),
  offset: nullable(unsigned),
  length: nullable(unsigned),
});

type Given = ReturnType<typeof SOURCE>;

/** The pieces of one blob in their order. Throws what is wrong with one of them. RFC 9404 4.1. */
export async function readSources(asked: Asked, value: unknown): Promise<DataSource[]> {
  const given = list(SOURCE)(value, 'data');
  if (given.length > MOST_SOURCES) throw wrong('data', `must have at most ${MOST_SOURCES} sources`);
  const sources: DataSource[] = [];
  for (const [i, one] of given.entries()) sources.push(await readSource(asked, one, `data/${i}`));
  return sources;
}

async function readSource(asked: Asked, given: Given, path: string): Promise<DataSource> {
  const { 'data:asText': plain, 'data:asBase64': encoded, blobId, offset, length } = given;
  if ([plain, encoded, blobId].filter((one) => one !== null).length !== 1) {
    throw wrong(path, 'must have one of data:asText, data:asBase64 and blobId');
  }
  if (blobId !== null) return ofBlob(asked, blobId, { offset, length }, path);
  if (offset !== null || length !== null) throw wrong(path, 'must have offset and length with a blobId only');
  return ofOctets(plain === null ? fromBase64(encoded ?? '', path) : Buffer.from(plain));
}

async function ofBlob(
  { call, account, budget }: Asked,
  given: string,
  { offset, length }: Pick<Given, 'offset' | 'length'>,
  path: string,
): Promise<DataSource> {
  const id = realId(call, given);
  const ref = id === undefined ? undefined : blobRef(account, id);
  const blob = ref && (await openShown(call, account, ref, budget));
  if (blob === undefined) {
    throw new SetRefusal('blobNotFound', `The account has no blob ${given}: upload it first.`, { notFound: [given] });
  }
  const start = offset ?? 0;
  const end = length === null ? blob.size : start + length;
  // Nothing is guessed: a range that is not all there makes no blob.
  if (start > blob.size || end > blob.size) throw wrong(path, `must lie within the ${blob.size} octets of the blob`);
  return { size: end - start, stream: () => blob.stream(start, end) };
}

/** As RFC 4648 4 writes it: what does not come out the same was not written by it. */
function fromBase64(encoded: string, path: string): Buffer {
  const octets = Buffer.from(encoded, 'base64');
  if (octets.toString('base64') !== encoded) throw wrong(`${path}/data:asBase64`, 'must be base64 with its padding');
  return octets;
}

function ofOctets(octets: Buffer): DataSource {
  const stream = async function* (): AsyncIterable<Buffer> {
    yield octets;
  };
  return { size: octets.length, stream };
}

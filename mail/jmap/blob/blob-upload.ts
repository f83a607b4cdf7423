import type { BlobWriter, NewBlob } from '../../store/blob/blob.ts';
import { addJmapUpload, type AddUploadResult, hasUploadRoom } from '../../store/blob/jmap-upload.ts';
import { StoreBusy } from '../../store/engine/types.ts';
import { hasRoom } from '../../store/message/email-commands.ts';
import { access, fromAccess, notShareable, resolveCreationId } from '../core/access.ts';
import {
  anything,
  idOrCreation,
  list,
  mapOf,
  nullable,
  object,
  plainObject,
  text,
  unsigned,
  wrong,
} from '../core/arguments.ts';
import { BLOB, CORE } from '../core/capabilities.ts';
import type { SetError } from '../core/errors.ts';
import { blobId, blobRef } from '../core/ids.ts';
import { mediaType } from '../core/media-type.ts';
import type { JmapContext, JmapMethod, MethodCall } from '../core/method.ts';
import { ReadBudget } from '../email/header-values.ts';
import {
  catchRefusal,
  checkCount,
  createEach,
  done,
  refused,
  type SetOutcome,
  SetRefusal,
} from '../standard/standard-set.ts';
import { openReadableBlob, uploadWords } from './blobs.ts';

/** Maximum octets of encoded parts that one call decodes only to learn their size. */
const MAX_DECODED_BYTES = 64 * 1024 * 1024;

const UPLOAD = object({ data: anything, type: nullable(text) });

/** Blob/upload. RFC 9404 4.1. */
export const blobUpload: JmapMethod = {
  name: 'Blob/upload',
  capability: BLOB,
  async run(call, args) {
    const { accountId, create } = object({ accountId: access(call, 'write'), create: mapOf(plainObject) })(args, '');
    checkCount(call, create.size);
    const target = { call, account: accountId.account, budget: new ReadBudget(MAX_DECODED_BYTES) };
    const made = await createEach(call, create, (given) => catchRefusal(call.context.log, () => upload(target, given)));
    return { accountId: args['accountId'], ...made };
  },
};

async function upload(
  target: { call: MethodCall; account: number; budget: ReadBudget },
  given: Record<string, unknown>,
): Promise<SetOutcome<CreatedBlob>> {
  const { data, type: named } = UPLOAD(given, '');
  const type = named === null ? 'application/octet-stream' : mediaType(named);
  if (type === undefined) throw wrong('type', 'must be a media type such as text/plain');
  const sources = await readSources(target, data);
  const size = sources.reduce((sum, source) => sum + source.size, 0);
  return storeOctets(target.call, { account: target.account, type }, { size, stream: () => joined(sources) });
}

async function* joined(sources: readonly DataSource[]): AsyncIterable<Buffer> {
  for (const source of sources) yield* source.stream();
}

/** Blob/copy. One blob's failure does not affect the others. RFC 8620 6.3. */
export const blobCopy: JmapMethod = {
  name: 'Blob/copy',
  capability: CORE,
  canShare: true,
  async run(call, args) {
    const { fromAccountId, accountId, blobIds } = object({
      fromAccountId: fromAccess(call),
      accountId: access(call, 'write'),
      blobIds: list(idOrCreation),
    })(args, '');
    // An upload has no owner but the account: others who use it would see it.
    if (accountId.shared !== undefined) throw notShareable();
    checkCount(call, blobIds.length);
    const copied = new Map<string, string>();
    const notCopied = new Map<string, SetError>();
    const budget = new ReadBudget(MAX_DECODED_BYTES);
    const where = { from: fromAccountId.account, to: accountId.account, budget };
    for (const id of new Set(blobIds)) {
      const outcome = await catchRefusal(call.context.log, () => copy(call, where, id));
      if (outcome.kind === 'done') copied.set(id, outcome.value.id);
      else notCopied.set(id, outcome.error);
    }
    return {
      fromAccountId: args['fromAccountId'],
      accountId: args['accountId'],
      copied: copied.size === 0 ? null : Object.fromEntries(copied),
      notCopied: notCopied.size === 0 ? null : Object.fromEntries(notCopied),
    };
  },
};

async function copy(
  call: MethodCall,
  { from, to, budget }: { from: number; to: number; budget: ReadBudget },
  given: string,
): Promise<SetOutcome<CreatedBlob>> {
  const id = resolveCreationId(call, given);
  const ref = id === undefined ? undefined : blobRef(from, id);
  const blob = ref && (await openReadableBlob(call, from, ref, budget));
  if (blob === undefined) return refused('notFound', `The source account has no blob ${given}.`);
  const { size, type } = blob;
  return storeOctets(call, { account: to, type }, { size, stream: () => blob.stream(0, size) });
}

/** Maximum data sources of one blob. RFC 9404 3. */
export const MAX_DATA_SOURCES = 64;

/** One source of a new blob's octets. */
interface DataSource {
  size: number;
  stream(): AsyncIterable<Buffer>;
}

interface BlobTarget {
  call: MethodCall;
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

/** Reads the data sources of one blob; throws for an invalid one. RFC 9404 4.1. */
async function readSources(target: BlobTarget, value: unknown): Promise<DataSource[]> {
  const given = list(SOURCE)(value, 'data');
  if (given.length > MAX_DATA_SOURCES) throw wrong('data', `must have at most ${MAX_DATA_SOURCES} sources`);
  const sources: DataSource[] = [];
  for (const [i, one] of given.entries()) sources.push(await readSource(target, one, `data/${i}`));
  return sources;
}

async function readSource(target: BlobTarget, given: Given, path: string): Promise<DataSource> {
  const { 'data:asText': plain, 'data:asBase64': encoded, blobId, offset, length } = given;
  if ([plain, encoded, blobId].filter((one) => one !== null).length !== 1) {
    throw wrong(path, 'must have one of data:asText, data:asBase64 and blobId');
  }
  if (blobId !== null) return ofBlob(target, blobId, { offset, length }, path);
  if (offset !== null || length !== null) throw wrong(path, 'can have offset and length only with a blobId');
  return ofOctets(plain === null ? fromBase64(encoded ?? '', path) : Buffer.from(plain));
}

async function ofBlob(
  { call, account, budget }: BlobTarget,
  given: string,
  { offset, length }: Pick<Given, 'offset' | 'length'>,
  path: string,
): Promise<DataSource> {
  const id = resolveCreationId(call, given);
  const ref = id === undefined ? undefined : blobRef(account, id);
  const blob = ref && (await openReadableBlob(call, account, ref, budget));
  if (blob === undefined) {
    throw new SetRefusal('blobNotFound', `No blob ${given} in the account. Upload it first.`, { notFound: [given] });
  }
  const start = offset ?? 0;
  const end = length === null ? blob.size : start + length;
  // A range beyond the end is an error. RFC 9404 4.1.
  if (start > blob.size || end > blob.size) throw wrong(path, `must lie within the ${blob.size} octets of the blob`);
  return { size: end - start, stream: () => blob.stream(start, end) };
}

/** Decodes strict base64 (RFC 4648 4): rejects input that does not round-trip. */
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

/** A created blob in a method response. */
type CreatedBlob = Record<string, unknown> & { id: string; type: string; size: number };

interface Octets {
  size: number;
  stream(): AsyncIterable<Buffer>;
}

/**
 * Stores octets as an upload of an account. Checks quota and size before a file is written: a request may name many
 * large blobs.
 */
async function storeOctets(
  { context, session }: MethodCall,
  { account, type }: { account: number; type: string },
  octets: Octets,
): Promise<SetOutcome<CreatedBlob>> {
  const { size } = octets;
  const most = context.limits.maxSizeUpload;
  if (size > most) return refused('tooLarge', `A blob can have at most ${most} octets.`, { maxSize: most });
  if (!(await context.store.read(hasRoom, { account, more: size }))) {
    return refused('overQuota', 'The mailbox quota would be exceeded. Delete mail first.');
  }
  if (!(await context.store.read(hasUploadRoom, { account, more: size, now: context.clock() }))) return uploadsFull();
  const kept = await storeUploadStream(context, { account, type }, octets.stream(), most);
  if (kept.kind !== 'uploaded') return uploadsFull();
  await session.onWords?.({ account, kinds: [uploadWords(kept.upload)], written: true });
  return done({ id: blobId({ kind: 'upload', upload: kept.upload }), type, size: kept.size });
}

const uploadsFull = (): SetOutcome<never> =>
  refused('overQuota', 'The account has reached 1,000 uploads or 500 MB. Use them or wait a day.');

type UploadStreamResult = AddUploadResult | { kind: 'too-large' };

/**
 * Stores a stream as an upload of an account. Leaves nothing if it exceeds `most`, ends early or is refused. Throws
 * {@link StoreBusy} if the store cannot write now.
 */
export async function storeUploadStream(
  context: Pick<JmapContext, 'store'>,
  { account, type }: { account: number; type: string },
  pieces: AsyncIterable<Buffer>,
  most: number,
): Promise<UploadStreamResult> {
  const { store } = context;
  const busy = store.unavailable();
  if (busy !== undefined) throw busy;
  const writer = store.files.create();
  const blob = await written(writer, pieces, most);
  if (blob === undefined) return { kind: 'too-large' };
  const octets = 'data' in blob ? { data: blob.data, file: null } : { data: null, file: blob };
  try {
    const done = await store.write(addJmapUpload, { account, type, ...octets });
    if (done.kind !== 'uploaded') writer.abort();
    else if (octets.file !== null) store.files.release(octets.file.file);
    return done;
  } catch (error) {
    // After any error but StoreBusy the row may be committed and need its file; the cleanup at the next start decides.
    if (error instanceof StoreBusy) writer.abort();
    throw error;
  }
}

/** Writes the stream; undefined if it exceeds `most` octets. Aborts the file in that case and on errors. */
async function written(writer: BlobWriter, pieces: AsyncIterable<Buffer>, most: number): Promise<NewBlob | undefined> {
  try {
    if (await takeAll(writer, pieces, most)) return await writer.finish();
    writer.abort();
    return undefined;
  } catch (error) {
    writer.abort();
    throw error;
  }
}

/** Returns false if the stream exceeds `most` octets. Drains it anyway, so that the client reads the error. */
async function takeAll(writer: BlobWriter, pieces: AsyncIterable<Buffer>, most: number): Promise<boolean> {
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size <= most) await writer.write(piece);
  }
  return size <= most;
}

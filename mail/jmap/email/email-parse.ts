import { yieldToEventLoop } from '../../limits/event-loop.ts';
import { readFields } from '../../message/header.ts';
import type { MessageIndex } from '../../message/index-types.ts';
import { MessageIndexer } from '../../message/indexer.ts';
import { storedParts } from '../../store/blob/stored-part.ts';
import { type JmapBlob, openReadableBlob, smallBlob } from '../blob/blobs.ts';
import { readAccess, resolveCreationId } from '../core/access.ts';
import { idOrCreation, list, nullable, object, text } from '../core/arguments.ts';
import { MAIL } from '../core/capabilities.ts';
import { blobId, blobRef, type BlobRef, innerRef } from '../core/ids.ts';
import type { JmapMethod, MethodCall } from '../core/method.ts';
import { pickProperties, tooManyObjects } from '../standard/standard-get.ts';
import {
  checkProperties,
  DEFAULT_CONTENT,
  type EmailSelection,
  METADATA,
  readEmailSelection,
  SELECTION_ARGUMENTS,
} from './email-selection.ts';
import { readContent } from './message-content.ts';
import type { MessageSource } from './message-source.ts';
import { ReadBudget } from './header-values.ts';

/** Maximum octets that one call reads to parse blobs and return their content. */
const MAX_PARSED_BYTES = 64 * 1024 * 1024;

const NO_METADATA = Object.fromEntries(METADATA.map((name) => [name, null]));

/** Email/parse. RFC 8621 4.9. */
export const emailParse: JmapMethod = {
  name: 'Email/parse',
  capability: MAIL,
  async run(call, args) {
    const shape = { accountId: text, blobIds: list(idOrCreation), properties: nullable(list(text)) };
    const request = object({ ...shape, ...SELECTION_ARGUMENTS })(args, '');
    const { account } = readAccess(call, request.accountId);
    const properties = new Set(request.properties ?? DEFAULT_CONTENT);
    checkProperties(properties);
    const selection = readEmailSelection([...properties], request);
    const blobIds = [...new Set(request.blobIds.map((one) => resolveCreationId(call, one) ?? one))];
    if (blobIds.length > call.context.limits.maxObjectsInGet) throw tooManyObjects(call);
    const budget = new ReadBudget(MAX_PARSED_BYTES, call.memory);
    const parsed = new Map<string, Record<string, unknown>>();
    const failed: Record<'notParsable' | 'notFound', string[]> = { notParsable: [], notFound: [] };
    for (const id of blobIds) {
      const found = await parse(call, account, id, selection, budget);
      if (typeof found === 'string') failed[found].push(id);
      else parsed.set(id, found);
      await yieldToEventLoop(account);
    }
    return {
      accountId: request.accountId,
      parsed: parsed.size === 0 ? null : Object.fromEntries(parsed),
      notParsable: orNull(failed.notParsable),
      notFound: orNull(failed.notFound),
    };
  },
};

async function parse(
  call: MethodCall,
  account: number,
  id: string,
  selection: EmailSelection,
  budget: ReadBudget,
): Promise<Record<string, unknown> | 'notParsable' | 'notFound'> {
  const ref = blobRef(account, id);
  const blob = ref && (await openReadableBlob(call, account, ref, budget));
  if (ref === undefined || blob === undefined) return 'notFound';
  const source = await parsedSource(call, account, ref, blob, budget);
  if (source === undefined) return 'notParsable';
  const known = { ...NO_METADATA, blobId: id, size: blob.size };
  return { ...pickProperties(known, new Set(selection.properties)), ...(await readContent(source, selection, budget)) };
}

const orNull = (ids: string[]): string[] | null => (ids.length === 0 ? null : ids);

/** Blobs up to this many octets are read into memory for parsing; larger ones are streamed. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;

/** Octets read to check that a blob begins with a header field. */
const HEADER_PROBE_BYTES = 8 * 1024;

type Read = MessageSource['read'];

/** Parses a blob as a message; undefined if it does not begin with a header field. */
async function parsedSource(
  call: MethodCall,
  account: number,
  ref: BlobRef,
  blob: JmapBlob,
  budget: ReadBudget,
): Promise<MessageSource | undefined> {
  budget.take(blob.size);
  const read = await reader(blob, ref, budget);
  const [first] = readFields((await read(0, HEADER_PROBE_BYTES)).toString('latin1'), 1);
  if (first === undefined || first.name === '') return undefined;
  const index = await indexed(blob, read);
  return {
    trace: '',
    headerLength: index.headerLength,
    envelope: index.envelope,
    bodyStructure: index.bodyStructure,
    parts: index.parts,
    preview: index.preview,
    hasAttachment: index.hasAttachment,
    read,
    partBlobId: await partIds(call, account, ref),
  };
}

async function reader(blob: JmapBlob, ref: BlobRef, budget: ReadBudget): Promise<Read> {
  const kept = await smallBlob(blob, MAX_BUFFERED_BYTES);
  if (kept !== undefined) return (start, length) => Promise.resolve(kept.subarray(start, start + length));
  return async (start, length) => {
    // An encoded part is decoded from its start for each read.
    if (ref.kind === 'part' || ref.kind === 'inner') budget.take(start);
    const pieces: Buffer[] = [];
    for await (const piece of blob.stream(start, Math.min(blob.size, start + length))) pieces.push(piece);
    return Buffer.concat(pieces);
  };
}

async function indexed(blob: JmapBlob, read: Read): Promise<MessageIndex> {
  const indexer = new MessageIndexer();
  if (blob.size <= MAX_BUFFERED_BYTES) indexer.push(await read(0, blob.size));
  else for await (const piece of blob.stream(0, blob.size)) indexer.push(piece);
  return indexer.end();
}

/** Blob ids of parts: by path in a stored message, else relative to the containing blob. */
async function partIds(call: MethodCall, account: number, ref: BlobRef): Promise<(path: string) => string | null> {
  const inner = (path: string): string | null => {
    const inside = innerRef(ref, path);
    return inside === undefined ? null : blobId(inside);
  };
  if (ref.kind === 'upload' || ref.kind === 'inner') return inner;
  const { email } = ref;
  if (ref.kind === 'message') return (path) => blobId({ kind: 'part', email, path });
  const outer = await call.context.store.read(storedParts, { account, email });
  const known = new Set(outer?.parts.map(({ path }) => path));
  return (path) => {
    const inside = `${ref.path}.${path}`;
    return known.has(inside) ? blobId({ kind: 'part', email, path: inside }) : inner(path);
  };
}

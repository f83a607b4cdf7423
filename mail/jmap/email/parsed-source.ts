import { readFields } from '../../message/header.ts';
import { MessageIndexer } from '../../message/indexer.ts';
import type { MessageIndex } from '../../message/index-types.ts';
import { storedParts } from '../../store/stored-part.ts';
import { type JmapBlob, smallBlob } from '../blobs.ts';
import { blobId, type BlobRef, innerRef } from '../ids.ts';
import type { Call } from '../method.ts';
import type { MessageSource } from './message-source.ts';
import type { ReadBudget } from './read-budget.ts';

/** Up to this many octets a blob is read once and kept while it is parsed; more are streamed. */
const KEPT = 4 * 1024 * 1024;

/** As much of a header as it takes to see that it is one. */
const HEAD = 8 * 1024;

type Read = MessageSource['read'];

/** Reads a blob as a message, as it would be read had it come by mail. Undefined: it does not begin as a message does. */
export async function parsedSource(
  call: Call,
  account: number,
  ref: BlobRef,
  blob: JmapBlob,
  budget: ReadBudget,
): Promise<MessageSource | undefined> {
  budget.take(blob.size);
  const read = await reader(blob, ref, budget);
  const [first] = readFields((await read(0, HEAD)).toString('latin1'), 1);
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
  const kept = await smallBlob(blob, KEPT);
  if (kept !== undefined) return (start, length) => Promise.resolve(kept.subarray(start, start + length));
  return async (start, length) => {
    // A part that is encoded is decoded from its beginning each time.
    if (ref.kind === 'part' || ref.kind === 'inner') budget.take(start);
    const pieces: Buffer[] = [];
    for await (const piece of blob.stream(start, Math.min(blob.size, start + length))) pieces.push(piece);
    return Buffer.concat(pieces);
  };
}

async function indexed(blob: JmapBlob, read: Read): Promise<MessageIndex> {
  const indexer = new MessageIndexer();
  if (blob.size <= KEPT) indexer.push(await read(0, blob.size));
  else for await (const piece of blob.stream(0, blob.size)) indexer.push(piece);
  return indexer.end();
}

/** Parts of a stored message are known by their place in it; those of any other are told by what holds that one. */
async function partIds(call: Call, account: number, ref: BlobRef): Promise<(path: string) => string | null> {
  const inner = (path: string): string | null => {
    const inside = innerRef(ref, path);
    return inside === undefined ? null : blobId(inside);
  };
  if (ref.kind === 'upload' || ref.kind === 'inner') return inner;
  const { email } = ref;
  if (ref.kind === 'message') return (path) => blobId({ kind: 'part', email, path });
  const outer = await call.desk.store.read(storedParts, { account, email });
  const known = new Set(outer?.parts.map(({ path }) => path));
  return (path) => {
    const inside = `${ref.path}.${path}`;
    return known.has(inside) ? blobId({ kind: 'part', email, path: inside }) : inner(path);
  };
}

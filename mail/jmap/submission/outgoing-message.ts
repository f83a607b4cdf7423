import { isAscii } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { MessageOctets } from '../../delivery/octet-reader.ts';
import { SubmissionHeader, type SubmissionStamp } from '../../delivery/submission-header.ts';
import type { Authors } from '../../message/authors.ts';
import { type Field, readFields } from '../../message/header.ts';
import type { MessageIndex } from '../../message/index-types.ts';
import { MessageIndexer } from '../../message/indexer.ts';
import type { BlobWriter } from '../../store/blob/blob.ts';
import { isMismatch } from '../standard/state-track.ts';
import { StoreBusy } from '../../store/engine/types.ts';
import type { MailStore } from '../../store/store.ts';

const CHUNK = 64 * 1024;

/** A message to send: without Bcc, with Date and Message-ID. */
export interface OutgoingCopy {
  index: MessageIndex;
  fields: Field[];
  authors: Authors;
  authorDomains: string[];
  /** Has non-ASCII octets; in the header they need SMTPUTF8. */
  eightBit: boolean;
  utf8Header: boolean;
  /** Hex. */
  sha256: string;
}

/** Writes the outgoing copy of a blob and passes it to `commit`; deletes the copy unless the outcome is `done`. */
export async function withMessage<T extends { kind: string }>(
  store: MailStore,
  from: { blob: number; size: number },
  stamp: SubmissionStamp,
  commit: (message: OutgoingCopy, octets: MessageOctets) => Promise<T>,
): Promise<T> {
  const writer = store.files.create();
  let crossing = false;
  try {
    const message = await copy(store, from, new SubmissionHeader(stamp), writer);
    const blob = await writer.finish();
    crossing = true;
    const octets = 'data' in blob ? { data: blob.data, file: null } : { data: null, file: blob };
    const outcome = await commit(message, octets);
    if (outcome.kind !== 'done') writer.abort();
    else if ('file' in blob) store.files.release(blob.file);
    return outcome;
  } catch (error) {
    // After `commit` began, the transaction may be on disk on any other error; the cleanup at the next start decides.
    if (!crossing || error instanceof StoreBusy || isMismatch(error)) writer.abort();
    throw error;
  }
}

async function copy(
  store: MailStore,
  { blob, size }: { blob: number; size: number },
  header: SubmissionHeader,
  writer: BlobWriter,
): Promise<OutgoingCopy> {
  const indexer = new MessageIndexer(store.secretLinks);
  const hash = createHash('sha256');
  let eightBit = false;
  let head = '';
  const keep = async (chunk: Buffer | undefined): Promise<void> => {
    if (chunk === undefined) return;
    // The first chunk is the whole rewritten header.
    if (head === '') head = chunk.toString('latin1');
    eightBit ||= !isAscii(chunk);
    indexer.push(chunk);
    hash.update(chunk);
    await writer.write(chunk);
  };
  for (let at = 0; at < size; at += CHUNK) {
    await keep(header.push(await store.blob(blob, at, Math.min(CHUNK, size - at))));
  }
  await keep(header.end());
  const index = indexer.end();
  const text = head.slice(0, index.headerLength);
  const utf8Header = /[^\x00-\x7f]/.test(text);
  const { authors, authorDomains } = header;
  return { index, fields: readFields(text), authors, authorDomains, eightBit, utf8Header, sha256: hash.digest('hex') };
}

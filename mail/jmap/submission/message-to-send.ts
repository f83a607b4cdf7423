import { createHash } from 'node:crypto';
import { SubmissionHeader } from '../../delivery/submission-header.ts';
import type { Authors } from '../../message/authors.ts';
import type { MessageIndex } from '../../message/index-types.ts';
import { MessageIndexer } from '../../message/indexer.ts';
import type { BlobWriter } from '../../store/blob.ts';
import { isMismatch } from '../state-track.ts';
import { StoreBusy } from '../../store/engine/types.ts';
import type { MailStore } from '../../store/store.ts';

const CHUNK = 64 * 1024;

/** The octets as they cross to the writer: in the message itself, or the name of their file. */
export interface Octets {
  data: Uint8Array | null;
  file: { file: string; size: number } | null;
}

/** A message as it leaves: without Bcc, with Date and Message-ID. */
export interface MessageToSend {
  index: MessageIndex;
  authors: Authors;
  authorDomains: string[];
  /** It has octets above ASCII; the header among them needs SMTPUTF8. */
  eightBit: boolean;
  utf8Header: boolean;
  /** Hex. */
  sha256: string;
}

/**
 * Copies a blob as it is to leave and has it sent by `commit`; unless that is `done`, nothing of the copy stays.
 */
export async function withMessage<T extends { kind: string }>(
  store: MailStore,
  from: { blob: number; size: number },
  stamp: { now: number; messageIdDomain: string; id: string },
  commit: (message: MessageToSend, octets: Octets) => Promise<T>,
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
    else if ('file' in blob) store.files.settled(blob.file);
    return outcome;
  } catch (error) {
    // Once it was handed over, the transaction may be on disk after anything but a clear refusal: the sweep knows.
    if (!crossing || error instanceof StoreBusy || isMismatch(error)) writer.abort();
    throw error;
  }
}

async function copy(
  store: MailStore,
  { blob, size }: { blob: number; size: number },
  header: SubmissionHeader,
  writer: BlobWriter,
): Promise<MessageToSend> {
  const indexer = new MessageIndexer(store.secretLinks);
  const hash = createHash('sha256');
  let eightBit = false;
  let head = '';
  const keep = async (chunk: Buffer | undefined): Promise<void> => {
    if (chunk === undefined) return;
    // Its first piece is the header, rewritten; what is behind it cannot begin before it is whole.
    if (head === '') head = chunk.toString('latin1');
    eightBit ||= isEightBit(chunk);
    indexer.push(chunk);
    hash.update(chunk);
    await writer.write(chunk);
  };
  for (let at = 0; at < size; at += CHUNK) {
    await keep(header.push(await store.blob(blob, at, Math.min(CHUNK, size - at))));
  }
  await keep(header.end());
  const index = indexer.end();
  const utf8Header = /[^\x00-\x7f]/.test(head.slice(0, index.headerLength));
  const { authors, authorDomains } = header;
  return { index, authors, authorDomains, eightBit, utf8Header, sha256: hash.digest('hex') };
}

function isEightBit(chunk: Buffer): boolean {
  return chunk.some((octet) => octet > 127);
}

import { createHash } from 'node:crypto';
import { type Part, unpackParts } from '../../message/parts.ts';
import { decodeStream } from '../../message/transfer-stream.ts';
import { readParts } from '../../store/read-parts.ts';
import type { MailStore } from '../../store/store.ts';
import { readerOf } from './asking.ts';
import type { AgentSending } from './types.ts';

const PIECE = 256 * 1024;
/** Octets: what is smaller is the same by accident. */
const LEAST = 32;
/** Octets of files that are compared for one message. */
const MOST_COMPARED = 64 * 1024 * 1024;

type ReadOctets = (start: number, length: number) => Promise<Buffer>;

/** A message that an agent sends, and who it is. */
interface Carrying {
  tenant: number;
  agent: AgentSending;
  /** Row of the message that it answers; null: none. */
  answers: number | null;
  parts: string;
  read: ReadOctets;
  /** ms UTC. */
  now: number;
}

/**
 * Whether a message carries a file of mail of outsiders that its agent has read, of a conversation other than the one that
 * it answers. It is known by its octets: however it came into the message, it is somebody else's mail that is handed on.
 */
export async function carriesRead(store: MailStore, message: Carrying): Promise<boolean> {
  const { tenant, agent, answers, now, read } = message;
  const files = unpackParts(message.parts).filter(isFile);
  if (files.length === 0) return false;
  const sending = { tenant, reader: readerOf(agent), byPassword: agent.byPassword === true };
  const known = await store.read(readParts, { ...sending, answers, now });
  let left = MOST_COMPARED;
  for (const file of files) {
    const alike = known.flatMap(({ blob, parts }) =>
      parts.filter((part) => isLeaf(part) && part.decodedLength === file.decodedLength).map((part) => ({ blob, part })),
    );
    if (alike.length === 0) continue;
    const digest = await digestOf(file, read);
    for (const { blob, part } of alike) {
      left -= part.bodyLength;
      // So much that is alike in length is no accident.
      if (left < 0) return true;
      if ((await digestOf(part, (start, length) => store.blob(blob, start, length))) === digest) return true;
    }
  }
  return false;
}

function isLeaf({ type, decodedLength }: Part): boolean {
  return type !== 'multipart' && decodedLength >= LEAST;
}

/** A text that was written for this message is none. */
function isFile(part: Part): boolean {
  return isLeaf(part) && (part.type !== 'text' || part.disposition === 'attachment' || part.filename !== '');
}

async function digestOf({ bodyOffset, bodyLength, encoding }: Part, read: ReadOctets): Promise<string> {
  const digest = createHash('sha256');
  const pieces = async function* (): AsyncIterable<Buffer> {
    for (let at = 0; at < bodyLength; at += PIECE) yield await read(bodyOffset + at, Math.min(PIECE, bodyLength - at));
  };
  for await (const piece of decodeStream(pieces(), encoding)) digest.update(piece);
  return digest.digest('hex');
}

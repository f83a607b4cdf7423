import { createHash } from 'node:crypto';
import { readFields } from '../../message/header.ts';
import { type Part, unpackParts } from '../../message/parts.ts';
import { decodeStream } from '../../message/transfer-stream.ts';
import { downloadsLike, type Download, MIN_COMPARED } from '../taint/downloads.ts';
import type { MailStore } from '../../store/store.ts';
import { readerOf } from './gate-input.ts';
import type { AgentSending } from './types.ts';

const CHUNK = 256 * 1024;
/** Octets of a text part to compare: shorter texts are the same by accident. */
const MIN_TEXT_OCTETS = 128;
/** Minimum cost of comparing a part, in octets: there may be very many small ones. */
const MIN_COMPARE_COST = 16 * 1024;
/** Octets compared for one message. */
const MAX_COMPARED_OCTETS = 64 * 1024 * 1024;
/** Octets of a part searched for the header of a message. */
const HEAD = 16 * 1024;

type ReadOctets = (start: number, length: number) => Promise<Buffer>;

/** An agent's outgoing message, and the agent. */
interface OutgoingContent {
  tenant: number;
  agent: AgentSending;
  /** Row of the answered message; null: none. */
  answers: number | null;
  parts: string;
  read: ReadOctets;
  /** ms UTC. */
  now: number;
}

/** Forwarded content in a message: somebody else's mail; mail of the answered conversation; none. */
export type ForwardedContent = 'other' | 'answered' | 'nothing';

/**
 * Finds forwarded mail: an attached message, or content that the agent downloaded. Content is compared by its octets, so
 * neither its file name nor the way into the message matters.
 */
export async function findQuotedContent(store: MailStore, message: OutgoingContent): Promise<ForwardedContent> {
  const leaves = unpackParts(message.parts).filter(({ type }) => type !== 'multipart');
  for (const leaf of leaves) if (await isMessage(leaf, message.read)) return 'other';
  const sent = leaves.filter(isCompared);
  const sizes = [...new Set(sent.map(({ decodedLength }) => decodedLength))];
  if (sizes.length === 0) return 'nothing';
  const { tenant, agent, answers, now } = message;
  const { credential, byPassword = false } = agent;
  const who = { tenant, reader: readerOf(agent), credential, byPassword };
  const known = await store.read(downloadsLike, { ...who, answers, sizes, now });
  const others = known.filter(({ answered }) => !answered);
  if (await carriesAny(store, { sent, read: message.read, known: others })) return 'other';
  const answered = known.filter((one) => one.answered);
  return (await carriesAny(store, { sent, read: message.read, known: answered })) ? 'answered' : 'nothing';
}

/** Tests by type, or by the first octets: a message that cannot be attached as one is sent as a file. */
async function isMessage(part: Part, read: ReadOctets): Promise<boolean> {
  const { type, subtype } = part;
  if (type === 'message' && (subtype === 'rfc822' || subtype === 'global')) return true;
  const head: Buffer[] = [];
  const octets = piecesOf(read, { ...part, bodyLength: Math.min(part.bodyLength, HEAD) });
  for await (const piece of decodeStream(octets, part.encoding)) head.push(piece);
  return beginsAsMessage(Buffer.concat(head).toString('latin1'));
}

/** Header fields that only programs write: a text that merely names sender and recipient is no message. */
const PROGRAM_FIELDS = ['message-id', 'received', 'return-path', 'mime-version', 'dkim-signature', 'delivered-to'];
const MESSAGE_FIELDS = new Set([...PROGRAM_FIELDS, 'from', 'to', 'cc', 'date', 'subject', 'reply-to', 'content-type']);

function beginsAsMessage(text: string): boolean {
  // Skips a byte order mark, and empty lines before pasted text.
  const fields = readFields(text.replace(/^(?:\xef\xbb\xbf)?[\r\n]*/, ''), 100);
  // A trace field has its date behind a semicolon (RFC 5321 4.4); "Received: EUR 250" in a text has not.
  const names = new Set<string>();
  for (const { name, value } of fields) {
    if (MESSAGE_FIELDS.has(name) && (name !== 'received' || value.includes(';'))) names.add(name);
  }
  return names.size >= 3 && PROGRAM_FIELDS.some((name) => names.has(name));
}

function isCompared(part: Part): boolean {
  return part.decodedLength >= (isPlainText(part) ? MIN_TEXT_OCTETS : MIN_COMPARED);
}

/** Tests for a text part without a name: mostly written by a person, or by a program for them. */
function isPlainText({ type, disposition, filename }: Part): boolean {
  return type === 'text' && disposition !== 'attachment' && filename === '';
}

interface Comparison {
  sent: readonly Part[];
  read: ReadOctets;
  known: readonly Download[];
}

async function carriesAny(store: MailStore, { sent, read, known }: Comparison): Promise<boolean> {
  let budget = MAX_COMPARED_OCTETS;
  for (const part of sent) {
    const candidates = known.flatMap((one) => (isPlainText(part) && one.ours ? [] : partsOfLength(store, one, part)));
    if (candidates.length === 0) continue;
    const digest = await digestOf(part, read);
    for (const { octets, read: stored } of candidates) {
      budget -= Math.max(MIN_COMPARE_COST, octets.bodyLength);
      // Reaching this limit means many parts of equal length, which is no accident.
      if (budget < 0) return true;
      if ((await digestOf(octets, stored)) === digest) return true;
    }
  }
  return false;
}

type Octets = Pick<Part, 'bodyOffset' | 'bodyLength' | 'encoding'>;

/** Parts of a downloaded message, or the whole of it, with the same length as a part. */
function partsOfLength(
  store: MailStore,
  { trace, blob, size, parts }: Download,
  { decodedLength }: Part,
): { octets: Octets; read: ReadOctets }[] {
  const read: ReadOctets = (start, length) => store.blob(blob, start, length);
  const own = trace.length;
  const whole: ReadOctets = async (start, length) => {
    const before = Buffer.from(trace.slice(start, start + length), 'latin1');
    const rest = length - before.length;
    return rest === 0 ? before : Buffer.concat([before, await read(start + before.length - own, rest)]);
  };
  const alike = parts.filter((part) => part.decodedLength === decodedLength);
  return [
    ...alike.map((octets) => ({ octets, read })),
    ...(size === decodedLength ? [{ octets: { bodyOffset: 0, bodyLength: size, encoding: '7bit' }, read: whole }] : []),
  ];
}

async function* piecesOf(read: ReadOctets, { bodyOffset, bodyLength }: Octets): AsyncIterable<Buffer> {
  for (let at = 0; at < bodyLength; at += CHUNK) yield await read(bodyOffset + at, Math.min(CHUNK, bodyLength - at));
}

async function digestOf(octets: Octets, read: ReadOctets): Promise<string> {
  const digest = createHash('sha256');
  for await (const piece of decodeStream(piecesOf(read, octets), octets.encoding)) digest.update(piece);
  return digest.digest('hex');
}

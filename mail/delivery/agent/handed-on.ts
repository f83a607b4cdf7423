import { createHash } from 'node:crypto';
import { readFields } from '../../message/header.ts';
import { type Part, unpackParts } from '../../message/parts.ts';
import { decodeStream } from '../../message/transfer-stream.ts';
import { alikeHandedOut, type HandedOut, LEAST_COMPARED } from '../../store/handed-out.ts';
import type { MailStore } from '../../store/store.ts';
import { readerOf } from './asking.ts';
import type { AgentSending } from './types.ts';

const PIECE = 256 * 1024;
/** Octets of a text that is no file: shorter ones are said by many. */
const LEAST_SAID = 128;
/** What comparing with a small part costs, in octets: there may be very many. */
const LEAST_READ = 16 * 1024;
/** Octets that are compared for one message. */
const MOST_COMPARED = 64 * 1024 * 1024;
/** Octets of a part in which the header of a message is looked for. */
const HEAD = 16 * 1024;

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

/** What a message hands on: mail of somebody else; mail of the conversation that it answers; nothing. */
export type HandsOn = 'other' | 'answered' | 'nothing';

/**
 * Whether a message carries another one, or what its agent was handed of others. It is known by its octets: however it
 * came into the message and whatever it is called there, it is somebody else's mail that is handed on.
 */
export async function handsOn(store: MailStore, message: Carrying): Promise<HandsOn> {
  const leaves = unpackParts(message.parts).filter(({ type }) => type !== 'multipart');
  for (const leaf of leaves) if (await isMessage(leaf, message.read)) return 'other';
  const sent = leaves.filter(isCompared);
  const sizes = [...new Set(sent.map(({ decodedLength }) => decodedLength))];
  if (sizes.length === 0) return 'nothing';
  const { tenant, agent, answers, now } = message;
  const { credential, byPassword = false } = agent;
  const who = { tenant, reader: readerOf(agent), credential, byPassword };
  const known = await store.read(alikeHandedOut, { ...who, answers, sizes, now });
  const others = known.filter(({ answered }) => !answered);
  if (await carriesAny(store, { sent, read: message.read, known: others })) return 'other';
  const answered = known.filter((one) => one.answered);
  return (await carriesAny(store, { sent, read: message.read, known: answered })) ? 'answered' : 'nothing';
}

/** By its type, or by how it begins: a message that cannot stand in another as one is sent as a file. */
async function isMessage(part: Part, read: ReadOctets): Promise<boolean> {
  const { type, subtype } = part;
  if (type === 'message' && (subtype === 'rfc822' || subtype === 'global')) return true;
  const head: Buffer[] = [];
  const octets = piecesOf(read, { ...part, bodyLength: Math.min(part.bodyLength, HEAD) });
  for await (const piece of decodeStream(octets, part.encoding)) head.push(piece);
  return beginsAsMessage(Buffer.concat(head).toString('latin1'));
}

/** Fields that programs write and people do not: a text that only names who wrote to whom is no message. */
const OF_PROGRAMS = ['message-id', 'received', 'return-path', 'mime-version', 'dkim-signature', 'delivered-to'];
const OF_MESSAGES = new Set([...OF_PROGRAMS, 'from', 'to', 'cc', 'date', 'subject', 'reply-to', 'content-type']);

function beginsAsMessage(text: string): boolean {
  // A byte order mark, and the empty lines that programs put before what they paste.
  const fields = readFields(text.replace(/^(?:\xef\xbb\xbf)?[\r\n]*/, ''), 100);
  // "Received: EUR 250" is a person's: a trace field has its date behind a semicolon.
  const real = fields.filter(({ name, value }) => name !== 'received' || value.includes(';'));
  const names = new Set(real.map(({ name }) => name).filter((name) => OF_MESSAGES.has(name)));
  return names.size >= 3 && OF_PROGRAMS.some((name) => names.has(name));
}

function isCompared(part: Part): boolean {
  return part.decodedLength >= (isSaid(part) ? LEAST_SAID : LEAST_COMPARED);
}

/** A text without a name is mostly what somebody wrote, or a program for them. */
function isSaid({ type, disposition, filename }: Part): boolean {
  return type === 'text' && disposition !== 'attachment' && filename === '';
}

interface Compared {
  sent: readonly Part[];
  read: ReadOctets;
  known: readonly HandedOut[];
}

async function carriesAny(store: MailStore, { sent, read, known }: Compared): Promise<boolean> {
  let left = MOST_COMPARED;
  for (const part of sent) {
    const alike = known.flatMap((one) => (isSaid(part) && one.ours ? [] : piecesAlike(store, one, part)));
    if (alike.length === 0) continue;
    const digest = await digestOf(part, read);
    for (const { octets, read: stored } of alike) {
      left -= Math.max(LEAST_READ, octets.bodyLength);
      // So much that is alike in length is no accident.
      if (left < 0) return true;
      if ((await digestOf(octets, stored)) === digest) return true;
    }
  }
  return false;
}

type Octets = Pick<Part, 'bodyOffset' | 'bodyLength' | 'encoding'>;

/** What of a message that was handed out is as long as a part: it may be the whole of it. */
function piecesAlike(
  store: MailStore,
  { trace, blob, size, parts }: HandedOut,
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
  for (let at = 0; at < bodyLength; at += PIECE) yield await read(bodyOffset + at, Math.min(PIECE, bodyLength - at));
}

async function digestOf(octets: Octets, read: ReadOctets): Promise<string> {
  const digest = createHash('sha256');
  for await (const piece of decodeStream(piecesOf(read, octets), octets.encoding)) digest.update(piece);
  return digest.digest('hex');
}

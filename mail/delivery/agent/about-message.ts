import { readFields } from '../../message/header.ts';
import { firstField } from '../../message/header.ts';
import type { MessageFacts, MessageIndex } from '../../message/index-types.ts';
import { MessageIndexer } from '../../message/indexer.ts';
import { LIMITS } from '../../message/limits.ts';
import { messageIds } from '../../message/msg-id.ts';
import { unpackParts } from '../../message/parts.ts';
import { answeredEmail } from '../../store/answerable.ts';
import type { MailStore } from '../../store/store.ts';
import type { Verdict } from '../policy.ts';

const PIECE = 256 * 1024;

/** A message that is about to leave, as a door has it. */
export interface Leaving {
  /** Null: it is sent as no mailbox. */
  account: number | null;
  index: MessageFacts | MessageIndex;
  data: Uint8Array | null;
  file: { file: string; size: number } | null;
}

/** Adds to what the policy says of an agent what only its message says: what it answers, and whether it hands on another. */
export async function aboutMessage(store: MailStore, verdict: Verdict, message: Leaving): Promise<Verdict> {
  if (verdict.kind !== 'agent') return verdict;
  const read = reader(store, message);
  const { headerLength, parts } = 'envelope' in message.index ? message.index : await indexed(message.index.size, read);
  const header = await read(0, Math.min(headerLength, LIMITS.header));
  const answers = await answered(store, message.account, header.toString('latin1'));
  const forwards = unpackParts(parts).some(({ type, subtype }) => type === 'message' && HANDED_ON.has(subtype));
  return { kind: 'agent', agent: { ...verdict.agent, answers, forwards: forwards || verdict.agent.forwards } };
}

const HANDED_ON = new Set(['rfc822', 'global']);

type ReadOctets = (start: number, length: number) => Promise<Buffer>;

function reader(store: MailStore, { data, file }: Leaving): ReadOctets {
  if (file !== null) return (start, length) => store.files.read(file.file, start, length);
  const octets = Buffer.from(data ?? []);
  return (start, length) => Promise.resolve(octets.subarray(start, start + length));
}

/** Of a message to nobody here the door read the little that sending on needs. */
async function indexed(size: number, read: ReadOctets): Promise<MessageIndex> {
  const indexer = new MessageIndexer();
  for (let at = 0; at < size; at += PIECE) indexer.push(await read(at, Math.min(PIECE, size - at)));
  return indexer.end();
}

/** The row of the message that is answered, by its id in the mailbox that sends. */
async function answered(store: MailStore, account: number | null, header: string): Promise<number | null> {
  if (account === null) return null;
  const fields = readFields(header, LIMITS.fields);
  const ids = ['in-reply-to', 'references'].flatMap((name) => messageIds(firstField(fields, name) ?? '').toReversed());
  if (ids.length === 0) return null;
  return (await store.read(answeredEmail, { account, ids: [...new Set(ids)].slice(0, LIMITS.refs) })) ?? null;
}

import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { firstField, readFields } from '../../message/header.ts';
import type { MessageFacts, MessageIndex } from '../../message/index-types.ts';
import { MessageIndexer } from '../../message/indexer.ts';
import { LIMITS } from '../../message/limits.ts';
import { messageIds } from '../../message/msg-id.ts';
import { answeredEmail } from '../../store/answerable.ts';
import type { MailStore } from '../../store/store.ts';
import type { Verdict } from '../policy.ts';
import { withoutCanaries } from './canaries.ts';
import { handsOn } from './handed-on.ts';
import { soughtIn } from './secrets-in-words.ts';
import { type LookedThrough, type MessageToScan, secretsIn } from './secrets/secrets-in.ts';
import type { AgentSending, EgressWatch } from './types.ts';

const PIECE = 256 * 1024;

/** A message that is about to leave, as a door has it. */
export interface Leaving {
  /** Null: it is sent as no mailbox. */
  account: number | null;
  index: MessageFacts | MessageIndex;
  data: Uint8Array | null;
  file: { file: string; size: number } | null;
  tenant: number;
  /** Addresses of all who get it. */
  recipients: readonly string[];
  /** ms UTC. */
  now: number;
  /** By which it came, for who is told of it. */
  door: string;
  /** Row of the email that is sent, where it lies in the mailbox already. */
  draft?: number;
}

/** What the gate is told of a message, in place of what the door knew. */
export interface Told {
  verdict: Verdict;
  index: MessageFacts | MessageIndex;
  /** Of the octets, hex: what a person lets go is bound to it. Only of an agent's. */
  sha256?: string;
}

/**
 * Adds to what the policy says of an agent what only its message says: what it answers, whether it hands on another, and
 * which secrets are in it.
 */
export async function aboutMessage(store: MailStore, verdict: Verdict, message: Leaving): Promise<Told> {
  if (verdict.kind !== 'agent') return { verdict, index: message.index };
  const read = reader(store, message);
  const { index, sha256 } = await readAgain(store, message.index.size, read);
  const header = await read(0, Math.min(index.headerLength, LIMITS.header));
  const answers = verdict.agent.answers ?? (await answered(store, message.account, header.toString('latin1')));
  const carrying = { ...message, agent: verdict.agent, answers, parts: index.parts, read };
  const carried = verdict.agent.forwards ? 'other' : await handsOn(store, carrying);
  const { watch, ...agent } = verdict.agent;
  const { draft = agent.draft ?? null } = message;
  const known = { ...agent, answers, draft, forwards: carried === 'other', handsBack: carried === 'answered' };
  if (watch === undefined) return { verdict: { kind: 'agent', agent: known }, index, sha256 };
  const { secrets: found, ...looked } = await lookedThrough(store, watch, { ...message, index, read });
  const told = await withoutCanaries(store, watch, { agent: { ...known, ...looked }, found }, message);
  return { verdict: { kind: 'agent', agent: told }, index, sha256 };
}

async function lookedThrough(
  store: MailStore,
  { readDocument, ...watch }: EgressWatch,
  message: Leaving & MessageToScan,
): Promise<LookedThrough & Pick<AgentSending, 'sawSecrets'>> {
  const { sawSecrets, ...sought } = await soughtIn(store, watch, message);
  return { ...(await secretsIn({ ...message, readDocument }, sought)), sawSecrets };
}

type ReadOctets = (start: number, length: number) => Promise<Buffer>;

function reader(store: MailStore, { data, file }: Leaving): ReadOctets {
  if (file !== null) return (start, length) => store.files.read(file.file, start, length);
  const octets = Buffer.from(data ?? []);
  return (start, length) => Promise.resolve(octets.subarray(start, start + length));
}

/** Of a message to nobody here the door read the little that sending on needs: an agent's is read whole. */
async function readAgain(
  { secretLinks }: MailStore,
  size: number,
  read: ReadOctets,
): Promise<{ index: MessageIndex; sha256: string }> {
  const indexer = new MessageIndexer(secretLinks);
  const digest = createHash('sha256');
  for (let at = 0; at < size; at += PIECE) {
    const piece = await read(at, Math.min(PIECE, size - at));
    indexer.push(piece);
    digest.update(piece);
    // Taking a large message apart is work on the thread that everybody shares.
    if (at > 0) await turn();
  }
  return { index: indexer.end(), sha256: digest.digest('hex') };
}

/** The row of the message that is answered, by its id in the mailbox that sends. */
async function answered(store: MailStore, account: number | null, header: string): Promise<number | null> {
  if (account === null) return null;
  const fields = readFields(header, LIMITS.fields);
  const ids = ['in-reply-to', 'references'].flatMap((name) => messageIds(firstField(fields, name) ?? '').toReversed());
  if (ids.length === 0) return null;
  return (await store.read(answeredEmail, { account, ids: [...new Set(ids)].slice(0, LIMITS.refs) })) ?? null;
}

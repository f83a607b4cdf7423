import { createHash } from 'node:crypto';
import { yieldToEventLoop } from '../../limits/event-loop.ts';
import { type Field, firstField, readFields } from '../../message/header.ts';
import type { MessageFacts, MessageIndex } from '../../message/index-types.ts';
import { MessageIndexer } from '../../message/indexer.ts';
import { LIMITS } from '../../message/limits.ts';
import { messageIds } from '../../message/msg-id.ts';
import { findRepliedEmail } from '../../store/message/reply-target.ts';
import type { MailStore } from '../../store/store.ts';
import type { SendVerdict } from './sending-policy.ts';
import { checkCanaries } from '../canary/outgoing.ts';
import { findQuotedContent } from './quoted-content.ts';
import { loadSecretPatterns } from '../secrets/secret-patterns.ts';
import { type SecretScanResult, type MessageToScan, findSecrets } from '../secrets/find-secrets.ts';
import type { AgentSending, EgressWatch } from './types.ts';

const CHUNK = 256 * 1024;

/** Reads a range of the octets of a message. */
type OctetReader = (start: number, length: number) => Promise<Buffer>;

/** A message at submission. */
export interface SubmittedMessage {
  tenant: number;
  /** Null if no mailbox sends it. */
  account: number | null;
  index: MessageFacts | MessageIndex;
  /** Hex digest of the octets; computed if left out. */
  sha256?: string | undefined;
  /** Parsed header; read if left out. */
  fields?: readonly Field[] | undefined;
  read: OctetReader;
  /** Addresses of all recipients. */
  recipients: readonly string[];
  /** ms UTC. */
  now: number;
  /** Protocol that submits it, as the notice about a canary names it. */
  protocol: string;
  /** Facts that the protocol server knows beside the octets. */
  related?: Partial<Pick<AgentSending, 'answers' | 'forwards' | 'draft' | 'limits'>> | undefined;
}

/** Result of {@link inspectMessage}. */
export interface InspectedMessage {
  verdict: SendVerdict;
  index: MessageFacts | MessageIndex;
  /** Hex digest of the octets, to which an approval is bound. Only for an agent's mail, or if it was given. */
  sha256?: string;
}

/** Adds to an agent's verdict the facts in its message: the answered message, forwarded mail, and secrets. */
export async function inspectMessage(
  store: MailStore,
  verdict: SendVerdict,
  message: SubmittedMessage,
): Promise<InspectedMessage> {
  const { index: known, sha256: digest } = message;
  if (verdict.kind !== 'agent') return { verdict, index: known, ...(digest !== undefined && { sha256: digest }) };
  const { watch, ...sender } = { ...verdict.agent, ...message.related };
  const { index, sha256 } = await readWhole(store, message);
  const answers = sender.answers ?? (await answeredMessage(store, message, index));
  const { read, tenant, now } = message;
  const carried = sender.forwards
    ? 'other'
    : await findQuotedContent(store, { tenant, now, agent: sender, answers, parts: index.parts, read });
  const { draft = null } = sender;
  const agent = {
    ...sender,
    answers,
    draft,
    forwards: carried === 'other',
    carriesConversation: carried === 'answered',
  };
  if (watch === undefined) return { verdict: { kind: 'agent', agent }, index, sha256 };
  const { secrets: found, ...looked } = await scanForSecrets(store, watch, { ...message, index });
  const checked = await checkCanaries(store, watch, { agent: { ...agent, ...looked }, found }, message);
  return { verdict: { kind: 'agent', agent: checked }, index, sha256 };
}

async function scanForSecrets(
  store: MailStore,
  { readDocument, ...watch }: EgressWatch,
  message: Omit<SubmittedMessage, 'index'> & MessageToScan,
): Promise<SecretScanResult & Pick<AgentSending, 'sawSecrets'>> {
  const { sawSecrets, ...sought } = await loadSecretPatterns(store, watch, message);
  const { tenant } = message;
  const mine = readDocument && ((octets: Buffer) => readDocument(octets, tenant));
  return { ...(await findSecrets({ ...message, readDocument: mine }, sought)), sawSecrets };
}

/** Reads and indexes the octets unless both are known: an agent's message is always read whole. */
async function readWhole(
  { secretLinks }: MailStore,
  { index, sha256, read, tenant }: SubmittedMessage,
): Promise<{ index: MessageIndex; sha256: string }> {
  if ('envelope' in index && sha256 !== undefined) return { index, sha256 };
  const indexer = new MessageIndexer(secretLinks);
  const digest = createHash('sha256');
  for (let at = 0; at < index.size; at += CHUNK) {
    const piece = await read(at, Math.min(CHUNK, index.size - at));
    indexer.push(piece);
    digest.update(piece);
    // Parsing a large message blocks the shared thread.
    if (at > 0) await yieldToEventLoop(`tenant ${tenant}`);
  }
  return { index: indexer.end(), sha256: digest.digest('hex') };
}

/** Row of the answered message in the mailbox that sends. */
async function answeredMessage(
  store: MailStore,
  { account, fields: known, read }: SubmittedMessage,
  { headerLength }: MessageIndex,
): Promise<number | null> {
  if (account === null) return null;
  const header = async () => (await read(0, Math.min(headerLength, LIMITS.header))).toString('latin1');
  const fields = known ?? readFields(await header(), LIMITS.fields);
  const answered = messageIds(firstField(fields, 'in-reply-to') ?? '').toReversed();
  const ids = [...answered, ...messageIds(firstField(fields, 'references') ?? '').toReversed()];
  if (ids.length === 0) return null;
  return (await store.read(findRepliedEmail, { account, ids: [...new Set(ids)].slice(0, LIMITS.refs) })) ?? null;
}

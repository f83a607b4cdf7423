import { lookupKeys } from '../../mail/delivery/route.ts';
import { jmapId, jmapRow } from '../../mail/jmap/ids.ts';
import { type Address, addressKey, textKey } from '../../mail/message/address.ts';
import { firstField, readFields } from '../../mail/message/header.ts';
import { LIMITS } from '../../mail/message/limits.ts';
import { replyReferences } from '../../mail/message/reply-references.ts';
import { baseSubject } from '../../mail/message/subject.ts';
import { accountById, accountByKey } from '../../mail/store/account.ts';
import { writersOf } from '../../mail/store/alias.ts';
import { answerables, threadOfMessage } from '../../mail/store/answerable.ts';
import { rowId } from '../ids.ts';
import { refuse } from '../operations/refusal.ts';
import type { World } from '../operations/world.ts';
import type { Filled } from './compose-email.ts';
import type { EmailRequest } from './email-request.ts';
import type { Sender } from './key-auth.ts';
import { findSent, type SentEmail } from './sent-queries.ts';

/** `email` is the row of what is answered, where the mailbox has it. */
type Reply = (NonNullable<Filled['reply']> & { email: number | null }) | undefined;
type Asking = Pick<EmailRequest, 'from' | 'inReplyTo' | 'threadId'>;

/**
 * What an answer has to name. Of ids that this server gave only those of the mailbox at `from` count, and what that
 * address sent: who sends as one address learns nothing of the mail of another.
 */
export async function findAnswered(world: World, sender: Sender, request: Asking): Promise<Reply> {
  const { inReplyTo, threadId } = request;
  const named = inReplyTo ?? threadId;
  if (named === undefined) return undefined;
  if (named.startsWith('<')) return { inReplyTo: named, references: named, email: null };
  const reply = named.startsWith('eml_')
    ? await ofSent(world, sender, request, named)
    : await ofMailbox(world, sender, request, named);
  if (reply !== undefined) return reply;
  const path = inReplyTo === undefined ? 'threadId' : 'inReplyTo';
  return refuse('not_found', `${path}: the mailbox at from has no such ${WHAT[path]}.`, {
    issues: [{ path, message: 'is not there' }],
  });
}

const WHAT = { threadId: 'thread', inReplyTo: 'message' } as const;

async function ofSent({ store }: World, { organization }: Sender, { from }: Asking, id: string): Promise<Reply> {
  const sent = await store.read(findSent, { organization, id: rowId('sent', id) ?? 0 });
  if (sent === undefined || textKey(sent.sender) !== addressKey(from.address)) return undefined;
  return { inReplyTo: sent.messageId, references: sent.messageId, email: null };
}

async function ofMailbox(world: World, sender: Sender, request: Asking, id: string): Promise<Reply> {
  for (const account of await accountsAt(world, sender, request)) {
    const reply = await inMailbox(world, account, id);
    if (reply !== undefined) return reply;
  }
  return undefined;
}

async function inMailbox(world: World, account: number, id: string): Promise<Reply> {
  const thread = jmapRow('thread', account, id);
  const email = jmapRow('email', account, id) ?? Number(/^msg_(\d+)$/.exec(id)?.[1] ?? 0);
  const found = await world.store.read(answerables, { account, ...(thread === undefined ? { email } : { thread }) });
  for (const { email: row, blob, headerLength } of found) {
    const header = (await world.store.blob(blob, 0, Math.min(headerLength, LIMITS.header))).toString('latin1');
    const fields = readFields(header, LIMITS.fields);
    const [messageId, inReplyTo, references] = NAMES.map((name) => firstField(fields, name));
    const reply = replyReferences({ messageId, inReplyTo, references });
    if (reply !== undefined) return { ...reply, email: row };
  }
  return undefined;
}

const NAMES = ['message-id', 'in-reply-to', 'references'] as const;

/** The mailbox that stands at the address of the author, or those that write as it where it is an alias. */
async function accountsAt({ store }: World, sender: Sender, { from }: Pick<Asking, 'from'>): Promise<number[]> {
  const { account, organization: tenant } = sender;
  if (account !== null) return [account];
  for (const key of lookupKeys(from.address)) {
    const found = await store.read(accountByKey, { tenant, key });
    if (found !== undefined) return [found.id];
    const writers = await store.read(writersOf, { tenant, key });
    if (writers.length > 0) return withinDomains(store, sender, writers);
  }
  return [];
}

/** An alias may lead to mailboxes of a domain of which its program may know nothing. */
async function withinDomains(
  store: World['store'],
  { allowedDomains }: Sender,
  accounts: readonly number[],
): Promise<number[]> {
  if (allowedDomains === null) return [...accounts];
  const within: number[] = [];
  for (const account of accounts) {
    const { address = '' } = (await store.read(accountById, { account })) ?? {};
    if (allowedDomains.includes(textKey(address).slice(address.lastIndexOf('@') + 1))) within.push(account);
  }
  return within;
}

/**
 * The thread of a message that was sent: that of its copy in the mailbox at `from`, else the one that was named. Null:
 * the mailbox knows nothing of it.
 */
export async function threadOf(
  world: World,
  sender: Sender,
  request: { from: Address; threadId: string | null },
  { messageId, subject }: Pick<SentEmail, 'messageId' | 'subject'>,
): Promise<string | null> {
  const about = { messageId, subject: baseSubject(subject) };
  for (const account of await accountsAt(world, sender, { from: { address: request.from } })) {
    const thread = await world.store.read(threadOfMessage, { account, ...about });
    if (thread !== undefined) return jmapId('thread', thread);
  }
  return request.threadId;
}

import { publicThreadId, rowIn } from '../core/message-ids.ts';
import type { AreaContext } from '../core/area-context.ts';
import { type Address, addressKey, lookupKeys, textKey } from '../../mail/message/address.ts';
import { firstField, readFields } from '../../mail/message/header.ts';
import { LIMITS } from '../../mail/message/limits.ts';
import { replyReferences } from '../../mail/message/reply-references.ts';
import { baseSubject } from '../../mail/message/subject.ts';
import { accountById, accountByKey } from '../../mail/store/account/account.ts';
import { aliasSenders } from '../../mail/store/address/alias.ts';
import { replyTargets, threadOfMessage } from '../../mail/store/message/reply-target.ts';
import { rowId } from '../core/ids.ts';
import { refuse } from '../core/refusal.ts';
import type { FilledEmail } from './compose-email.ts';
import type { EmailRequest } from './email-request.ts';
import type { ApiSender } from './key-auth.ts';
import { findSent, type SentEmail } from './sent-queries.ts';

/** `email` is the row of the answered message; null if the mailbox does not have it. */
type AnsweredMessage = (NonNullable<FilledEmail['reply']> & { email: number | null }) | undefined;
type ReplyRequest = Pick<EmailRequest, 'from' | 'inReplyTo' | 'threadId'>;

/**
 * Finds In-Reply-To and References for a reply. Ids given by this server are accepted only for the mailbox at `from`
 * and for mail sent from it, so that a sender cannot probe the mail of another address.
 */
export async function findAnsweredMessage(
  world: AreaContext,
  sender: ApiSender,
  request: ReplyRequest,
): Promise<AnsweredMessage> {
  const { inReplyTo, threadId } = request;
  const named = inReplyTo ?? threadId;
  if (named === undefined) return undefined;
  if (named.startsWith('<')) return { inReplyTo: named, references: named, email: null };
  const reply = named.startsWith('eml_')
    ? await fromSent(world, sender, request, named)
    : await fromMailbox(world, sender, request, named);
  if (reply !== undefined) return reply;
  const path = inReplyTo === undefined ? 'threadId' : 'inReplyTo';
  return refuse('not_found', `${path}: the mailbox at from has no such ${NOUNS[path]}.`, {
    issues: [{ path, message: 'does not exist' }],
  });
}

const NOUNS = { threadId: 'thread', inReplyTo: 'message' } as const;

async function fromSent(
  { store }: AreaContext,
  { organization }: ApiSender,
  { from }: ReplyRequest,
  id: string,
): Promise<AnsweredMessage> {
  const sent = await store.read(findSent, { organization, id: rowId('sent', id) ?? 0 });
  if (sent === undefined || textKey(sent.sender) !== addressKey(from.address)) return undefined;
  return { inReplyTo: sent.messageId, references: sent.messageId, email: null };
}

async function fromMailbox(
  world: AreaContext,
  sender: ApiSender,
  request: ReplyRequest,
  id: string,
): Promise<AnsweredMessage> {
  for (const account of await accountsAt(world, sender, request)) {
    const reply = await findInMailbox(world, account, id);
    if (reply !== undefined) return reply;
  }
  return undefined;
}

async function findInMailbox(world: AreaContext, account: number, id: string): Promise<AnsweredMessage> {
  const thread = rowIn('thread', account, id);
  const email = rowIn('email', account, id) ?? 0;
  const found = await world.store.read(replyTargets, { account, ...(thread === undefined ? { email } : { thread }) });
  for (const { email: row, blob, headerLength } of found) {
    const header = (await world.store.blob(blob, 0, Math.min(headerLength, LIMITS.header))).toString('latin1');
    const fields = readFields(header, LIMITS.fields);
    const [messageId, inReplyTo, references] = ID_FIELDS.map((name) => firstField(fields, name));
    const reply = replyReferences({ messageId, inReplyTo, references });
    if (reply !== undefined) return { ...reply, email: row };
  }
  return undefined;
}

const ID_FIELDS = ['message-id', 'in-reply-to', 'references'] as const;

/** Finds the mailbox at the author's address; for an alias, the mailboxes that may send as it. */
async function accountsAt(
  { store }: AreaContext,
  sender: ApiSender,
  { from }: Pick<ReplyRequest, 'from'>,
): Promise<number[]> {
  const { account, organization: tenant } = sender;
  if (account !== null) return [account];
  for (const key of lookupKeys(from.address)) {
    const found = await store.read(accountByKey, { tenant, key });
    if (found !== undefined) return [found.id];
    const writers = await store.read(aliasSenders, { tenant, key });
    if (writers.length > 0) return withinDomains(store, sender, writers);
  }
  return [];
}

/** Keeps only accounts in the sender's allowed domains: an alias may lead to others. */
async function withinDomains(
  store: AreaContext['store'],
  { allowedDomains }: ApiSender,
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
 * Finds the thread of a sent message: that of its copy in the mailbox at `from`, else the requested one; null if
 * neither exists.
 */
export async function threadOfSent(
  world: AreaContext,
  sender: ApiSender,
  request: { from: Address; threadId: string | null },
  { messageId, subject }: Pick<SentEmail, 'messageId' | 'subject'>,
): Promise<string | null> {
  const about = { messageId, subject: baseSubject(subject) };
  for (const account of await accountsAt(world, sender, { from: { address: request.from } })) {
    const thread = await world.store.read(threadOfMessage, { account, ...about });
    if (thread !== undefined) return publicThreadId(thread);
  }
  return request.threadId;
}

import { publicMessageId, publicThreadId, rowIn } from '../../core/message-ids.ts';
import { operation, type Call } from '../../core/operation.ts';
import { notFound } from '../../core/refusal.ts';
import { z } from 'zod';
import type { AnswerHindrance, ConversationRef } from '../../../mail/agents/claims/claim.ts';
import { hindranceReason } from '../../../mail/agents/gate/limits.ts';
import { threadOf } from '../../../mail/store/message/conversation.ts';
import { type ClaimOutcome, claimConversation, endClaim, MAX_CLAIMS } from '../../../mail/agents/claims/commands.ts';
import { refuse } from '../../core/refusal.ts';
import { agentToken } from '../../agents/queries.ts';
import { InMailbox, MessageId, namedMailbox, namedMessage, ThreadId } from '../reading/mailbox-arguments.ts';
import { isoOf } from '../../core/schemas.ts';
import { type Mailbox, withinThread } from '../scope.ts';

const MINUTE_MS = 60_000;
const MAX_MINUTES = 24 * 60;

const Shown = z.object({
  state: z.enum(['claimed', 'done', 'free']),
  threadId: z.string(),
  messageId: z.string(),
  until: z.string().nullable(),
});
type Shown = z.output<typeof Shown>;

export const claimMessage = operation({
  name: 'claim_message',
  title: 'Claim a conversation',
  toolset: 'mail',
  reach: 'thread',
  action: 'send',
  description:
    'Claims a conversation before you answer it: refused if another agent holds it or a person answers. ack: done; release: free again. Expires after minutes; people see it as a keyword.',
  hints: { idempotent: true },
  input: z.strictObject({
    ...InMailbox,
    messageId: MessageId.describe('A message of it').optional(),
    threadId: ThreadId.optional(),
    action: z.enum(['claim', 'ack', 'release']).default('claim').describe('ack: done; release: free'),
    minutes: z.number().int().min(1).max(MAX_MINUTES).default(10).describe('Expires after'),
  }),
  output: Shown,
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailbox/claims' },
  async run(call, { action, minutes, ...which }) {
    const { box, named } = await conversationOf(call, which);
    return action === 'claim' ? claim(call, box, named, minutes) : end(call, box, named, action === 'ack');
  },
});

async function conversationOf(
  call: Call,
  {
    mailbox,
    messageId,
    threadId,
  }: { mailbox?: string | undefined; messageId?: string | undefined; threadId?: string | undefined },
): Promise<{ box: Mailbox; named: ConversationRef }> {
  if ((messageId === undefined) === (threadId === undefined)) {
    refuse('invalid_arguments', 'Give messageId or threadId.', {
      issues: [{ path: 'messageId', message: 'exactly one of messageId and threadId' }],
    });
  }
  if (messageId !== undefined) {
    const { box, email } = await namedMessage(call, { mailbox, messageId });
    withinThread(call, await call.store.read(threadOf, { account: box.id, email }));
    return { box, named: { email } };
  }
  const box = await namedMailbox(call, mailbox, threadId);
  const thread = rowIn('thread', box.id, threadId ?? '') ?? 0;
  withinThread(call, thread);
  return { box, named: { thread } };
}

async function claim(
  call: Call,
  { id: account, address }: Mailbox,
  named: ConversationRef,
  minutes: number,
): Promise<Shown> {
  const { actor: holder, actorName } = call.caller;
  const until = call.clock() + minutes * MINUTE_MS;
  const keyword = keywordOf(holder, (await isNamedByAgent(call)) ? '' : actorName);
  const input = { account, named, holder, keyword, until };
  const done = await call.change(claimConversation, input, address, { ...aboutOf(named), minutes });
  if (done.kind !== 'yours') return refuseClaim(done);
  return { state: 'claimed', ...idsOf(done), until: isoOf(done.until) };
}

async function end(
  call: Call,
  { id: account, address }: Mailbox,
  named: ConversationRef,
  done: boolean,
): Promise<Shown> {
  const { kind, actor } = call.caller;
  const holder = kind === 'token' ? actor : null;
  const detail = { ...aboutOf(named), done };
  const ended = await call.change(endClaim, { account, named, holder, done }, address, detail);
  if (ended.kind === 'not-found') return notFound('message');
  if (ended.kind === 'claimed') return refuseClaim(ended);
  if (ended.kind === 'none' && done) {
    refuse('conflict', 'You do not hold this conversation: claim it again before you continue.', {
      reason: 'not_claimed',
    });
  }
  return { state: done ? 'done' : 'free', ...idsOf(ended), until: null };
}

function idsOf({ thread, email }: { thread: number; email: number }): { threadId: string; messageId: string } {
  return { threadId: publicThreadId(thread), messageId: publicMessageId(email) };
}

function aboutOf(named: ConversationRef): Record<string, string> {
  return 'email' in named ? { message: publicMessageId(named.email) } : { thread: publicThreadId(named.thread) };
}

/** Tests if another token chose the name of the caller: a keyword with it would pass on what that token has read. */
async function isNamedByAgent({ caller: { token }, store }: Call): Promise<boolean> {
  return token !== undefined && (await store.read(agentToken, { id: token.id }))?.root !== token.id;
}

/** Returns the IMAP keyword of a holder, an atom; similar names share one. */
function keywordOf(holder: string, name: string): string {
  const word = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 30);
  return `$claimed-${word === '' ? holder : word}`;
}

function refuseClaim(why: Exclude<ClaimOutcome, { kind: 'yours' }>): never {
  switch (why.kind) {
    case 'not-found':
      return notFound('message');
    case 'done':
      return refuse('conflict', 'This conversation is already marked as done.', { reason: 'done' });
    case 'too-many':
      return refuse('conflict', `Limit reached: you have ${MAX_CLAIMS} claims in this mailbox. End some first.`, {
        reason: 'too_many',
      });
    case 'claimed':
    case 'drafted':
    case 'answered':
      return refuseHindered(why);
  }
}

function refuseHindered(why: AnswerHindrance): never {
  const { code: reason, text } = hindranceReason(why);
  const claim = why.kind === 'claimed' ? { claimedBy: why.holder, until: isoOf(why.until) } : {};
  return refuse('conflict', `${text}.`, { reason, ...claim });
}

import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { NarrowLimits } from '../../../mail/agents/gate/types.ts';
import { networkOf } from '../../../mail/guard/network.ts';
import { threadEmails } from '../../../mail/store/message/thread.ts';
import { rowIn } from '../../core/message-ids.ts';
import { publicId } from '../../core/ids.ts';
import type { NewToken } from '../../tokens/commands.ts';
import { addNarrowToken, narrowSubject, MAX_NARROW_TOKENS } from '../../tokens/narrow-commands.ts';
import { makeToken, secretHash, shownPart } from '../../core/token.ts';
import { expiryOf, Line, SECRET_NOTICE, Time } from '../../core/schemas.ts';
import { type Call, operation } from '../../core/operation.ts';
import { shownToken, Token } from '../organization/tokens.ts';
import { InMailbox, namedMailbox, ThreadId } from '../reading/mailbox-arguments.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { type Mailbox, withinThread } from '../scope.ts';
import { parseAddress, textKey } from '../../../mail/message/address.ts';
import type { MailStore } from '../../../mail/store/store.ts';
import { addressesOf, type MailboxRef, loadMessages } from '../../reading/summary.ts';

/** An agent may pass the token on: after an hour, and from another network, it is worth nothing. */
const MAX_MS = 3_600_000;
/** Maximum depth of limited tokens. */
const MAX_NARROW_DEPTH = 4;
const NARROW_ACTIONS = ['mail_read', 'send'] as const;

export const createNarrowToken = operation({
  name: 'create_narrow_token',
  title: 'Create a limited token',
  toolset: 'org',
  reach: 'thread',
  action: 'mail_read',
  secret: true,
  description:
    'Creates a weaker token of this one for a helper: limited to one mailbox or one conversation, to its participants, to a number of sends, to an hour, and to the network of this call. Shown once; ends with this one.',
  hints: {},
  input: z.strictObject({
    ...InMailbox,
    name: Line(1, 80).describe('For people'),
    threadId: ThreadId.describe('Only this conversation').optional(),
    participantsOnly: z.boolean().describe('Default: true with threadId').optional(),
    actions: z.array(z.enum(NARROW_ACTIONS)).min(1).max(NARROW_ACTIONS.length).describe('Default: both').optional(),
    sends: z.number().int().min(0).max(1000).describe('Messages in all').optional(),
    expiresAt: Time('Default: in an hour, the most').optional(),
  }),
  output: z.object({ token: Token, secret: z.string(), secretNotice: z.string() }),
  async run(call, input) {
    const parent = call.caller.token;
    if (parent === undefined) {
      return refuse('conflict', 'Only a token can create a limited token: create one with create_agent_token.', {
        resource: 'token',
      });
    }
    const box = await namedMailbox(call, input.mailbox, input.threadId);
    const limits = await limitsOf(call, box, parent.id, input);
    const secret = makeToken(call.settings.tokenPrefix);
    const row = {
      organization: call.tenant,
      name: input.name,
      shown: shownPart(secret),
      actions: actionsOf(call, input.actions),
      project: parent.project,
      service: null,
      mailboxes: [box.id],
      owner: false,
      createdBy: call.caller.actor,
      expiresAt: endOf(call, input.expiresAt),
      narrow: { parent: parent.id, limits },
    };
    const token = await add(call, { ...row, hash: secretHash(secret) });
    return { token, secret, secretNotice: SECRET_NOTICE };
  },
});

async function add(call: Call, row: NewToken & Required<Pick<NewToken, 'narrow'>>): Promise<z.output<typeof Token>> {
  const done = await call.change(addNarrowToken, row, row.name, { actions: row.actions, prefix: row.shown });
  switch (done.kind) {
    case 'ended':
      return refuse('unauthorized', 'This token has just ended.');
    case 'too-many':
      return refuse(
        'conflict',
        `Limit reached: this token has ${MAX_NARROW_TOKENS} active limited tokens. Revoke one first.`,
        {
          resource: 'token',
        },
      );
    case 'added': {
      const { parent, limits } = row.narrow;
      const fresh = {
        createdAt: call.clock(),
        lastUsedAt: null,
        revokedAt: null,
        parent,
        narrow: limits,
        oauth: null,
        mode: call.caller.token?.mode ?? 'normal',
      };
      return shownToken({
        ...row,
        ...fresh,
        id: done.id,
        actions: [...row.actions],
        mailboxes: [...(row.mailboxes ?? [])],
      });
    }
  }
}

/** Returns the actions to grant: the requested ones, or both if the caller has them. */
function actionsOf({ caller }: Call, wanted: readonly (typeof NARROW_ACTIONS)[number][] | undefined): string[] {
  const missing = wanted?.find((one) => !caller.actions.has(one));
  if (missing !== undefined) {
    refuse('action_not_allowed', `This token lacks ${missing}, so it cannot grant it.`, {
      requiredAction: missing,
      grantedActions: [...caller.actions],
    });
  }
  return NARROW_ACTIONS.filter((one) => (wanted ?? NARROW_ACTIONS).includes(one) && caller.actions.has(one));
}

/** Expires with its parent, with the session of the call, and within an hour. */
function endOf(call: Call, expiresAt: string | undefined): number {
  const now = call.clock();
  const { token, session } = call.caller;
  const ends = [expiryOf(call, expiresAt), token?.expiresAt, session?.expiresAt, now + MAX_MS];
  return Math.min(...ends.filter((one) => one != null));
}

interface NarrowInput {
  threadId?: string | undefined;
  participantsOnly?: boolean | undefined;
  sends?: number | undefined;
}

/** Intersects the requested limits with those of the caller. */
async function limitsOf(call: Call, box: Mailbox, parent: number, wanted: NarrowInput): Promise<NarrowLimits> {
  const own = call.caller.token?.narrow ?? null;
  const from = [publicId('token', parent), ...(own?.from ?? [])];
  if (from.length > MAX_NARROW_DEPTH) {
    refuse(
      'conflict',
      `Limit reached: limited tokens nest at most ${MAX_NARROW_DEPTH} deep. Give this token to the helper.`,
      {
        resource: 'token',
      },
    );
  }
  const thread = await threadOf(call, box, wanted.threadId, own);
  const life =
    wanted.sends === undefined
      ? []
      : [{ of: narrowSubject(parent, randomBytes(9).toString('base64url')), most: wanted.sends }];
  return {
    thread,
    recipients: await recipientsOf(call, box, thread, wanted, own),
    sends: [...life, ...(own?.sends ?? [])],
    from,
    network: networkOf(call.caller.ip),
  };
}

async function threadOf(
  call: Call,
  { id: account }: Mailbox,
  threadId: string | undefined,
  own: NarrowLimits | null,
): Promise<number | null> {
  if (threadId === undefined) return own?.thread ?? null;
  const thread = rowIn('thread', account, threadId) ?? 0;
  withinThread(call, thread, 'thread');
  const { threads } = await call.store.read(threadEmails, { account, threads: [thread] });
  return threads.has(thread) ? thread : notFound('thread');
}

/** Returns the current participants: later senders are not added. */
async function recipientsOf(
  call: Call,
  box: Mailbox,
  thread: number | null,
  { threadId, participantsOnly = threadId !== undefined }: NarrowInput,
  own: NarrowLimits | null,
): Promise<readonly string[] | null> {
  const before = own?.recipients ?? null;
  if (!participantsOnly) return before;
  if (thread === null) {
    refuse('invalid_arguments', 'participantsOnly needs threadId: name the conversation.', {
      issues: [{ path: 'participantsOnly', message: 'needs threadId' }],
    });
  }
  const now = await threadParticipants(call.store, box, thread);
  return before === null ? now : now.filter((one) => before.includes(one));
}

/** Participants returned of one thread. */
const MAX_PARTICIPANTS = 200;

/** Lists the address keys in From, To and Cc of the messages of a thread. */
async function threadParticipants(store: MailStore, box: MailboxRef, thread: number): Promise<string[]> {
  const { threads } = await store.read(threadEmails, { account: box.id, threads: [thread] });
  const known = (await loadMessages(store, box, threads.get(thread) ?? [])) ?? [];
  const named = known.flatMap(({ envelope: { from, to, cc } }) => [from, to, cc].flatMap(addressesOf));
  const keys = named.flatMap(({ address }) => (parseAddress(address) === undefined ? [] : [textKey(address)]));
  return [...new Set(keys)].slice(0, MAX_PARTICIPANTS);
}

import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { NarrowLimits } from '../../../mail/delivery/agent/types.ts';
import { jmapRow } from '../../../mail/jmap/ids.ts';
import { threadEmails } from '../../../mail/store/thread.ts';
import { publicId } from '../../ids.ts';
import { participantsIn } from '../../reading/participants.ts';
import type { NewToken } from '../../tokens/commands.ts';
import { addNarrowToken, lifeOf, MOST_NARROW } from '../../tokens/narrow-commands.ts';
import { makeToken, secretHash, shownPart } from '../../tokens/token.ts';
import { expiryOf } from '../expiry.ts';
import { type Call, operation } from '../operation.ts';
import { shownToken, Token } from '../organization/tokens.ts';
import { InMailbox, namedMailbox, ThreadId } from '../reading/which.ts';
import { notFound, refuse } from '../refusal.ts';
import { Line, SECRET_NOTICE } from '../schemas.ts';
import { type Mailbox, withinThread } from '../scope.ts';

const DAY_MS = 24 * 3_600_000;
const LONGEST_MS = 30 * DAY_MS;
/** A token of a token of a token... */
const DEEPEST = 4;
const NARROW_ACTIONS = ['mail_read', 'send'] as const;

export const createNarrowToken = operation({
  name: 'create_narrow_token',
  title: 'Make a token for one purpose',
  toolset: 'org',
  reach: 'thread',
  action: 'mail_read',
  secret: true,
  description:
    'Makes a weaker token of this one for a helper: one mailbox, or one conversation and (participantsOnly, as by default) who takes part in it; so many sends; a day by default. Shown once; it ends with this one.',
  hints: {},
  input: z.strictObject({
    ...InMailbox,
    name: Line(1, 80),
    threadId: ThreadId.optional(),
    participantsOnly: z.boolean().optional(),
    actions: z.array(z.enum(NARROW_ACTIONS)).min(1).max(NARROW_ACTIONS.length).optional(),
    sends: z.number().int().min(0).max(1000).optional(),
    expiresAt: z.iso.datetime({ offset: true }).optional(),
  }),
  output: z.object({ token: Token, secret: z.string(), secretNotice: z.string() }),
  async run(call, input) {
    const parent = call.caller.token;
    if (parent === undefined) {
      return refuse('conflict', 'Only a token is narrowed: make one with create_agent_token.', { resource: 'token' });
    }
    const box = await namedMailbox(call, input.mailbox);
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
      return refuse('conflict', `This token has ${MOST_NARROW} narrowed ones that hold, as many as it may.`, {
        resource: 'token',
      });
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

/** Those of the two that it has itself, unless it gives less. */
function actionsOf({ caller }: Call, wanted: readonly (typeof NARROW_ACTIONS)[number][] | undefined): string[] {
  const missing = wanted?.find((one) => !caller.actions.has(one));
  if (missing !== undefined) {
    refuse('action_not_allowed', `This token may not ${missing} itself, so it cannot give it to another.`, {
      requiredAction: missing,
      grantedActions: [...caller.actions],
    });
  }
  return NARROW_ACTIONS.filter((one) => (wanted ?? NARROW_ACTIONS).includes(one) && caller.actions.has(one));
}

/** It outlives neither its parent nor a month. */
function endOf(call: Call, expiresAt: string | undefined): number {
  const now = call.clock();
  const wanted = expiryOf(call, expiresAt) ?? now + DAY_MS;
  return Math.min(wanted, now + LONGEST_MS, call.caller.token?.expiresAt ?? Infinity);
}

interface Wanted {
  threadId?: string | undefined;
  participantsOnly?: boolean | undefined;
  sends?: number | undefined;
}

/** What was asked for, within the limits of the caller: of each the narrower one. */
async function limitsOf(call: Call, box: Mailbox, parent: number, wanted: Wanted): Promise<NarrowLimits> {
  const own = call.caller.token?.narrow ?? null;
  const from = [publicId('token', parent), ...(own?.from ?? [])];
  if (from.length > DEEPEST) {
    refuse('conflict', `A token is narrowed ${DEEPEST} times at most: give this one to the helper.`, {
      resource: 'token',
    });
  }
  const thread = await threadOf(call, box, wanted.threadId, own);
  const life =
    wanted.sends === undefined
      ? []
      : [{ of: lifeOf(parent, randomBytes(9).toString('base64url')), most: wanted.sends }];
  return {
    thread,
    recipients: await recipientsOf(call, box, thread, wanted, own),
    sends: [...life, ...(own?.sends ?? [])],
    from,
  };
}

async function threadOf(
  call: Call,
  { id: account }: Mailbox,
  threadId: string | undefined,
  own: NarrowLimits | null,
): Promise<number | null> {
  if (threadId === undefined) return own?.thread ?? null;
  const thread = jmapRow('thread', account, threadId) ?? 0;
  withinThread(call, thread, 'thread');
  const { threads } = await call.store.read(threadEmails, { account, threads: [thread] });
  return threads.has(thread) ? thread : notFound('thread');
}

/** Who takes part in the conversation now: who writes into it later gets nobody onto the list. */
async function recipientsOf(
  call: Call,
  box: Mailbox,
  thread: number | null,
  { threadId, participantsOnly = threadId !== undefined }: Wanted,
  own: NarrowLimits | null,
): Promise<readonly string[] | null> {
  const before = own?.recipients ?? null;
  if (!participantsOnly) return before;
  if (thread === null) {
    refuse('invalid_arguments', 'participantsOnly: say of which conversation, with threadId.', {
      issues: [{ path: 'participantsOnly', message: 'needs threadId' }],
    });
  }
  const now = await participantsIn(call.store, box, thread);
  return before === null ? now : now.filter((one) => before.includes(one));
}

import { z } from 'zod';
import { AGENT_MODES } from '../../../mail/delivery/agent/types.ts';
import { holdMore } from '../../../mail/store/agent-hold.ts';
import { endAgentLogins } from '../../agents/agent-logins.ts';
import { agentsOf } from '../../agents/agent-list-queries.ts';
import { setTokenMode, stopAgents } from '../../agents/mode-commands.ts';
import { getsDailyLetter } from '../../digest/owner-queries.ts';
import { publicId, rowId } from '../../ids.ts';
import { type Call, operation } from '../operation.ts';
import { notFound } from '../refusal.ts';
import { Id, isoOrNull } from '../schemas.ts';
import { outOfScope } from '../scope.ts';

const Mode = z.enum(AGENT_MODES);

const Agent = z.object({
  tokenId: z.string(),
  name: z.string(),
  prefix: z.string(),
  actions: z.array(z.string()),
  mode: Mode,
  lastUsedAt: z.string().nullable(),
  readToday: z.number(),
  sentToday: z.number(),
  heldToday: z.number(),
});

export const listAgents = operation({
  name: 'list_agents',
  title: 'List agents',
  toolset: 'org',
  reach: 'organization',
  action: 'read',
  peopleOnly: true,
  description:
    'Lists the tokens that hold, with their mode, and what each read of outsiders and sent in 24 hours; dailyLetter: whether the owner who asks gets it. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: z.object({
    stoppedAt: z.string().nullable(),
    dailyLetter: z.boolean().nullable(),
    agents: z.array(Agent),
  }),
  rest: { method: 'GET', path: '/api/agents' },
  async run(call) {
    const { stoppedAt, agents } = await call.store.read(agentsOf, { organization: call.tenant, now: call.clock() });
    const asks = { organization: call.tenant, user: call.caller.user?.id ?? 0 };
    return {
      stoppedAt: isoOrNull(stoppedAt),
      dailyLetter: await call.store.read(getsDailyLetter, asks),
      agents: agents.map(({ id, shown: prefix, lastUsedAt, read, sent, held, name, actions, mode }) => ({
        tokenId: publicId('token', id),
        name,
        prefix,
        actions,
        mode,
        lastUsedAt: isoOrNull(call.lastUsed.freshest(id, lastUsedAt, 'token')),
        readToday: read,
        sentToday: sent,
        heldToday: held,
      })),
    };
  },
});

export const setAgentMode = operation({
  name: 'set_agent_mode',
  title: 'Set how an agent may work',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  peopleOnly: true,
  description:
    'Sets how a token, and those that it made, may work from now on: normal, draft_only, reply_only, read_only or frozen. What a frozen one sent and has not left is held.',
  hints: { idempotent: true },
  input: z.strictObject({ tokenId: Id('token'), mode: Mode }),
  output: z.object({ tokenId: z.string(), mode: Mode, held: z.number() }),
  rest: { method: 'PUT', path: '/api/agents/:tokenId/mode' },
  async run(call, { tokenId, mode }) {
    withoutMembers(call);
    const input = { organization: call.tenant, id: rowId('token', tokenId) ?? 0, mode };
    const done = await call.change(setTokenMode, input, tokenId, { mode });
    return done.kind === 'missing' ? notFound('token') : { tokenId, mode, held: await heldIn(call, done.held) };
  },
});

export const stopAllAgents = operation({
  name: 'stop_agents',
  title: 'Stop all agents',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  peopleOnly: true,
  description:
    'Stops every token of the organization, and mail by passwords under an agent policy, at once. What they sent and has not left is held.',
  hints: { idempotent: true },
  input: z.strictObject({}),
  output: z.object({ stopped: z.literal(true), held: z.number() }),
  rest: { method: 'POST', path: '/api/agents/stop' },
  async run(call) {
    const { held } = await call.change(stopAgents, { organization: call.tenant, stopped: true }, 'agents');
    await endAgentLogins(call, call.tenant);
    return { stopped: true as const, held: await heldIn(call, held) };
  },
});

export const startAllAgents = operation({
  name: 'start_agents',
  title: 'Let agents work again',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  peopleOnly: true,
  description:
    'Lets agents work again, each in its own mode. What was held stays held: a person lets it go or deletes it.',
  hints: { idempotent: true },
  input: z.strictObject({}),
  output: z.object({ stopped: z.literal(false) }),
  rest: { method: 'POST', path: '/api/agents/start' },
  async run(call) {
    withoutMembers(call);
    await call.change(stopAgents, { organization: call.tenant, stopped: false }, 'agents');
    return { stopped: false as const };
  },
});

/** Commits of one request. */
const MOST_SLICES = 200;

/** Holds the rest, slice after slice; what one request does not come to is held before it could leave, or behind it. */
async function heldIn({ store, tenant }: Call, first: number): Promise<number> {
  let held = first;
  for (let slice = 0; slice < MOST_SLICES; slice++) {
    const done = await store.write(holdMore, { tenant });
    held += done.held;
    if (!done.more) break;
  }
  return held;
}

/** Who may stop agents need not be who may let them do more. */
export function withoutMembers({ caller }: Call): void {
  if (caller.user?.role === 'member') outOfScope(caller);
}

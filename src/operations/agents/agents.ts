import { z } from 'zod';
import { AGENT_MODES } from '../../../mail/agents/gate/types.ts';
import { holdMore } from '../../../mail/agents/freeze/hold.ts';
import { endAgentLogins } from '../../agents/agent-logins.ts';
import { agentsOf } from '../../agents/agent-list-queries.ts';
import { setTokenMode, stopAgents, releaseAgentMail } from '../../tokens/mode-commands.ts';
import { getsDailyLetter } from '../../digest/queries.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, isoOrNull } from '../../core/schemas.ts';
import { outOfScope } from '../scope.ts';
import { setDailyLetter } from '../../digest/commands.ts';

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
    'Lists active tokens with their mode, and how much outside mail each read and how much it sent in 24 hours; dailyLetter: whether the calling owner gets it. Changes nothing.',
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
  title: 'Set the mode of an agent',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  peopleOnly: true,
  description:
    'Sets the mode of a token, and of tokens that it created: normal, draft_only, reply_only, read_only or frozen. Unsent mail of a frozen one is held.',
  hints: { idempotent: true },
  input: z.strictObject({ tokenId: Id('token'), mode: Mode.describe('New mode') }),
  output: z.object({ tokenId: z.string(), mode: Mode, held: z.number() }),
  rest: { method: 'PUT', path: '/api/agents/:tokenId/mode' },
  async run(call, { tokenId, mode }) {
    refuseMembers(call);
    const input = { organization: call.tenant, id: rowId('token', tokenId) ?? 0, mode };
    const done = await call.change(setTokenMode, input, tokenId, { mode });
    return done.kind === 'missing' ? notFound('token') : { tokenId, mode, held: await holdRemaining(call, done.held) };
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
    'Stops every token of the organization, and mail by passwords under an agent policy, at once. Their unsent mail is held.',
  hints: { idempotent: true },
  input: z.strictObject({}),
  output: z.object({ stopped: z.literal(true), held: z.number() }),
  rest: { method: 'POST', path: '/api/agents/stop' },
  async run(call) {
    const { held } = await call.change(stopAgents, { organization: call.tenant, stopped: true }, 'agents');
    await endAgentLogins(call, call.tenant);
    return { stopped: true as const, held: await holdRemaining(call, held) };
  },
});

export const startAllAgents = operation({
  name: 'start_agents',
  title: 'Start all agents',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  peopleOnly: true,
  description:
    'Lets agents work again, each in its own mode. Held mail stays held until a person releases or deletes it.',
  hints: { idempotent: true },
  input: z.strictObject({}),
  output: z.object({ stopped: z.literal(false) }),
  rest: { method: 'POST', path: '/api/agents/start' },
  async run(call) {
    refuseMembers(call);
    await call.change(stopAgents, { organization: call.tenant, stopped: false }, 'agents');
    return { stopped: false as const };
  },
});

/** Maximum commits per request. */
const MAX_SLICES = 200;

/** Holds the remaining mail in slices. Mail beyond the limit of one request is held before it is sent. */
async function holdRemaining({ store, tenant }: Call, first: number): Promise<number> {
  let held = first;
  for (let slice = 0; slice < MAX_SLICES; slice++) {
    const done = await store.write(holdMore, { tenant });
    held += done.held;
    if (!done.more) break;
  }
  return held;
}

/** Refuses members: they may stop agents but not give them more rights. */
export function refuseMembers({ caller }: Call): void {
  if (caller.user?.role === 'member') outOfScope(caller);
}

export const setOwnDailyLetter = operation({
  name: 'set_daily_letter',
  title: 'Turn the daily digest on or off',
  toolset: 'org',
  reach: 'organization',
  action: 'read',
  peopleOnly: true,
  description:
    "Turns the daily digest about agents' activity on or off for the signed-in owner. It includes the end of the audit log.",
  hints: { idempotent: true },
  input: z.strictObject({ on: z.boolean().describe('true: send it') }),
  output: z.object({ on: z.boolean() }),
  rest: { method: 'PUT', path: '/api/agents/daily-letter' },
  async run(call, { on }) {
    const { user } = call.caller;
    if (user === undefined) {
      return refuse(
        'action_not_allowed',
        'Only the signed-in owner can change their own daily digest: sign in to the portal.',
        {
          requiredAction: 'person',
        },
      );
    }
    const input = { organization: call.tenant, user: user.id, on };
    const done = await call.change(setDailyLetter, input, 'daily digest', { on });
    return done.kind === 'missing' ? notFound('owner') : { on };
  },
});

/** Maximum messages and recipients released per request. */
const MAX_RELEASED = 100_000;

export const releaseStoppedMail = operation({
  name: 'release_agent_mail',
  title: 'Release held mail of agents',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  peopleOnly: true,
  description:
    'Releases mail that was held when one agent, or without tokenId all agents, were stopped, in order of submission. `more` true: call again for the rest.',
  hints: { idempotent: true, openWorld: true },
  input: z.strictObject({ tokenId: Id('token', 'Default: all agents').optional() }),
  output: z.object({ released: z.number(), more: z.boolean() }),
  rest: { method: 'POST', path: '/api/agents/release' },
  async run(call, { tokenId }) {
    refuseMembers(call);
    const id = tokenId === undefined ? null : (rowId('token', tokenId) ?? notFound('token'));
    const request = { organization: call.tenant, id };
    let done = await call.change(releaseAgentMail, request, tokenId ?? 'agents');
    for (let released = 0; ;) {
      if (done.kind === 'frozen')
        refuse('conflict', 'The organization is frozen: nothing is sent until it is unfrozen.');
      released += done.released;
      call.queueChanged();
      if (done.next === null || released >= MAX_RELEASED) return { released, more: done.next !== null };
      // The first slice wrote the audit row of this request.
      done = await call.store.writeSlice(releaseAgentMail, { ...request, from: done.next });
    }
  },
});

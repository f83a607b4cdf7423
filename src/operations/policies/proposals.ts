import { z } from 'zod';
import { decideProposal, settleProposal } from '../../agents/proposal-commands.ts';
import { type Proposal, proposalOutcome, proposalsOf } from '../../agents/proposal-queries.ts';
import { proposedInput } from '../../agents/propose.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { findToken } from '../../tokens/commands.ts';
import { revealInvisible } from '../../untrusted/invisible.ts';
import { type Caller, tokenCaller } from '../../core/caller.ts';
import { type Call, operation, type Operation } from '../../core/operation.ts';
import { perform } from '../perform.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, isoOf, isoOrNull, nextCursor, Page, pageStart } from '../../core/schemas.ts';
import { changesOf, namesIn, shownArguments } from './proposal-words.ts';
import { attachAgentPolicyTo, saveAgentPolicyOf } from './people.ts';

const Item = z.object({
  proposalId: z.string(),
  operation: z.string(),
  title: z.string(),
  state: z.enum(['pending', 'accepted', 'refused', 'replaced', 'expired']),
  tokenId: z.string(),
  tokenName: z.string(),
  arguments: z.record(z.string(), z.string()),
  changes: z.array(z.string()),
  createdAt: z.string(),
  expiresAt: z.string(),
  decidedAt: z.string().nullable(),
  decidedBy: z.string().nullable(),
  /** Outcome after acceptance: `done`, an error code, or `interrupted`; null while it is being executed. */
  outcome: z.string().nullable(),
  /** Next step if the outcome is unknown. */
  message: z.string().optional(),
});

/** Outcome unknown: the server stopped after the acceptance, or the disk was full. */
const INTERRUPTED = 'interrupted';
const INTERRUPTED_TEXT =
  'The server was interrupted before the outcome was recorded: it may or may not have been executed, and is never executed twice. Check the result or the audit log; if it is missing, propose it again.';

export const listProposals = operation({
  name: 'list_proposals',
  title: 'List proposals',
  toolset: 'mail',
  reach: 'any',
  action: 'read',
  orAction: 'send',
  description: 'Lists what your token proposed to people, and the outcome ("done" or an error code). Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject(Page),
  output: z.object({ proposals: z.array(Item), nextCursor }),
  rest: { method: 'GET', path: '/api/email/proposals' },
  async run(call, page) {
    const { caller, tenant, store, clock } = call;
    if (caller.user?.role === 'member') return { proposals: [], nextCursor: null };
    const before = pageStart(page) || null;
    const token = caller.token?.id ?? null;
    const request = { organization: tenant, token, before, limit: page.limit + 1, now: clock() };
    const rows = await store.read(proposalsOf, request);
    const items = rows.slice(0, page.limit);
    const names = caller.kind === 'token' ? new Map<string, string>() : await namesIn(call);
    const last = rows.length > page.limit ? items.at(-1) : undefined;
    return {
      proposals: await Promise.all(items.map((row) => shown(call, row, names))),
      nextCursor: last === undefined ? null : String(last.id),
    };
  },
});

async function shown(call: Call, row: Proposal, names: ReadonlyMap<string, string>): Promise<z.output<typeof Item>> {
  const found = await decidable(call, row.operation);
  // The deciding person sees the arguments; the proposing token already knows them.
  const given = row.state === 'pending' && call.caller.kind !== 'token' ? proposedInput(call, row) : undefined;
  const outcome = await outcomeOf(call, row);
  return {
    proposalId: publicId('proposal', row.id),
    operation: row.operation,
    title: found?.title ?? row.operation,
    state: row.state,
    tokenId: publicId('token', row.token),
    tokenName: revealInvisible(row.tokenName),
    arguments: shownArguments(given, names),
    changes: given === undefined ? [] : await changesOf(call, row.operation, given),
    createdAt: isoOf(row.createdAt),
    expiresAt: isoOf(row.expiresAt),
    decidedAt: isoOrNull(row.decidedAt),
    decidedBy: row.decidedBy,
    outcome,
    ...(outcome === INTERRUPTED && { message: INTERRUPTED_TEXT }),
  };
}

/** Null: not accepted, or being executed now. */
async function outcomeOf({ store, inFlight }: Call, { id, state, outcome }: Proposal): Promise<string | null> {
  if (state !== 'accepted' || outcome !== null || inFlight.count('proposal', id) > 0) return outcome;
  // It may have finished since the row was read.
  return (await store.read(proposalOutcome, { id })) ?? INTERRUPTED;
}

export const decideProposalOf = operation({
  name: 'decide_proposal',
  title: 'Accept or reject a proposal',
  toolset: 'mail',
  reach: 'organization',
  action: 'manage',
  peopleOnly: true,
  secret: true,
  description:
    'Accepts or rejects a proposal, once. If accepted, exactly the proposed call is executed with the rights that its token had and still has; a secret in the result is shown only here.',
  hints: { destructive: true },
  input: z.strictObject({ proposalId: Id('proposal'), accept: z.boolean().describe('false: reject') }),
  output: z.object({
    proposalId: z.string(),
    state: z.enum(['accepted', 'refused']),
    /** `done`, or an error code. */
    outcome: z.string().nullable(),
    message: z.string(),
    result: z.record(z.string(), z.unknown()).nullable(),
  }),
  async run(call, { proposalId, accept }) {
    const id = rowId('proposal', proposalId) ?? 0;
    const by = call.caller.actorName;
    // Held from before the acceptance until the outcome is recorded, without a gap.
    using _permit = call.inFlight.tryAcquire({ proposal: id });
    const done = await call.change(decideProposal, { organization: call.tenant, id, accept, by }, proposalId, {
      accept,
    });
    switch (done.kind) {
      case 'missing':
        return notFound('proposal');
      case 'expired':
        return refuse('conflict', 'The proposal expired after a week: propose it again.', { resource: 'proposal' });
      case 'decided':
        return refuse('conflict', alreadyDecided(done.state), { resource: 'proposal' });
      case 'refused':
        return { proposalId, state: 'refused' as const, outcome: null, message: 'Not executed.', result: null };
      case 'accepted': {
        const { outcome, message, result } = await carryOut(call, done);
        await settle(call, id, outcome);
        return { proposalId, state: 'accepted' as const, outcome, message, result };
      }
    }
  },
});

function alreadyDecided(state: string): string {
  const more = state === 'accepted' ? ' See the list of proposals for the outcome.' : '';
  return `The proposal was already ${state}.${more}`;
}

interface Accepted {
  operation: string;
  token: number;
  actions: readonly string[];
  input: Uint8Array;
  digest: Uint8Array;
}

interface CarriedOut {
  outcome: string;
  message: string;
  result: Record<string, unknown> | null;
}

async function carryOut(call: Call, accepted: Accepted): Promise<CarriedOut> {
  const [found, caller] = await Promise.all([decidable(call, accepted.operation), proposingCaller(call, accepted)]);
  if (caller === undefined) {
    return { outcome: 'token_gone', message: 'Not executed: its token has been revoked.', result: null };
  }
  if (found === undefined) {
    return { outcome: 'not_found', message: 'Not executed: this version has no such operation.', result: null };
  }
  const done = await perform(call, found, caller, proposedInput(call, accepted), { accepted: true });
  if (done.kind === 'done') return { outcome: 'done', message: `Done: ${found.title}.`, result: done.result };
  return { outcome: done.refusal.error, message: `Failed: ${done.refusal.message}`, result: null };
}

/** Executes an accepted proposal. Never rejects: a secret in the result is only in this answer. */
async function settle({ store, log }: Call, id: number, outcome: string): Promise<void> {
  try {
    await store.write(settleProposal, { id, outcome });
  } catch (error) {
    log.error(
      { err: error, proposal: publicId('proposal', id), outcome },
      'failed to record the outcome of a proposal',
    );
  }
}

/** Returns the proposing token with its former and current rights; undefined if it has ended. */
async function proposingCaller(
  { store, clock, caller, tenant }: Call,
  proposal: Accepted,
): Promise<Caller | undefined> {
  const token = await store.read(findToken, { id: proposal.token });
  const over = token === undefined || token.organization !== tenant;
  if (over || (token.expiresAt !== null && token.expiresAt <= clock())) return undefined;
  const now = tokenCaller(token, caller.way, caller.ip);
  return { ...now, actions: new Set([...now.actions].filter((one) => proposal.actions.includes(one))) };
}

/** Finds the operation of a proposal; undefined if it no longer exists. */
async function decidable({ catalogue }: Call, name: string): Promise<Operation | undefined> {
  const own: readonly Operation[] = [saveAgentPolicyOf, attachAgentPolicyTo];
  return own.find((one) => one.name === name) ?? (await catalogue()).find((one) => one.name === name);
}

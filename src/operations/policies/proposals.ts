import { z } from 'zod';
import { decideProposal, settleProposal } from '../../agents/proposal-commands.ts';
import { type Proposal, proposalOutcome, proposalsOf } from '../../agents/proposal-queries.ts';
import { proposedInput } from '../../agents/propose.ts';
import { publicId, rowId } from '../../ids.ts';
import { findToken } from '../../tokens/commands.ts';
import { inPlainSight } from '../../untrusted/plain-sight.ts';
import { type Caller, tokenCaller } from '../caller.ts';
import { type Call, operation } from '../operation.ts';
import { perform } from '../perform.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id, isoOf, isoOrNull, nextCursor, Page, pageStart } from '../schemas.ts';
import { changesOf, namesIn, shownArguments } from './proposal-words.ts';
import { decidable } from './decidable.ts';

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
  /** Of an accepted one: `done`, the code of a refusal, or `interrupted`; null while it is being done. */
  outcome: z.string().nullable(),
  /** What to do about an outcome that is not known. */
  message: z.string().optional(),
});

/** The server ended between a person's yes and the outcome, or its disk took no more. */
const INTERRUPTED = 'interrupted';
const INTERRUPTED_TEXT =
  'The server was interrupted before the outcome was written down: nobody knows whether it was done, and it is never done a second time. Look at what there is, or in the audit log; if it is missing, it has to be proposed again.';

export const listProposals = operation({
  name: 'list_proposals',
  title: 'List what waits for a person',
  toolset: 'mail',
  reach: 'any',
  action: 'read',
  description:
    'Lists what your token asked for and a person has to accept, and what became of it (outcome "done" or the code of a refusal). Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject(Page),
  output: z.object({ proposals: z.array(Item), nextCursor }),
  rest: { method: 'GET', path: '/api/email/proposals' },
  async run(call, page) {
    const { caller, tenant, store, clock } = call;
    if (caller.user?.role === 'member') return { proposals: [], nextCursor: null };
    const before = pageStart(page) || null;
    const token = caller.token?.id ?? null;
    const asked = { organization: tenant, token, before, limit: page.limit + 1, now: clock() };
    const rows = await store.read(proposalsOf, asked);
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
  // Who decides sees what was asked for; who asked knows it.
  const given = row.state === 'pending' && call.caller.kind !== 'token' ? proposedInput(call, row) : undefined;
  const outcome = await outcomeOf(call, row);
  return {
    proposalId: publicId('proposal', row.id),
    operation: row.operation,
    title: found?.title ?? row.operation,
    state: row.state,
    tokenId: publicId('token', row.token),
    tokenName: inPlainSight(row.tokenName),
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

/** Null: nobody accepted it, or it is being done now. */
async function outcomeOf({ store, underWay }: Call, { id, state, outcome }: Proposal): Promise<string | null> {
  if (state !== 'accepted' || outcome !== null || underWay.has(id)) return outcome;
  // It may have come to its end since the row was read.
  return (await store.read(proposalOutcome, { id })) ?? INTERRUPTED;
}

export const decideProposalOf = operation({
  name: 'decide_proposal',
  title: 'Accept or refuse what an agent asked for',
  toolset: 'mail',
  reach: 'organization',
  action: 'manage',
  peopleOnly: true,
  secret: true,
  description:
    'Accepts or refuses a proposal, once. Accepted, exactly what was asked is done with the rights that its token had and still has; a secret in the answer is shown here and nowhere else.',
  hints: { destructive: true },
  input: z.strictObject({ proposalId: Id('proposal'), accept: z.boolean() }),
  output: z.object({
    proposalId: z.string(),
    state: z.enum(['accepted', 'refused']),
    /** `done`, or the code of the refusal. */
    outcome: z.string().nullable(),
    message: z.string(),
    result: z.record(z.string(), z.unknown()).nullable(),
  }),
  async run(call, { proposalId, accept }) {
    const id = rowId('proposal', proposalId) ?? 0;
    const by = call.caller.actorName;
    using _underWay = call.underWay.begin(id);
    const done = await call.change(decideProposal, { organization: call.tenant, id, accept, by }, proposalId, {
      accept,
    });
    switch (done.kind) {
      case 'missing':
        return notFound('proposal');
      case 'expired':
        return refuse('conflict', 'The proposal is over a week old and holds no more.', { resource: 'proposal' });
      case 'decided':
        return refuse('conflict', alreadyDecided(done.state), { resource: 'proposal' });
      case 'refused':
        return { proposalId, state: 'refused' as const, outcome: null, message: 'Nothing was done.', result: null };
      case 'accepted': {
        const { outcome, message, result } = await carryOut(call, done);
        await settle(call, id, outcome);
        return { proposalId, state: 'accepted' as const, outcome, message, result };
      }
    }
  },
});

function alreadyDecided(state: string): string {
  const more = state === 'accepted' ? ' The list of proposals says what became of it.' : '';
  return `The proposal was ${state} already.${more}`;
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
  const [found, caller] = await Promise.all([decidable(call, accepted.operation), askerNow(call, accepted)]);
  if (caller === undefined) {
    return { outcome: 'token_gone', message: 'Nothing was done: its token holds no more.', result: null };
  }
  if (found === undefined) {
    return { outcome: 'not_found', message: 'Nothing was done: this version does not know it.', result: null };
  }
  const done = await perform(call, found, caller, proposedInput(call, accepted), { accepted: true });
  if (done.kind === 'done') return { outcome: 'done', message: `Done: ${found.title}.`, result: done.result };
  return { outcome: done.refusal.error, message: `It could not be done: ${done.refusal.message}`, result: null };
}

/** Never rejects: it is done, and its secret is in this answer and nowhere else. */
async function settle({ store, log }: Call, id: number, outcome: string): Promise<void> {
  try {
    await store.write(settleProposal, { id, outcome });
  } catch (error) {
    log.error(
      { err: error, proposal: publicId('proposal', id), outcome },
      'what became of a proposal was not recorded',
    );
  }
}

/** Who asked, with what it might do then and may now; undefined when its token has ended. */
async function askerNow({ store, clock, caller, tenant }: Call, asked: Accepted): Promise<Caller | undefined> {
  const token = await store.read(findToken, { id: asked.token });
  const over = token === undefined || token.organization !== tenant;
  if (over || (token.expiresAt !== null && token.expiresAt <= clock())) return undefined;
  const now = tokenCaller(token, caller.way, caller.ip);
  return { ...now, actions: new Set([...now.actions].filter((one) => asked.actions.includes(one))) };
}

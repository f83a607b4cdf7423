import { z } from 'zod';
import type { NarrowLimits } from '../../../mail/agents/gate/types.ts';
import { callerPolicy } from '../../agents/caller-policy.ts';
import { publicThreadId } from '../../core/message-ids.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { addToken, listTokens, revokeToken } from '../../tokens/commands.ts';
import { ACTIONS, type Action, expandActions, makeToken, secretHash, shownPart } from '../../core/token.ts';
import { noMailboxes, mailboxRows } from '../affected-mailboxes.ts';
import {
  expiryOf,
  Id,
  isoOf,
  isoOrNull,
  Line,
  nextCursor,
  Page,
  pageOf,
  SECRET_NOTICE,
  OfProject,
  ExpiresAt,
} from '../../core/schemas.ts';
import { type Call, operation } from '../../core/operation.ts';
import { attachable } from '../policies/target.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { mailboxOf, projectOf, serviceOf } from '../scope.ts';
import type { TokenRow } from '../../core/caller.ts';

/** Limits of a limited token. */
export const Narrow = z.object({
  threadId: z.string().nullable(),
  recipients: z.array(z.string()).nullable(),
  sends: z.number().nullable(),
});

export const Token = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  actions: z.array(z.string()),
  projectId: z.string().nullable(),
  serviceId: z.string().nullable(),
  mailboxIds: z.array(z.string()).nullable(),
  owner: z.boolean(),
  createdBy: z.string(),
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
  lastUsedAt: z.string().nullable(),
  parentId: z.string().nullable().describe('token that this limited one ends with'),
  narrow: Narrow.nullable(),
  revoked: z.boolean(),
  revokedAt: z.string().nullable(),
  /** `oauth`: a program authorized by a person; `clientId` is its own name. */
  kind: z.enum(['bearer', 'oauth']),
  clientId: z.string().nullable(),
});

export const createAgentToken = operation({
  name: 'create_agent_token',
  title: 'Create a token',
  toolset: 'org',
  reach: 'any',
  action: 'manage',
  secret: true,
  description:
    'Creates a token of this organization and shows it once. It never gets more rights than the calling token.',
  hints: {},
  rule: (_call, { mailboxIds = [] }) => mailboxRows(mailboxIds),
  input: z.strictObject({
    name: Line(1, 80).describe('For people'),
    actions: z.array(z.enum(ACTIONS)).min(1).max(ACTIONS.length).describe('Allowed actions'),
    projectId: OfProject,
    serviceId: Id('service', 'Only this service').optional(),
    mailboxIds: z.array(Id('mailbox')).min(1).max(100).describe('Only these mailboxes').optional(),
    expiresAt: ExpiresAt,
    agentPolicyId: Id('policy').optional(),
  }),
  output: z.object({ token: Token, secret: z.string(), secretNotice: z.string() }),
  async run(call, input) {
    const actions = ACTIONS.filter((one) => input.actions.includes(one));
    withinOwn(call, actions);
    const limits = await limitsOf(call, input);
    const policy = await policyFor(call, input.agentPolicyId);
    const secret = makeToken(call.settings.tokenPrefix);
    const row = {
      ...limits,
      organization: call.tenant,
      name: input.name,
      shown: shownPart(secret),
      actions,
      owner: false,
      createdBy: call.caller.actor,
      expiresAt: lifetimeOf(call, input.expiresAt),
      policy,
    };
    const detail = { actions, prefix: row.shown };
    const id = await call.change(addToken, { ...row, hash: secretHash(secret) }, input.name, detail);
    const fresh = {
      createdAt: call.clock(),
      lastUsedAt: null,
      revokedAt: null,
      parent: null,
      narrow: null,
      oauth: null,
      mode: call.caller.token?.mode ?? 'normal',
    };
    const token = shownToken({ ...row, ...fresh, id });
    return { token, secret, secretNotice: SECRET_NOTICE };
  },
});

/** Returns the policy of the new token; default: the policy of the calling token, so that a token cannot escape it. */
async function policyFor(call: Call, policyId: string | undefined): Promise<number | undefined> {
  if (policyId === undefined) return undefined;
  if ((await callerPolicy(call)).governed) {
    refuse('action_not_allowed', 'A token under a policy creates tokens under the same policy: omit agentPolicyId.', {
      requiredAction: 'person',
      grantedActions: [...call.caller.actions],
    });
  }
  return attachable(call, policyId);
}

/** Checks the actions: a token cannot grant what it lacks. */
function withinOwn({ caller }: Call, actions: readonly Action[]): void {
  const missing = [...expandActions(actions)].find((one) => !caller.actions.has(one));
  if (missing === undefined) return;
  refuse('action_not_allowed', `This token lacks ${missing}, so it cannot grant it.`, {
    requiredAction: missing,
    grantedActions: [...caller.actions],
  });
}

/** Intersects the requested limits with those of the caller, which are the default. */
async function limitsOf(
  call: Call,
  {
    projectId,
    serviceId,
    mailboxIds,
  }: { projectId?: string | undefined; serviceId?: string | undefined; mailboxIds?: string[] | undefined },
): Promise<{ project: number | null; service: number | null; mailboxes: number[] | null }> {
  const { caller } = call;
  const project = projectId === undefined ? caller.project : (await projectOf(call, projectId)).id;
  const service = serviceId === undefined ? caller.service : (await serviceOf(call, serviceId)).id;
  const named =
    mailboxIds === undefined
      ? undefined
      : await Promise.all(mailboxIds.map((mailboxId) => mailboxOf(call, { mailboxId })));
  const mailboxes = named?.map((one) => one.id) ?? (caller.mailboxes === null ? null : [...caller.mailboxes]);
  return { project, service, mailboxes };
}

/** Returns the expiry: a token expires with its creator at the latest. */
function lifetimeOf(call: Call, text: string | undefined): number | null {
  const own = call.caller.token?.expiresAt ?? null;
  const wanted = expiryOf(call, text);
  return wanted === null || own === null ? (wanted ?? own) : Math.min(wanted, own);
}

export const listAgentTokens = operation({
  name: 'list_agent_tokens',
  title: 'List tokens',
  toolset: 'org',
  reach: 'any',
  action: 'read',
  description: 'Lists the tokens of this organization, revoked ones included, without secrets. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ ...Page }),
  output: z.object({ tokens: z.array(Token), nextCursor }),
  async run(call, page) {
    const all = await call.store.read(listTokens, { organization: call.tenant });
    const { rows, nextCursor: next } = pageOf(
      all.filter((one) => seen(call, one)),
      page,
    );
    const fresh = rows.map((one) => ({ ...one, lastUsedAt: call.lastUsed.freshest(one.id, one.lastUsedAt, 'token') }));
    return { tokens: fresh.map(shownToken), nextCursor: next };
  },
});

/** Returns true if a limited caller may see a token: itself, or one with the same limits. */
function seen({ caller }: Call, { id, project, service, mailboxes }: TokenRow): boolean {
  if (caller.token?.id === id) return true;
  if (caller.project !== null && caller.project !== project) return false;
  if (caller.service !== null && caller.service !== service) return false;
  return caller.mailboxes === null || (mailboxes?.every((one) => caller.mailboxes?.includes(one)) ?? false);
}

export const revokeAgentToken = operation({
  name: 'revoke_agent_token',
  title: 'Revoke a token',
  toolset: 'org',
  reach: 'any',
  action: 'manage',
  description: 'Revokes a token and its sessions at once and permanently. Mail that it submitted is still sent.',
  hints: { destructive: true, idempotent: true },
  rule: async (call, { tokenId }) => ((await isOwnLine(call, tokenId)) ? undefined : noMailboxes()),
  input: z.strictObject({ tokenId: Id('token') }),
  output: z.object({ tokenId: z.string(), revoked: z.literal(true) }),
  async run(call, { tokenId }) {
    const found = await tokenOf(call, tokenId);
    const done = await call.change(revokeToken, { id: found.id, organization: call.tenant }, tokenId);
    return done.kind === 'missing' ? notFound('token') : { tokenId, revoked: true as const };
  },
});

async function tokenOf(call: Call, tokenId: string): Promise<TokenRow> {
  const id = rowId('token', tokenId);
  const all = await call.store.read(listTokens, { organization: call.tenant });
  return all.find((one) => one.id === id && seen(call, one)) ?? notFound('token');
}

/**
 * Returns true if the caller revokes itself or a token that it created, directly or indirectly: this only removes
 * rights, so no approval is needed.
 */
async function isOwnLine(call: Call, tokenId: string): Promise<boolean> {
  const found = await tokenOf(call, tokenId);
  const all = await call.store.read(listTokens, { organization: call.tenant });
  const makers = new Map(all.map((one) => [publicId('token', one.id), one.createdBy]));
  const line = new Set<string>();
  for (let one: string | undefined = publicId('token', found.id); one !== undefined && !line.has(one);) {
    line.add(one);
    one = makers.get(one);
  }
  return line.has(call.caller.actor);
}

export function shownToken(token: TokenRow): z.output<typeof Token> {
  return {
    id: publicId('token', token.id),
    name: token.name,
    prefix: token.shown,
    actions: [...token.actions],
    projectId: token.project === null ? null : publicId('project', token.project),
    serviceId: token.service === null ? null : publicId('service', token.service),
    mailboxIds: token.mailboxes?.map((id) => publicId('mailbox', id)) ?? null,
    owner: token.owner,
    createdBy: token.createdBy,
    createdAt: isoOf(token.createdAt),
    expiresAt: isoOrNull(token.expiresAt),
    lastUsedAt: isoOrNull(token.lastUsedAt),
    parentId: token.parent === null ? null : publicId('token', token.parent),
    narrow: token.narrow === null ? null : shownLimits(token.narrow),
    revoked: token.revokedAt !== null,
    revokedAt: isoOrNull(token.revokedAt),
    kind: token.oauth === null ? 'bearer' : 'oauth',
    clientId: token.oauth?.client ?? null,
  };
}

export function shownLimits({ thread, recipients, sends }: NarrowLimits): z.output<typeof Narrow> {
  return {
    threadId: thread === null ? null : publicThreadId(thread),
    recipients: recipients === null ? null : [...recipients],
    sends: sends.length === 0 ? null : Math.min(...sends.map(({ most }) => most)),
  };
}

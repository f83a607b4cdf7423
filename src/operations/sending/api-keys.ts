import { z } from 'zod';
import { parseDomain } from '../../../mail/message/address.ts';
import { domainsOf } from '../../../mail/store/address/domain.ts';
import { domainSetup } from '../../domains/setup.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { addApiKey, type ApiKey, listApiKeys, revokeApiKey } from '../../sending/key-commands.ts';
import { makeApiKey, secretHash, shownPart } from '../../core/token.ts';
import { noMailboxes } from '../affected-mailboxes.ts';
import { agentOf } from '../../core/caller.ts';
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
  InProject,
  OfProject,
  ExpiresAt,
} from '../../core/schemas.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { projectOf, withinProject } from '../scope.ts';

const Key = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  projectId: z.string(),
  allowedDomains: z.array(z.string()).nullable(),
  lastUsedAt: z.string().nullable(),
  expiresAt: z.string().nullable(),
  revoked: z.boolean(),
  revokedAt: z.string().nullable(),
  createdAt: z.string(),
});

export const createApiKey = operation({
  name: 'create_email_api_key',
  title: 'Create an email API key',
  toolset: 'email',
  reach: 'project',
  action: 'manage',
  secret: true,
  description:
    'Creates a key for the HTTP send API (POST /api/email/send) and shows its secret once. It may send from any verified domain of this organization, or only from allowedDomains.',
  hints: {},
  rule: noMailboxes,
  input: z.strictObject({
    projectId: InProject,
    name: Line(1, 80).describe('For people'),
    allowedDomains: z.array(Line(1, 253)).min(1).max(100).describe('Only from these domains').optional(),
    expiresAt: ExpiresAt,
    guardDuplicates: z.boolean().default(false).describe('Send repeats within ten minutes only once'),
  }),
  output: z.object({ key: Key, secret: z.string(), secretNotice: z.string() }),
  rest: { method: 'POST', path: '/api/email/api-keys', status: 201 },
  async run(call, input) {
    const project = await projectOf(call, input.projectId);
    const allowedDomains = await allowedFor(call, input.allowedDomains);
    const expiresAt = expiryOf(call, input.expiresAt);
    const secret = makeApiKey(call.settings.tokenPrefix);
    const row = {
      organization: call.tenant,
      project: project.id,
      name: input.name,
      shown: shownPart(secret),
      allowedDomains,
      expiresAt,
      guessesDuplicates: input.guardDuplicates,
    };
    const fresh = { ...row, hash: secretHash(secret), by: agentOf(call.caller) };
    const { id } = await call.change(addApiKey, fresh, input.name, {
      allowedDomains,
      prefix: row.shown,
    });
    const key = shown({ ...row, id, createdAt: call.clock(), lastUsedAt: null, revokedAt: null });
    return { key, secret, secretNotice: SECRET_NOTICE };
  },
});

/**
 * Names as this organization onboarded them; a key for a domain that is not there would never send. A token of one
 * project gives no more than it has: the domains of its project, when none are named.
 */
async function allowedFor(call: Call, names: readonly string[] | undefined): Promise<string[] | null> {
  const { store, tenant, caller } = call;
  if (names === undefined && caller.project === null) return null;
  const all = await store.read(domainsOf, { tenant });
  const projects = await Promise.all(
    all.map(async ({ id }) => (await store.read(domainSetup, { domain: id }))?.project),
  );
  const own = new Map(all.map(({ name }, i) => [name, projects[i] ?? 0]));
  if (names === undefined) {
    const inside = [...own].flatMap(([name, project]) => (project === caller.project ? [name] : []));
    if (inside.length > 0) return inside;
    return refuse('domain_not_onboarded', 'The project of this token has no domain: add one with add_email_domain.');
  }
  return names.map((given) => {
    const name = parseDomain(given) ?? notADomain();
    const project = own.get(name);
    if (project !== undefined) {
      withinProject(call, project);
      return name;
    }
    return refuse(
      'domain_not_onboarded',
      `${given} is not a domain of this organization: add it with add_email_domain.`,
      {
        domain: given,
      },
    );
  });
}

function notADomain(): never {
  return refuse('invalid_arguments', 'allowedDomains must contain domain names only.', {
    issues: [{ path: 'allowedDomains', message: 'is not a domain name' }],
  });
}

export const listKeys = operation({
  name: 'list_email_api_keys',
  title: 'List email API keys',
  toolset: 'email',
  reach: 'project',
  action: 'read',
  description:
    'Lists the email API keys of this organization, revoked ones included, without secrets. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ projectId: OfProject, ...Page }),
  output: z.object({ keys: z.array(Key), nextCursor }),
  rest: { method: 'GET', path: '/api/email/api-keys' },
  async run(call, { projectId, ...page }) {
    const only = projectId === undefined ? call.caller.project : (await projectOf(call, projectId)).id;
    const keys = await call.store.read(listApiKeys, { organization: call.tenant });
    const mine = keys.filter((key) => only === null || key.project === only);
    const { rows, nextCursor: next } = pageOf(mine, page);
    const fresh = rows.map((key) => ({ ...key, lastUsedAt: call.lastUsed.freshest(key.id, key.lastUsedAt, 'key') }));
    return { keys: fresh.map(shown), nextCursor: next };
  },
});

export const revokeKey = operation({
  name: 'revoke_email_api_key',
  title: 'Revoke an email API key',
  toolset: 'email',
  reach: 'project',
  action: 'manage',
  description: 'Revokes an email API key at once and permanently. Mail that it queued is still sent.',
  hints: { destructive: true, idempotent: true },
  rule: noMailboxes,
  input: z.strictObject({ keyId: Id('apiKey') }),
  output: z.object({ keyId: z.string(), revoked: z.literal(true), revokedAt: z.string() }),
  rest: { method: 'DELETE', path: '/api/email/api-keys/:keyId' },
  async run(call, { keyId }) {
    const id = rowId('apiKey', keyId);
    const key = (await call.store.read(listApiKeys, { organization: call.tenant })).find((one) => one.id === id);
    if (key === undefined) return notFound('email API key');
    withinProject(call, key.project);
    const done = await call.change(revokeApiKey, { id: key.id, organization: call.tenant }, keyId);
    if (done.kind === 'missing') return notFound('email API key');
    return { keyId, revoked: true as const, revokedAt: isoOf(done.at) };
  },
});

function shown(key: ApiKey): z.output<typeof Key> {
  return {
    id: publicId('apiKey', key.id),
    name: key.name,
    prefix: key.shown,
    projectId: publicId('project', key.project),
    allowedDomains: key.allowedDomains === null ? null : [...key.allowedDomains],
    lastUsedAt: isoOrNull(key.lastUsedAt),
    expiresAt: isoOrNull(key.expiresAt),
    revoked: key.revokedAt !== null,
    revokedAt: isoOrNull(key.revokedAt),
    createdAt: isoOf(key.createdAt),
  };
}

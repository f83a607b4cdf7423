import { z } from 'zod';
import { DNS_PROVIDERS } from '../../dns-providers/providers.ts';
import type { DnsChange, DnsOutcome, DnsWrite } from '../../core/dns-publisher.ts';
import { publicId } from '../../core/ids.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { isoOf, isoOrNull, Line } from '../../core/schemas.ts';
import { DomainArguments } from '../domains/arguments.ts';
import { findOwnDomain } from '../scope.ts';

const IDS = DNS_PROVIDERS.map(({ id }) => id);

const Change = z.object({
  action: z.enum(['create', 'replace', 'merge', 'restore', 'delete', 'keep', 'conflict', 'suggest']),
  type: z.string(),
  name: z.string(),
  value: z.string().nullable(),
  before: z.string().nullable(),
  why: z.string().nullable(),
});
const Changes = z.object({ domain: z.string(), zone: z.string(), changes: z.array(Change) });

export const getDnsProvider = operation({
  name: 'get_dns_provider',
  title: 'Get the DNS provider of a domain',
  toolset: 'dns',
  reach: 'project',
  action: 'read',
  peopleOnly: true,
  description:
    'Returns the DNS provider that a domain is connected to, and the providers that it could be connected to with the credentials that each needs. Shows no credentials.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject(DomainArguments),
  output: z.object({
    connected: z
      .object({
        provider: z.string(),
        title: z.string(),
        zone: z.string(),
        connectedAt: z.string(),
        publishedAt: z.string().nullable(),
        error: z.string().nullable(),
      })
      .nullable(),
    providers: z.array(
      z.object({
        provider: z.string(),
        title: z.string(),
        scope: z.string(),
        credentials: z.array(
          z.object({ name: z.string(), label: z.string(), secret: z.boolean(), optional: z.boolean() }),
        ),
      }),
    ),
  }),
  async run(call, which) {
    const { id } = await findOwnDomain(call, which);
    const state = await call.dnsPublisher.state(id);
    const connected = state && {
      ...state,
      title: DNS_PROVIDERS.find((one) => one.id === state.provider)?.title ?? state.provider,
      connectedAt: isoOf(state.connectedAt),
      publishedAt: isoOrNull(state.publishedAt),
    };
    const providers = DNS_PROVIDERS.map(({ id: provider, title, scope, fields }) => ({
      provider,
      title,
      scope,
      credentials: fields.map(({ optional = false, ...field }) => ({ ...field, optional })),
    }));
    return { connected: connected ?? null, providers };
  },
});

export const connectDnsProvider = operation({
  name: 'connect_dns_provider',
  title: 'Connect a DNS provider',
  toolset: 'dns',
  reach: 'project',
  action: 'manage',
  peopleOnly: true,
  description:
    'Stores encrypted credentials of the DNS provider of a domain, after a look at its zone. Changes no record: preview_dns_changes shows what publish_dns_records would change.',
  hints: { idempotent: true, openWorld: true },
  input: z.strictObject({
    ...DomainArguments,
    provider: z.enum(IDS).describe('As get_dns_provider lists it'),
    credentials: z
      .record(Line(1, 40), Line(0, 1000))
      .describe('By the names that get_dns_provider lists; never shown again'),
  }),
  output: z.object({
    domain: z.string(),
    provider: z.string(),
    zone: z.string(),
    next: z.literal('preview_dns_changes'),
  }),
  async run(call, { provider, credentials, ...which }) {
    const info = await findOwnDomain(call, which);
    const given = knownCredentials(provider, credentials);
    const done = await call.dnsPublisher.connect(
      info,
      { provider, credentials: given },
      writing(call, info.id, { provider }),
    );
    const { zone } = completed(done);
    return { domain: info.name, provider, zone, next: 'preview_dns_changes' as const };
  },
});

function knownCredentials(provider: string, credentials: Readonly<Record<string, string>>): Record<string, string> {
  const fields = DNS_PROVIDERS.find(({ id }) => id === provider)?.fields ?? [];
  const given = Object.entries(credentials).filter(([, value]) => value !== '');
  const unknown = given.find(([name]) => !fields.some((field) => field.name === name));
  const missing = fields.find(({ name, optional }) => optional !== true && !given.some(([key]) => key === name));
  const names = fields.map(({ name }) => name).join(', ');
  if (unknown !== undefined || missing !== undefined) {
    const problem = missing === undefined ? `has an unknown field ${unknown?.[0] ?? ''}` : `has no ${missing.name}`;
    refuse('invalid_arguments', `credentials ${problem}. This provider needs: ${names}.`, {
      issues: [{ path: 'credentials', message: `${problem}: it needs ${names}` }],
    });
  }
  return Object.fromEntries(given);
}

export const previewDnsChanges = operation({
  name: 'preview_dns_changes',
  title: 'Preview DNS changes',
  toolset: 'dns',
  reach: 'project',
  action: 'read',
  peopleOnly: true,
  description:
    'Reads the zone at the DNS provider of a domain and returns what publish_dns_records would create, replace, merge or delete, and the records of others that it leaves alone. Changes nothing.',
  hints: { readOnly: true, idempotent: true, openWorld: true },
  input: z.strictObject(DomainArguments),
  output: Changes,
  async run(call, which) {
    const info = await findOwnDomain(call, which);
    const { zone, changes } = completed(await call.dnsPublisher.preview(info));
    return { domain: info.name, zone, changes };
  },
});

export const publishDnsRecords = operation({
  name: 'publish_dns_records',
  title: 'Publish DNS records',
  toolset: 'dns',
  reach: 'project',
  action: 'deploy',
  peopleOnly: true,
  description:
    'Writes the records that a domain needs at its DNS provider. Changes or removes no record of others, except that this server is added to an SPF record, and with mergeReports to the reports of DMARC and TLS-RPT records. From then on, new DKIM keys and policies are published automatically.',
  hints: { idempotent: true, openWorld: true },
  input: z.strictObject({
    ...DomainArguments,
    mergeReports: z
      .boolean()
      .default(false)
      .describe('Also add this server to the rua of records of others, as the preview suggests'),
  }),
  output: Changes.extend({ next: z.literal('verify_email_domain') }),
  async run(call, { mergeReports, ...which }) {
    const info = await findOwnDomain(call, which);
    const done = await call.dnsPublisher.publish(info, writing(call, info.id, { mergeReports }), { mergeReports });
    const { zone, changes } = completed(done);
    return { domain: info.name, zone, changes, next: 'verify_email_domain' as const };
  },
});

export const disconnectDnsProvider = operation({
  name: 'disconnect_dns_provider',
  title: 'Disconnect a DNS provider',
  toolset: 'dns',
  reach: 'project',
  action: 'manage',
  peopleOnly: true,
  description:
    'Deletes the credentials of the DNS provider of a domain. With removeRecords, first removes the records that this server wrote and nobody changed since, and restores those that it was merged into.',
  hints: { destructive: true, idempotent: true, openWorld: true },
  input: z.strictObject({
    ...DomainArguments,
    removeRecords: z.boolean().default(false).describe('Also remove what this server wrote'),
  }),
  output: z.object({ disconnected: z.literal(true), changes: z.array(Change) }),
  async run(call, { removeRecords, ...which }) {
    const info = await findOwnDomain(call, which);
    const done = await call.dnsPublisher.disconnect(info, removeRecords, writing(call, info.id, { removeRecords }));
    const changes: DnsChange[] = done.kind === 'not-connected' ? [] : completed(done).changes;
    return { disconnected: true as const, changes };
  },
});

/** Writes with an audit row that names the domain. */
function writing(call: Call, domain: number, detail: Readonly<Record<string, string | boolean>> = {}): DnsWrite {
  return (what, input) => call.change(what, input, publicId('domain', domain), detail);
}

function completed<T>(outcome: DnsOutcome<T>): { kind: 'done' } & T {
  switch (outcome.kind) {
    case 'done':
      return outcome;
    case 'not-connected':
      return notFound('DNS provider');
    case 'failed':
      return refuse('conflict', outcome.why, { resource: 'DNS provider' });
  }
}

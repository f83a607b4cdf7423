import { X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { listAccounts } from '../../../mail/store/account/account.ts';
import { listDomains } from '../../../mail/store/address/domain.ts';
import { queueDepth } from '../../../mail/store/queue/queue-rows.ts';
import { certificateStates } from '../../certificates/state.ts';
import { version } from '../../core/version.ts';
import { type Call, operation } from '../../core/operation.ts';

const What = z.object({
  version: z.string(),
  mode: z.enum(['live', 'local']),
  hostname: z.string(),
  baseUrl: z.string(),
  startedAt: z.number(),
  listen: z.array(z.string()),
  listeners: z.record(z.string(), z.number()),
  failing: z.array(z.string()),
  node: z
    .object({ name: z.string(), leads: z.boolean() })
    .nullable()
    .describe('This node, where several servers share a database; the one that leads relays and runs the jobs'),
  unreadableMessages: z
    .number()
    .describe('Stored messages that were found damaged since the start; the log names them'),
  pid: z.number(),
  uptimeSeconds: z.number(),
  memoryBytes: z.number(),
  domains: z.number(),
  mailboxes: z.number(),
  queue: z.object({ due: z.number(), held: z.number() }),
  smarthost: z.object({ host: z.string(), port: z.number(), use: z.enum(['always', 'failover']) }).nullable(),
  certificates: z
    .object({ automatic: z.boolean(), selfSigned: z.boolean(), expiresAt: z.string(), failing: z.array(z.string()) })
    .describe('failing: name and reason of each that is not renewed'),
  refusedLogins: z.array(z.object({ host: z.string(), why: z.string(), since: z.number() })),
});

export const status = operation({
  name: 'get_status',
  title: 'Get the status',
  toolset: 'support',
  reach: 'organization',
  action: 'read',
  socketOnly: true,
  description: 'Reports what is running, since when, and what is queued. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: What,
  run: (call) => statusOf(call),
});

export const applianceStatus = operation({
  name: 'get_appliance_status',
  title: 'Get the server status',
  toolset: 'deploy',
  reach: 'organization',
  action: 'read',
  operatorOnly: true,
  description:
    'For the operator: version, open listeners, failing checks, memory, and totals of hosted and queued mail. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: What,
  run: (call) => statusOf(call),
});

async function statusOf(call: Call): Promise<z.output<typeof What>> {
  const { store, clock, startedAt, settings, ports, failing } = call;
  const { smarthost } = settings;
  const [domains, accounts, queue] = await Promise.all([
    store.read(listDomains, undefined),
    store.read(listAccounts, undefined),
    store.scan(queueDepth, undefined),
  ]);
  return {
    version: version(),
    mode: settings.live ? ('live' as const) : ('local' as const),
    hostname: settings.hostname,
    baseUrl: call.baseUrl(),
    startedAt,
    listen: [...settings.listen],
    listeners: Object.fromEntries(
      Object.entries(ports()).flatMap(([name, port]) => (port === undefined ? [] : [[name, port]])),
    ),
    failing: failing(),
    node: store.nodes === undefined ? null : { name: store.nodes.name, leads: store.nodes.leads },
    unreadableMessages: store.unreadable,
    pid: process.pid,
    uptimeSeconds: Math.round((clock() - startedAt) / 1000),
    memoryBytes: process.memoryUsage.rss(),
    domains: domains.length,
    mailboxes: accounts.length,
    queue,
    smarthost: smarthost === undefined ? null : { host: smarthost.host, port: smarthost.port, use: smarthost.use },
    certificates: await certificatesOf(call),
    refusedLogins: call.refusedLogins().map(({ host, why, since }) => ({ host, why, since })),
  };
}

async function certificatesOf(call: Call): Promise<z.output<typeof What>['certificates']> {
  const { pem, selfSigned } = call.certificate();
  const { certificates } = await certificateStates(call);
  return {
    automatic: call.settings.acme !== undefined,
    selfSigned,
    expiresAt: new Date(new X509Certificate(pem).validTo).toISOString(),
    failing: certificates.flatMap(({ name, error }) => (error === null ? [] : [`${name}: ${error}`])),
  };
}

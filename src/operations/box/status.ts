import { z } from 'zod';
import { listAccounts } from '../../../mail/store/account.ts';
import { listDomains } from '../../../mail/store/domain.ts';
import { queueDepth } from '../../../mail/store/queue-rows.ts';
import { version } from '../../version.ts';
import { type Call, operation } from '../operation.ts';

const What = z.object({
  version: z.string(),
  mode: z.enum(['live', 'local']),
  hostname: z.string(),
  baseUrl: z.string(),
  startedAt: z.number(),
  listen: z.array(z.string()),
  listeners: z.record(z.string(), z.number()),
  failing: z.array(z.string()),
  pid: z.number(),
  uptimeSeconds: z.number(),
  memoryBytes: z.number(),
  domains: z.number(),
  mailboxes: z.number(),
  queue: z.object({ due: z.number(), held: z.number() }),
  smarthost: z.object({ host: z.string(), port: z.number(), use: z.enum(['always', 'failover']) }).nullable(),
  refusedLogins: z.array(z.object({ host: z.string(), why: z.string(), since: z.number() })),
});

export const status = operation({
  name: 'get_status',
  title: 'What runs',
  toolset: 'support',
  reach: 'organization',
  action: 'read',
  socketOnly: true,
  description: 'Says what runs, since when, and what waits. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: What,
  run: (call) => statusOf(call),
});

export const applianceStatus = operation({
  name: 'get_appliance_status',
  title: 'What runs on this box',
  toolset: 'deploy',
  reach: 'organization',
  action: 'read',
  operatorOnly: true,
  description:
    'For the operator: version, open doors, failing checks, memory, and how much is hosted and queued. Changes nothing.',
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
    pid: process.pid,
    uptimeSeconds: Math.round((clock() - startedAt) / 1000),
    memoryBytes: process.memoryUsage.rss(),
    domains: domains.length,
    mailboxes: accounts.length,
    queue,
    smarthost: smarthost === undefined ? null : { host: smarthost.host, port: smarthost.port, use: smarthost.use },
    refusedLogins: call.refusedLogins().map(({ host, why, since }) => ({ host, why, since })),
  };
}

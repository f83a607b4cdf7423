import { z } from 'zod';
import { listAccounts } from '../../../mail/store/account.ts';
import { listDomains } from '../../../mail/store/domain.ts';
import { queueDepth } from '../../../mail/store/queue.ts';
import { version } from '../../version.ts';
import { operation } from '../operation.ts';

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
  output: z.looseObject({ version: z.string(), pid: z.number() }),
  async run({ store, clock, startedAt, settings, baseUrl, ports, failing }) {
    const [domains, accounts, queue] = await Promise.all([
      store.read(listDomains, undefined),
      store.read(listAccounts, undefined),
      store.read(queueDepth, undefined),
    ]);
    return {
      version: version(),
      mode: settings.live ? 'live' : 'local',
      hostname: settings.hostname,
      baseUrl: baseUrl(),
      startedAt,
      listen: settings.listen,
      listeners: ports(),
      failing: failing(),
      pid: process.pid,
      uptimeSeconds: Math.round((clock() - startedAt) / 1000),
      memoryBytes: process.memoryUsage.rss(),
      domains: domains.length,
      mailboxes: accounts.length,
      queue,
    };
  },
});

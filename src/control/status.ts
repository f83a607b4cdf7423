import { listAccounts } from '../../mail/store/account.ts';
import { listDomains } from '../../mail/store/domain.ts';
import { queueDepth } from '../../mail/store/queue.ts';
import { type ApplianceFacts, operation } from './operation.ts';

export interface Status extends ApplianceFacts {
  pid: number;
  uptimeSeconds: number;
  memoryBytes: number;
  domains: number;
  mailboxes: number;
  queue: { due: number; held: number };
}

export const status = operation({
  name: 'get_status',
  input: () => ({}),
  async run({ store, clock, facts }): Promise<Status> {
    const [about, domains, accounts, queue] = await Promise.all([
      facts(),
      store.read(listDomains, undefined),
      store.read(listAccounts, undefined),
      store.read(queueDepth, undefined),
    ]);
    return {
      ...about,
      pid: process.pid,
      uptimeSeconds: Math.round((clock() - about.startedAt) / 1000),
      memoryBytes: process.memoryUsage.rss(),
      domains: domains.length,
      mailboxes: accounts.length,
      queue,
    };
  },
});

import { StoredCredentials } from '../../src/accounts/stored-credentials.ts';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { loadSettings } from '../../config/load.ts';
import { createResolver } from '../../mail/dns/resolver.ts';
import { KeyedSemaphore } from '../../mail/limits/keyed-semaphore.ts';
import { quiet } from '../../mail/log.ts';
import { createLogins } from '../../mail/login/logins.ts';
import { MemoryBudget } from '../../mail/limits/memory-budget.ts';
import { Throttle } from '../../mail/login/throttle.ts';
import { SecretBox } from '../../mail/store/blob/secrets.ts';
import { addBan } from '../../mail/store/limit/ban.ts';
import type { Command } from '../../mail/store/engine/types.ts';
import { Agents } from '../../src/agents/agents.ts';
import { signCms } from '../../src/client-setup/cms.ts';
import { DomainPublisher } from '../../src/dns-providers/publisher.ts';
import { SigningKeys } from '../../src/domains/domains.ts';
import { HttpLimits } from '../../src/http/rate-limits.ts';
import { RecentLog } from '../../src/core/recent-log.ts';
import { openMetrics } from '../../src/core/metrics.ts';
import type { AppContext } from '../../src/core/app-context.ts';
import { seedOperator } from '../../src/organizations/commands.ts';
import { TextReader } from '../../src/reading/worker/text-reader.ts';
import { PdfReader } from '../../src/reading/pdf/read-pdf.ts';
import { ServiceSupervisor } from '../../src/services/runner.ts';
import { storeParts } from '../../src/start/store-parts.ts';
import { LastUsed } from '../../src/tokens/last-used.ts';
import { TransferRunner } from '../../src/transfers/transfers.ts';
import { WaitRegistry } from '../../src/waiting/wait-registry.ts';
import { testCertificate } from './certificate.ts';
import { testGuard } from './guard.ts';
import { testStore, type TestStore } from './store.ts';

/** A context whose parts are the product's own classes. */
export interface TestContext extends AppContext {
  readonly keys: SigningKeys;
  readonly waits: WaitRegistry;
  readonly runner: ServiceSupervisor;
}

export interface TestWorld extends AsyncDisposable {
  world: TestContext;
  store: TestStore;
  /** The key of its {@link SecretBox}. */
  secretKey: Buffer;
  /** Events that operations report to the rest of the appliance. */
  events: string[];
}

/**
 * A world for operations, on a store of its own that writes on the calling thread, in local mode, with the operator's
 * organization. `over` replaces parts of it. `from`: a world that it is a copy of, as after a restart.
 */
export async function testWorld(
  over: Partial<TestContext> = {},
  more: readonly Command<never, unknown>[] = [],
  from?: { dataDir: string; key: Buffer },
): Promise<TestWorld> {
  const parts = storeParts();
  const store = await testStore({ ...parts, commands: [...parts.commands, ...more] }, from?.dataDir);
  const settings = loadSettings(
    {
      MAILSTEAD_DATA_DIR: store.dataDir,
      MAILSTEAD_BACKUP_TARGET: join(store.dataDir, 'backups'),
      MAILSTEAD_BACKUP_EVERY: 'off',
    },
    [],
  );
  if ('problem' in settings) throw new Error(settings.problem);
  const events: string[] = [];
  const clock = (): number => store.clock.now;
  const secretKey = from?.key ?? randomBytes(32);
  const secrets = new SecretBox(secretKey);
  if (from === undefined) await store.store.write(seedOperator, { name: 'Local' });
  const lastUsed = new LastUsed(store.store);
  const baseUrl = (): string => 'http://127.0.0.1:8080';
  const ports = (): Record<string, number> => ({ smtp: 2525, submissions: 2465, imaps: 2993 });
  const runner = new ServiceSupervisor({ store: store.store, secrets, settings, log: quiet, baseUrl, ports });
  const pdfs = new PdfReader();
  const texts = new TextReader({ log: quiet });
  const agents = new Agents({
    store: store.store,
    clock,
    meter: quiet,
    log: quiet,
    secrets,
    pdfs,
    prefix: settings.tokenPrefix,
  });
  const { cert, key } = await testCertificate('mail.test');
  const metrics = openMetrics();
  const transfers = new TransferRunner(
    {
      store: store.store,
      secrets,
      settings,
      clock,
      resolver: createResolver({ servers: ['127.0.0.1:9'] }),
      log: quiet,
      metrics,
    },
    4,
  );
  const waits = new WaitRegistry({ store: store.store, secrets, log: quiet, metrics, clock });
  const throttle = new Throttle();
  const guard = testGuard({}, { clock, saveBan: (offender) => store.store.write(addBan, offender) });
  const world: TestContext = {
    store: store.store,
    secrets,
    settings,
    log: quiet,
    recentLog: new RecentLog(),
    metrics,
    clock,
    resolver: createResolver({ servers: ['127.0.0.1:9'] }),
    lookNow: createResolver({ servers: ['127.0.0.1:9'], cache: false, timeoutMs: 200, tries: 1 }),
    parents: () => Promise.resolve(undefined),
    dnsPublisher: new DomainPublisher({
      store: store.store,
      secrets,
      settings,
      lookNow: over.lookNow ?? createResolver({ servers: ['127.0.0.1:9'], cache: false, timeoutMs: 200, tries: 1 }),
      metrics,
      clock,
      transport: () => Promise.reject(new Error('no provider in this world')),
      sleep: () => Promise.resolve(),
    }),
    keys: new SigningKeys({ store: store.store, secrets }, clock),
    lastUsed,
    logins: createLogins({
      credentials: new StoredCredentials(store.store),
      throttle,
      guard,
      clock,
      secret: Buffer.alloc(32, 1),
      local: true,
      exempt: () => true,
      log: quiet,
      meter: quiet,
    }),
    throttle,
    guard,
    limits: new HttpLimits(() => false, testGuard()),
    hold: null,
    agents,
    policy: agents.policy,
    baseUrl,
    ports,
    pdfs,
    inFlight: new KeyedSemaphore({ proposal: Infinity }),
    texts,
    memory: new MemoryBudget(Infinity),
    waits,
    transfers,
    backups: { running: undefined, start: () => true },
    runner,
    certificate: () => ({ pem: cert, selfSigned: true }),
    signDocument: (document) => signCms(document, { cert, key }, clock()),
    startedAt: clock() - 60_000,
    failing: () => [],
    revoked: (account, credentials) => events.push(`revoked ${account} ${credentials?.join() ?? 'all'}`),
    catalogue: async () => (await import('../../src/operations/catalogue.ts')).CATALOGUE,
    queueChanged: () => events.push('queue changed'),
    refusedLogins: () => [],
    ...over,
  };
  return {
    world,
    store,
    secretKey,
    events,
    async [Symbol.asyncDispose]() {
      waits[Symbol.dispose]();
      await transfers[Symbol.asyncDispose]();
      await texts[Symbol.asyncDispose]();
      await runner[Symbol.asyncDispose]();
      await lastUsed[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

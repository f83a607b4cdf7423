import { expect } from 'vitest';
import { OPERATOR } from '../../mail/store/account/account.ts';
import { query } from '../../mail/store/engine/types.ts';
import { operatorCaller } from '../../src/core/caller.ts';
import { DomainPublisher, type PublisherContext } from '../../src/dns-providers/publisher.ts';
import type { ProviderTransport } from '../../src/dns-providers/transport.ts';
import { findOperation } from '../../src/operations/catalogue.ts';
import { perform } from '../../src/operations/perform.ts';
import { fakeResolver, type FakeZone } from './fake-resolver.ts';
import { type TestContext, testWorld } from './world.ts';

/** A world with one domain, whose records are published over a transport of the test. */
export interface PublishingBox extends AsyncDisposable {
  world: TestContext;
  publisher: DomainPublisher;
  /** Waits that providers demanded, ms. */
  waits: number[];
  /** Calls an operation about the domain as the operator; throws the sentence of a refusal. */
  do(operation: string, args?: object): Promise<Record<string, unknown>>;
  /** Stored octets of the sealed credentials, as text. */
  sealed(): Promise<string>;
}

interface PublishingBoxOptions {
  transport?: ProviderTransport;
  settings?: Partial<PublisherContext['settings']>;
  clock?: () => number;
  /** Waits that providers demand; by default they are only noted. */
  sleep?: PublisherContext['sleep'];
  tlsa?: NonNullable<PublisherContext['tlsa']>;
  /** Left out: {@link PUBLIC_DNS}. */
  dns?: FakeZone;
}

/** The server has an address, and the newsletter service of the tests an SPF record. */
export const PUBLIC_DNS: FakeZone = {
  'A mail.box.test': ['198.51.100.25'],
  'TXT _spf.news.example': ['v=spf1 ip4:203.0.113.0/24 -all'],
};

const sealedCredentials = query('sealed-credentials', (rx) =>
  rx.all<{ sealed: Uint8Array }>('SELECT sealed FROM dns_provider'),
);

export async function publishingBox(domain: string, options: PublishingBoxOptions = {}): Promise<PublishingBox> {
  const { transport = () => Promise.reject(new Error('no HTTP here')) } = options;
  const test = await testWorld();
  const settings = { ...test.world.settings, hostname: 'mail.box.test', ...options.settings };
  const waits: number[] = [];
  const sleep = options.sleep ?? (async (ms: number): Promise<void> => void waits.push(ms));
  const clock = options.clock ?? test.world.clock;
  const lookNow = fakeResolver(options.dns ?? PUBLIC_DNS);
  const publisher = new DomainPublisher({
    ...test.world,
    lookNow,
    settings,
    clock,
    transport,
    sleep,
    ...(options.tlsa && { tlsa: options.tlsa }),
  });
  const world: TestContext = { ...test.world, settings, dnsPublisher: publisher };
  const run = async (operation: string, args: object): Promise<Record<string, unknown>> => {
    const found = findOperation(operation) ?? expect.fail(operation);
    const outcome = await perform(world, found, operatorCaller(OPERATOR), args);
    if (outcome.kind === 'refused') throw new Error(outcome.refusal.message);
    return outcome.result;
  };
  await run('add_email_domain', { domain });
  return {
    world,
    publisher,
    waits,
    do: (operation, args = {}) => run(operation, { domain, ...args }),
    sealed: async () => {
      const rows = await world.store.read(sealedCredentials, undefined);
      return rows.map(({ sealed }) => Buffer.from(sealed).toString('latin1')).join('\n');
    },
    [Symbol.asyncDispose]: () => test[Symbol.asyncDispose](),
  };
}

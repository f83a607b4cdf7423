import { expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { recordCheck } from '../../../src/domains/commands.ts';
import { publishedKeys } from '../../../src/domains/queries.ts';
import { providerPublisher } from '../../../src/dns-providers/challenge-publisher.ts';
import { paccDigestText } from '../../../src/client-setup/pacc.ts';
import { unnotifiedDrifts, recordDriftNotice } from '../../../src/domains/drift-commands.ts';
import { dnsDriftNotices } from '../../../src/dns-providers/notice-source.ts';
import { DnsSync } from '../../../src/dns-providers/sync.ts';
import type { Lookup } from '../../../mail/dns/lookup.ts';
import { addDomain, domainsOf } from '../../../mail/store/address/domain.ts';
import { ChallengeAnswers } from '../../../src/acme/challenge-answers.ts';
import { challengeSolver } from '../../../src/certificates/solver.ts';
import { FAKE_ZONE, json } from '../../support/dns-apis/fake-dns-api.ts';
import { fakeHetzner } from '../../support/dns-apis/set-apis.ts';
import { fakeResolver } from '../../support/fake-resolver.ts';
import { publishingBox } from '../../support/publishing-box.ts';

const DAY = 24 * 3_600_000;

/** A published and verified domain, with the job that keeps its records. */
async function published() {
  const api = fakeHetzner();
  const time = { now: 0 };
  let requests = 0;
  const failures: ReturnType<typeof json>[] = [];
  /** Changes that the provider accepts. */
  const budget = { changes: Infinity };
  const box = await publishingBox(FAKE_ZONE, {
    clock: () => time.now,
    transport: async (request) => {
      requests += 1;
      if (request.method !== 'GET' && budget.changes-- <= 0) return json({ message: 'down' }, 500);
      return failures.shift() ?? api.answer(request);
    },
  });
  const { store, secrets } = box.world;
  time.now = box.world.clock();
  await box.do('connect_dns_provider', { provider: 'hetzner', credentials: api.credentials });
  const sync = new DnsSync({ store, secrets, publisher: box.publisher, clock: () => time.now, log: quiet });
  const [domain] = await store.read(domainsOf, { tenant: 1 });
  const id = domain?.id ?? expect.fail();
  const seen = async (selectors: string[]): Promise<void> => {
    await store.write(recordCheck, { id, verdict: 'pass', checks: '{}', seen: selectors });
  };
  const selectors = (): string[] =>
    api.zone.records.flatMap(({ name }) => /^(ms\d)\._domainkey/.exec(name)?.[1] ?? []).toSorted();
  return { api, box, sync, time, id, seen, selectors, failures, budget, requests: () => requests };
}

test('nothing is written before a person published', async () => {
  const { api, box, sync } = await published();
  await using _box = box;
  await sync.run();
  expect(api.zone.records).toEqual([]);
});

test('a provider that does not answer holds up no other domain', async () => {
  const connections = Array.from({ length: 20 }, (_, id) => ({ id, name: `d${id}`, verified: false, publishedAt: 1 }));
  const [started, release] = [new Set<number>(), Promise.withResolvers<void>()];
  const sync = new DnsSync({
    store: { read: () => Promise.resolve(connections) },
    publisher: {
      neededText: () => Promise.resolve(''),
      publish: async ({ id }: { id: number }) => {
        started.add(id);
        if (id === 0) await release.promise;
        return { kind: 'not-connected' };
      },
    },
    clock: () => 1,
    log: quiet,
  } as never);
  const done = sync.run();
  await expect.poll(() => started.size).toBe(20);
  release.resolve();
  await done;
});

test('old DKIM keys get successors, and mail verifies throughout', async () => {
  const { box, sync, time, id, seen, selectors } = await published();
  await using _box = box;
  await box.do('publish_dns_records');
  await seen(['ms1', 'ms2']);
  await sync.run();
  expect(selectors()).toEqual(['ms1', 'ms2']);
  time.now += 181 * DAY;
  await sync.run();
  // Both are published; the old ones sign until the new ones were seen.
  expect(selectors()).toEqual(['ms1', 'ms2', 'ms3', 'ms4']);
  const states = async (): Promise<string[]> =>
    (await box.world.store.read(publishedKeys, { domain: id })).map(({ selector, state }) => `${selector} ${state}`);
  expect(await states()).toEqual(['ms1 signs', 'ms2 signs', 'ms3 waits', 'ms4 waits']);
  await sync.run();
  expect(await states()).toHaveLength(4);
  await seen(['ms1', 'ms2', 'ms3', 'ms4']);
  expect(await states()).toEqual(['ms1 retired', 'ms2 retired', 'ms3 signs', 'ms4 signs']);
  await sync.run();
  expect(selectors()).toEqual(['ms1', 'ms2', 'ms3', 'ms4']);
});

test('a record that disappears is reported once and not written again; a person publishes it', async () => {
  const { api, box, sync, time } = await published();
  await using _box = box;
  const { store } = box.world;
  await box.do('publish_dns_records');
  await sync.run();
  expect(await store.read(unnotifiedDrifts, undefined)).toEqual([]);
  api.zone.records = api.zone.records.filter(({ type }) => type !== 'MX');
  time.now += 31 * 60_000;
  await sync.run();
  expect(api.zone.records.some(({ type }) => type === 'MX')).toBe(false);
  const [drift] = await store.read(unnotifiedDrifts, undefined);
  expect(drift).toMatchObject({ name: FAKE_ZONE, records: [`MX ${FAKE_ZONE} 10 mail.box.test`] });
  const source = dnsDriftNotices({ ...box.world, baseUrl: () => '' });
  const made = (drift && (await source.compose(drift))) ?? expect.fail();
  expect(await source.mark(drift ?? expect.fail(), made)).toEqual({ domain: FAKE_ZONE, records: 1 });
  expect(await store.read(unnotifiedDrifts, undefined)).toEqual([]);
  const again = { domain: drift?.domain ?? 0, records: drift?.records ?? [], notices: [] };
  expect(await store.write(recordDriftNotice, again)).toBe(false);
  await box.do('publish_dns_records');
  expect(api.zone.records.some(({ type }) => type === 'MX')).toBe(true);
});

test('the digest that an upgrade brings is published by itself, follows the URL, and causes no letter', async () => {
  const { api, box, sync } = await published();
  await using _box = box;
  await box.do('publish_dns_records');
  const digests = () => api.zone.records.flatMap(({ name, data }) => (name.startsWith('_ua-auto') ? [data] : []));
  expect(digests()).toEqual([]);
  for (const baseUrl of ['https://mail.box.test', 'https://portal.box.test', 'https://mail.box.test']) {
    Object.assign(box.world.settings, { baseUrl });
    await sync.run();
    expect(digests()).toEqual([`"${paccDigestText(FAKE_ZONE, { hostname: 'mail.box.test', baseUrl })}"`]);
  }
  expect(await box.world.store.read(unnotifiedDrifts, undefined)).toEqual([]);
});

test('a DMARC policy that a person sets is published, there and back', async () => {
  const { api, box, sync } = await published();
  await using _box = box;
  await box.do('publish_dns_records');
  await sync.run();
  for (const policy of ['reject', 'none']) {
    await box.do('set_dmarc_policy', { policy });
    await sync.run();
    const texts = api.zone.records.filter(({ name }) => name.startsWith('_dmarc.')).map(({ data }) => data);
    expect(texts).toEqual([expect.stringContaining(`p=${policy};`)]);
  }
  expect(await box.world.store.read(unnotifiedDrifts, undefined)).toEqual([]);
});

test('a publication that is cut half-way is finished by the next one, and nothing counts as lost', async () => {
  const { api, box, sync, time, budget, seen } = await published();
  await using _box = box;
  await box.do('publish_dns_records');
  await seen(['ms1', 'ms2']);
  await box.do('set_mta_sts', { mode: 'testing' });
  await box.do('set_dmarc_policy', { policy: 'quarantine' });
  budget.changes = 1;
  await sync.run();
  budget.changes = Infinity;
  const changed = (): string[] =>
    api.zone.records.flatMap(({ name, data }) =>
      name.startsWith('_mta-sts') ? [name] : data.includes('p=quarantine') ? ['policy'] : [],
    );
  expect(changed()).toHaveLength(1);
  time.now += 11 * 60_000;
  await sync.run();
  expect(await box.world.store.read(unnotifiedDrifts, undefined)).toEqual([]);
  expect(changed()).toHaveLength(2);
  // A confirmed record counts as lost again.
  api.zone.records = api.zone.records.filter(({ name }) => !name.startsWith('_mta-sts'));
  time.now += 31 * 60_000;
  await sync.run();
  expect((await box.world.store.read(unnotifiedDrifts, undefined))[0]?.records).toHaveLength(1);
});

test('a change by others is a drift too', async () => {
  const { api, box, sync, time } = await published();
  await using _box = box;
  await box.do('publish_dns_records');
  const dmarc = api.zone.records.find(({ name }) => name.startsWith('_dmarc.')) ?? expect.fail();
  const before = dmarc.data.replaceAll('"', '');
  dmarc.data = '"v=DMARC1; p=reject"';
  time.now += 31 * 60_000;
  await sync.run();
  const [drift] = await box.world.store.read(unnotifiedDrifts, undefined);
  expect(drift?.records).toEqual([`TXT _dmarc.${FAKE_ZONE} ${before}`]);
  expect(dmarc.data).toBe('"v=DMARC1; p=reject"');
});

test('the provider is asked each half hour, or when the records change, and later after a failure', async () => {
  const { box, sync, time, failures, requests, seen } = await published();
  await using _box = box;
  await box.do('publish_dns_records');
  await seen(['ms1', 'ms2']);
  await sync.run();
  const before = requests();
  await sync.run();
  expect(requests()).toBe(before);
  await box.do('set_mta_sts', { mode: 'testing' });
  await sync.run();
  const after = requests();
  expect(after).toBeGreaterThan(before);
  failures.push(json({ message: 'down' }, 500));
  time.now += 31 * 60_000;
  await sync.run();
  expect(requests()).toBe(after + 1);
  await sync.run();
  expect(requests()).toBe(after + 1);
  time.now += 11 * 60_000;
  await sync.run();
  expect(requests()).toBeGreaterThan(after + 1);
});

test('a challenge is answered at the provider beside other texts, in connected domains only', async () => {
  const { api, box, seen } = await published();
  await using _box = box;
  const looks: string[] = [];
  const name = `_acme-challenge.mail.${FAKE_ZONE}`;
  const publisher = providerPublisher({
    store: box.world.store,
    publisher: box.publisher,
    textsAtServers: async (zone) => {
      looks.push(zone);
      // The second server of the zone is slower.
      return looks.length === 1 ? [['value'], []] : [['value'], ['value', 'other']];
    },
    sleep: async () => undefined,
    log: quiet,
  });
  expect(await publisher.serves(name, `mail.${FAKE_ZONE}`)).toBe(false);
  await box.do('publish_dns_records');
  await seen(['ms1', 'ms2']);
  expect(await publisher.serves(name, `mail.${FAKE_ZONE}`)).toBe(true);
  expect(await publisher.serves(`_acme-challenge.not${FAKE_ZONE}`, `not${FAKE_ZONE}`)).toBe(false);
  api.zone.add(name, 'TXT', 3600, '"foreign"');
  const before = api.zone.lines();
  await publisher.publishTxt(name, 'value');
  await publisher.publishTxt(name, 'value');
  expect(looks).toEqual([FAKE_ZONE, FAKE_ZONE, FAKE_ZONE]);
  expect(api.zone.records.filter((one) => one.name === name).map(({ data }) => data)).toEqual(['"foreign"', '"value"']);
  await publisher.removeTxt(name, 'value');
  await publisher.removeTxt(name, 'value');
  expect(api.zone.lines()).toEqual(before);
});

test('an alias of one organization does not lead a challenge into the zone of another', async () => {
  const { box, seen } = await published();
  await using _box = box;
  const { store } = box.world;
  await box.do('publish_dns_records');
  await seen(['ms1', 'ms2']);
  await store.write(addDomain, { tenant: 1, name: 'own.test', verified: true });
  await store.write(addDomain, { tenant: 7, name: 'evil.test', verified: true });
  await store.write(addDomain, { tenant: 7, name: `evil.${FAKE_ZONE}`, verified: true });
  const publisher = providerPublisher({
    store,
    publisher: box.publisher,
    textsAtServers: () => Promise.resolve(undefined),
    sleep: async () => undefined,
    log: quiet,
  });
  const alias: Lookup<string> = { kind: 'found', records: [`www.${FAKE_ZONE}`] };
  const resolver = { ...fakeResolver({}), cname: () => Promise.resolve(alias) };
  const solver = challengeSolver(
    {
      ...box.world,
      resolver,
      answers: new ChallengeAnswers(),
      publishers: [publisher],
      only: 'dns-01',
      http: false,
      https: false,
    },
    () => 0,
  );
  const chosen = (name: string) => solver.choose(name, ['dns-01']);
  expect(await chosen('mail.own.test')).toBe('dns-01');
  expect(await chosen(`mail.${FAKE_ZONE}`)).toBe('dns-01');
  // The name of this server is in no hosted domain: it is the operator's.
  expect(await chosen('mail.box.test')).toBe('dns-01');
  expect(await chosen('mail.evil.test')).toBeUndefined();
  expect(await chosen(`mail.evil.${FAKE_ZONE}`)).toBeUndefined();
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import { quiet } from '../../mail/log.ts';
import { verifyDomain } from '../../mail/store/address/domain.ts';
import { ownStsPolicy } from '../../src/domains/sts-queries.ts';
import { StsStart } from '../../src/domains/sts-start.ts';
import { addEmailDomain } from '../../src/operations/domains/add.ts';
import { setStsMode } from '../../src/domains/sts-commands.ts';
import { setStsWalk } from '../../src/reports/policy-commands.ts';
import { type Calls, calls } from '../support/calls.ts';
import { fakeResolver, type FakeZone } from '../support/fake-resolver.ts';

const NAME = 'shop.example';
const HOST = 'mail.box.test';

let box: Calls;
let domain: number;
let zone: FakeZone;
let now: number;

beforeEach(async () => {
  box = await calls();
  const owner = await box.organization('Shop');
  const added = await box.done<{ domain: { id: string } }>(owner, addEmailDomain, { domain: NAME });
  domain = Number(added.domain.id.slice(4));
  await box.world.store.write(verifyDomain, { id: domain });
  zone = { [`MX ${NAME}`]: [`10 ${HOST}`] };
  now = box.world.clock();
});
afterEach(() => box[Symbol.asyncDispose]());

const connect = () =>
  box.run(`INSERT INTO dns_provider (domain_id, provider, zone, ref, sealed, connected_at, published_at)
    VALUES (${domain}, 'hetzner', '${NAME}', '', x'00', 1, 1)`);

const certify = (...names: string[]) =>
  box.run(`INSERT INTO certificate (name, algorithm, names, chain, spki, not_before, not_after, issued_at, renew_at, window_at)
    VALUES ('${names[0] ?? ''}', 'ecdsa', '${JSON.stringify(names)}', '', '', 0, 0, 0, 0, 0)`);

let job: StsStart | undefined;
async function modeAfterRun(): Promise<string | undefined> {
  const { store, settings } = box.world;
  const acme = { email: 'a@box.test', directory: 'https://acme.test/', challenge: 'auto', rsa: false } as const;
  job ??= new StsStart({
    store,
    settings: { ...settings, live: true, hostname: HOST, acme },
    clock: () => now,
    log: quiet,
    lookNow: fakeResolver(zone),
  });
  await job.run();
  return (await store.read(ownStsPolicy, { domain }))?.mode;
}
afterEach(() => (job = undefined));

test('testing begins once the records are published by a provider and the policy host has its certificate', async () => {
  await certify(HOST);
  expect(await modeAfterRun()).toBeUndefined();
  await connect();
  expect(await modeAfterRun()).toBeUndefined();
  await certify(`mta-sts.${NAME}`);
  expect(await modeAfterRun()).toBe('testing');
});

test('records published by hand begin nothing: nobody would publish the policy', async () => {
  await certify(HOST, `mta-sts.${NAME}`);
  expect(await modeAfterRun()).toBeUndefined();
});

test('another MX beside this server begins nothing, until it is gone and an hour has passed', async () => {
  await connect();
  await certify(HOST, `mta-sts.${NAME}`);
  zone[`MX ${NAME}`] = [`10 ${HOST}`, '20 mx.other.example'];
  expect(await modeAfterRun()).toBeUndefined();
  zone[`MX ${NAME}`] = [`10 ${HOST}`];
  expect(await modeAfterRun()).toBeUndefined();
  now += 3_600_000;
  expect(await modeAfterRun()).toBe('testing');
});

test('a person decides: none stays none, and what was turned off does not begin', async () => {
  await connect();
  await certify(HOST, `mta-sts.${NAME}`);
  await box.world.store.write(setStsWalk, { domain, on: false });
  expect(await modeAfterRun()).toBeUndefined();
  await box.world.store.write(setStsWalk, { domain, on: true });
  await box.world.store.write(setStsMode, { domain, mode: 'none' });
  expect(await modeAfterRun()).toBe('none');
});

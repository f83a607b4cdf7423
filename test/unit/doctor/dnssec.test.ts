import { afterEach, beforeEach, expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { verifyDomain } from '../../../mail/store/address/domain.ts';
import { lookUpDs } from '../../../mail/dns/ds-lookup.ts';
import type { HealthCheck } from '../../../src/doctor/health-check.ts';
import { type DoctorContext, runAllChecks } from '../../../src/doctor/run-doctor.ts';
import { dsTextOf } from '../../../src/domains/zone-keys.ts';
import { addEmailDomain } from '../../../src/operations/domains/add.ts';
import { calls, type Calls } from '../../support/calls.ts';
import { type DnsServer, dnsServer } from '../../support/dns-server.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';

const HOST = 'mail.box.example';
const KEYS = `dkim.${HOST}`;
const LED = 'led.example';

let box: Calls;
let dns: FakeZone;
/** The resolver that is asked for DS records. */
let server: DnsServer;

beforeEach(async () => {
  dns = { [`A ${HOST}`]: ['192.0.2.10'], [`NS ${LED}`]: [HOST] };
  server = await dnsServer({});
  const [host = '', port = ''] = server.address.split(':');
  const resolver = fakeResolver(dns);
  const settings = {
    live: true,
    hostname: HOST,
    acme: undefined,
    ports: { dns: 53 } as never,
    resolvers: [{ host, port: Number(port) }],
  };
  box = await calls({ lookNow: resolver, resolver, settings });
  const owner = await box.organization('Owner');
  for (const domain of [LED, 'other.example']) {
    const added = await box.done<{ domain: { id: string } }>(owner, addEmailDomain, { domain });
    await box.world.store.write(verifyDomain, { id: Number(added.domain.id.slice(4)) });
  }
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await box[Symbol.asyncDispose]();
});

/** Lines about DNSSEC. */
async function lines(): Promise<HealthCheck[]> {
  const context = { ...box.world, log: quiet, ports: () => ({}) } as unknown as DoctorContext;
  const { checks } = await runAllChecks(context);
  return checks.filter(({ name }) => name.endsWith(': dnssec'));
}
const brief = (all: readonly HealthCheck[]): string[] => all.map(({ name, status }) => `${name} ${status}`).toSorted();

test('the doctor compares the DS records of the zones that are served here, and of no others', async () => {
  expect(brief(await lines())).toEqual([`${LED}: dnssec ok`]);
  dns[`NS ${KEYS}`] = [HOST];
  server.zone[`DS ${KEYS}`] = [dsTextOf(box.world.secrets, KEYS)];
  server.zone[`DS ${LED}`] = [dsTextOf(box.world.secrets, 'another.example')];
  expect(brief(await lines())).toEqual([`${KEYS}: dnssec ok`, `${LED}: dnssec failed`]);
  server.zone[`DS ${LED}`] = 'SERVFAIL';
  expect(brief(await lines())).toEqual([`${KEYS}: dnssec ok`, `${LED}: dnssec unknown`]);
});

test('DS records are read as they are, and nothing is made of none', async () => {
  const [ip = '', port = ''] = server.address.split(':');
  const at = [{ ip, port: Number(port) }];
  server.zone['DS a.test'] = [`258 13 2 ${'ab'.repeat(32)}`];
  const digest = Buffer.alloc(32, 0xab);
  const records = [{ keyTag: 258, algorithm: 13, digestType: 2, digest }];
  expect(await lookUpDs(at, 'A.test.')).toMatchObject({ kind: 'found', records });
  expect(await lookUpDs(at, 'b.test')).toMatchObject({ kind: 'none', nx: true });
  server.zone['DS c.test'] = 'REFUSED';
  expect(await lookUpDs(at, 'c.test')).toMatchObject({ kind: 'trouble' });
});

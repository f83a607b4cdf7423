import { afterAll, describe, expect, test } from 'vitest';
import { checkSpf } from '../../../mail/auth/spf.ts';
import { createResolver } from '../../../mail/dns/resolver.ts';
import { dnsServer } from '../../support/dns-server.ts';
import { spfSuite, suiteZone } from '../../support/spf-suite.ts';

const server = await dnsServer({});
afterAll(() => server[Symbol.asyncDispose]());
/** Waits of a busy machine, not of the test: the server answers at once. */
const PATIENT = { timeoutMs: 20_000, tries: 1 };

/** The OpenSPF suite through the product's own resolver and a name server. */
describe.each(spfSuite())('$description', (scenario) => {
  test.each(Object.entries(scenario.tests))('%s', async (_name, { helo, host, mailfrom, result }) => {
    server.zone = suiteZone(scenario);
    const resolver = createResolver({ servers: [server.address], cache: false, ...PATIENT });
    const found = await checkSpf({ ip: host, helo, sender: mailfrom }, resolver);
    expect(found.result).toBe(result[0]);
  });
});

import { describe, expect, test } from 'vitest';
import { checkSpf } from '../../../mail/auth/spf.ts';
import { spfSuite, suiteResolver } from '../../support/spf-suite.ts';

/**
 * The OpenSPF suite for RFC 7208: the one result that it prefers, in every case. What it says of explanations is not
 * asked: we do not fetch them.
 */
describe.each(spfSuite())('$description', (scenario) => {
  test.each(Object.entries(scenario.tests))('%s', async (_name, { helo, host, mailfrom, result }) => {
    const resolver = suiteResolver(scenario);
    const found = await checkSpf({ ip: host, helo, sender: mailfrom }, resolver);
    expect(found.result).toBe(result[0]);
  });
});

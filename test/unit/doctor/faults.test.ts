import { describe, expect, test } from 'vitest';
import type { DsRecord } from '../../../mail/dns/ds-lookup.ts';
import type { Lookup } from '../../../mail/dns/lookup.ts';
import { isHealthy } from '../../../src/doctor/health-check.ts';
import { impactOf } from '../../../src/doctor/impact.ts';
import type { HostDane } from '../../../src/certificates/dane.ts';
import { delegationText } from '../../../src/name-server/dnssec/zone-key.ts';
import { diagnosed, HOST, SHOP_KEY } from '../../support/doctor-world.ts';
import { MACHINE_FAULTS } from '../../support/machine-faults.ts';
import { NETWORK_FAULTS } from '../../support/network-faults.ts';
import { SETTINGS_FAULTS } from '../../support/settings-faults.ts';

const FAULTS = [...MACHINE_FAULTS, ...NETWORK_FAULTS, ...SETTINGS_FAULTS];

describe('the doctor', () => {
  test('finds nothing on a server of which everything is right', async () => {
    const checks = await diagnosed({});
    expect(checks.filter(({ status }) => status !== 'ok')).toEqual([]);
    expect(isHealthy(checks)).toBe(true);
  });

  test('has at least 60 faults to find', () => expect(FAULTS.length).toBeGreaterThanOrEqual(60));

  test.each(FAULTS)('says what is wrong: %s', async (_fault, injected, lines, sentence) => {
    const found = (await diagnosed(injected)).filter(({ status }) => status !== 'ok');
    expect(found.map(({ name, status }) => `${name} ${status}`).sort()).toEqual(lines.toSorted());
    const first = found.find(({ name, status }) => `${name} ${status}` === lines[0]);
    if (sentence !== '') expect(first?.why).toBe(sentence);
    for (const { name, status, why, fix } of found) {
      expect(why, name).toMatch(/^[A-Z0-9a-z].+/);
      expect(fix, `${name} ${status}: what to do`).toMatch(/^[A-Z].*\.$/s);
      expect(impactOf(name), `${name}: why it matters`).not.toBe(impactOf('no such check'));
    }
  });

  test('says of each check why it matters', async () => {
    const checks = await diagnosed({ unverified: ['new.example'], peer: 'mx.far.example' });
    for (const { name } of checks) expect(impactOf(name), name).not.toBe(impactOf('no such check'));
  });

  test.each<[HostDane, string]>([
    [{ kind: 'unsigned' }, `The zone of ${HOST} is not signed (DNSSEC), so that senders cannot use DANE.`],
    [{ kind: 'untrusted' }, `It is unknown if the zone of ${HOST} is signed (DNSSEC)`],
  ])('says clearly why there is no DANE: %o', async (dane, sentence) => {
    const line = (await diagnosed({ dane })).find(({ name }) => name === 'DANE');
    expect(line).toMatchObject({ status: 'ok', why: expect.stringContaining(sentence) as string });
  });

  test('shows the DS record that the zone above needs, and accepts the right one', async () => {
    const line = async (ds: Lookup<DsRecord>) =>
      (await diagnosed({ ds })).find(({ name }) => name === 'shop.example: dnssec');
    const wanted = `"shop.example. DS ${delegationText(SHOP_KEY.delegationSigner)}"`;
    expect(await line({ kind: 'none', nx: false })).toMatchObject({
      status: 'ok',
      why: expect.stringContaining(`publish ${wanted} there.`) as string,
    });
    const other = { ...SHOP_KEY.delegationSigner, keyTag: 1 };
    const records = [other, SHOP_KEY.delegationSigner];
    expect(await line({ kind: 'found', records })).toMatchObject({ status: 'ok', fix: '' });
    expect(await line({ kind: 'found', records: [other] })).toMatchObject({
      status: 'failed',
      fix: `Replace it by ${wanted} at the registrar, or remove it there.`,
    });
  });

  test('asks nobody in local mode', async () => {
    const checks = await diagnosed({ settings: { live: false }, facts: { live: false }, dead: true });
    expect(checks.filter(({ status }) => status === 'failed')).toEqual([]);
    expect(checks.map(({ name }) => name)).not.toContain('resolver');
  });
});

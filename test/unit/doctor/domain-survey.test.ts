import { expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { addDomain } from '../../../mail/store/address/domain.ts';
import { surveyCheck, surveyDomains, withoutPassedDomains } from '../../../src/doctor/domain-survey.ts';
import type { HealthCheck } from '../../../src/doctor/health-check.ts';
import { type DoctorContext, runAllChecks } from '../../../src/doctor/run-doctor.ts';
import { diagnosed, HOST, NOW } from '../../support/doctor-world.ts';
import { fakeResolver } from '../../support/fake-resolver.ts';
import { testWorld } from '../../support/world.ts';

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `d${i}.example`);
const line = (checks: readonly HealthCheck[], name: string) => checks.find((one) => one.name === name);

test('the doctor checks all 35 domains of a server, and says so', async () => {
  await using made = await testWorld();
  const { store, settings } = made.world;
  for (const name of names(35)) await store.write(addDomain, { tenant: 1, name, verified: true });
  const resolver = fakeResolver({});
  const context = {
    ...made.world,
    log: quiet,
    settings: { ...settings, live: true, hostname: 'mail.box.test', acme: undefined },
    lookNow: resolver,
    ports: () => ({}),
    failing: () => [],
    refusedLogins: () => [],
  } as unknown as DoctorContext;
  const { checks } = await runAllChecks(context);
  expect(names(35).filter((name) => line(checks, `${name}: mx`)?.status !== 'failed')).toEqual([]);
  expect(line(checks, 'domains')).toMatchObject({ status: 'ok', why: 'The DNS of all 35 domains was checked.' });
  // The addresses of the server are looked up once for all, and by three checks of the server itself.
  expect(resolver.queried.filter((one) => one === 'A mail.box.test').length).toBeLessThanOrEqual(4);
});

test('the own name of the server is no domain of the survey', async () => {
  const lines = await diagnosed({ domains: [HOST, 'shop.example'] });
  expect(lines.filter(({ name }) => name.startsWith(`${HOST}: `))).toEqual([]);
  expect(lines.some(({ name }) => name === 'shop.example: mx')).toBe(true);
});

test('what the time does not suffice for is first in the next run, and keeps its last lines until then', async () => {
  const domains = names(35);
  const failing = { 'MX d34.example': ['10 mx.old.example'] };
  const seen = new Set<string>();
  let previous: HealthCheck[] = [];
  for (let run = 0; run < 5; run++) {
    const facts = { now: NOW + run * 60_000 };
    const checks = await diagnosed({ domains, previous, surveyMs: 0, zone: failing, facts });
    const fresh = checks.filter(({ checkedAt }) => checkedAt === facts.now);
    const checked = new Set(fresh.map(({ name }) => name.split(': ')[0] ?? ''));
    expect(checked.size).toBe(8);
    // Lines of earlier runs are still there.
    for (const name of checked) seen.add(name);
    expect(domains.filter((name) => line(checks, `${name}: mx`) !== undefined)).toHaveLength(seen.size);
    const said = line(checks, 'domains');
    expect(said?.why).toContain('The DNS of 8 of 35 domains was checked now. 27 are due by ');
    expect(said?.status).toBe(run < 4 ? 'unknown' : 'ok');
    previous = checks;
  }
  expect([...seen].toSorted()).toEqual(domains.toSorted());
  expect(line(previous, 'd34.example: mx')).toMatchObject({
    status: 'failed',
    why: `Mail for d34.example goes to mx.old.example, not to this server.`,
  });
});

test.each([
  // A run of 8 seconds, then hourly ones of 30 minutes.
  [{ total: 35, checked: 20, never: 0 }, 8000, 1],
  [{ total: 10_000, checked: 8, never: 0 }, 8000, 6],
  [{ total: 3500, checked: 1000, never: 0 }, 1_800_000, 3],
  [{ total: 35, checked: 8, never: 27 }, 0, 1],
])('of %o after %i ms the others are due in %i hours', (survey, forMs, hours) => {
  const { why } = surveyCheck({ ...survey, lines: [] }, { now: NOW, forMs, hourlyMs: 1_800_000 });
  const rest = survey.total - survey.checked;
  const due = new Date(NOW + hours * 3_600_000).toISOString();
  expect(why).toContain(`${survey.checked} of ${survey.total} domains was checked now. ${rest} are due by ${due}`);
});

test('a run that people wait for begins with the domains that failed', async () => {
  const order: string[] = [];
  const before = (name: string, status: 'ok' | 'failed', checkedAt: number): HealthCheck => ({
    name: `${name}: mx`,
    status,
    why: '',
    fix: '',
    checkedAt,
  });
  const previous = [before('a.example', 'ok', 1), before('b.example', 'failed', 9), before('c.example', 'ok', 5)];
  const survey = (failedFirst: boolean) =>
    surveyDomains({
      domains: ['c.example', 'b.example', 'a.example', 'new.example'],
      previous,
      check: async (name) => {
        order.push(name);
        return [];
      },
      clock: () => 10,
      forMs: 1000,
      failedFirst,
    });
  await survey(true);
  expect(order.splice(0)).toEqual(['b.example', 'new.example', 'a.example', 'c.example']);
  await survey(false);
  expect(order).toEqual(['new.example', 'a.example', 'c.example', 'b.example']);
});

test('no more than eight domains are looked up at the same time, and a stop is followed', async () => {
  let [now, most, count] = [0, 0, 0];
  const stop = new AbortController();
  const check = async (): Promise<HealthCheck[]> => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setImmediate(resolve));
    now--;
    if (++count === 100) stop.abort();
    return [];
  };
  const input = { domains: names(1000), previous: [], check, clock: () => 1, forMs: 60_000, failedFirst: false };
  expect(await surveyDomains({ ...input, stop: stop.signal })).toMatchObject({ total: 1000, checked: 107 });
  expect(most).toBe(8);
});

test('one domain whose check cannot run does not hide the others', async () => {
  const checks = await diagnosed({ domains: ['shop.example', 'broken.example'], brokenDomain: 'broken.example' });
  expect(line(checks, 'broken.example: checks')).toMatchObject({
    status: 'unknown',
    why: 'The check could not run: the store is busy.',
  });
  expect(line(checks, 'shop.example: mx')?.status).toBe('ok');
});

test('of many domains only what did not pass is shown; of unverified ones twenty by name', async () => {
  const domains = names(21);
  const zone = Object.fromEntries(domains.map((name) => [`MX ${name}`, [`10 ${HOST}`]]));
  const checks = await diagnosed({ domains, zone, unverified: names(30).map((name) => `new-${name}`) });
  const shown = withoutPassedDomains(checks);
  expect(shown.filter(({ name }) => name.endsWith(': mx'))).toEqual([]);
  expect(shown.filter(({ name }) => name.endsWith(': dkim'))).toHaveLength(21);
  expect(shown.filter(({ name }) => name.endsWith(': verification'))).toHaveLength(20);
  expect(line(shown, 'verification')?.why).toBe('10 more domains are not verified.');
  expect(withoutPassedDomains(await diagnosed({ domains: names(20), zone }))).toContainEqual(
    expect.objectContaining({ name: 'd19.example: mx', status: 'ok' }),
  );
});

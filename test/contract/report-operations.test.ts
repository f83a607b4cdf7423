import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifyDomain } from '../../mail/store/address/domain.ts';
import type { DmarcSum, ReportContent, TlsSum } from '../../mail/reports/report-types.ts';
import type { Caller } from '../../src/core/caller.ts';
import { setStsMode } from '../../src/domains/sts-commands.ts';
import { hostedStsPolicy } from '../../src/domains/sts-queries.ts';
import { StsWalk } from '../../src/domains/sts-walk.ts';
import { Notifier } from '../../src/notices/notifier.ts';
import { getDeliverability } from '../../src/operations/deliverability/deliverability.ts';
import { getDmarcReport } from '../../src/operations/deliverability/dmarc-report.ts';
import { getTlsReport } from '../../src/operations/deliverability/tls-report.ts';
import { addEmailDomain } from '../../src/operations/domains/add.ts';
import { setDmarcPolicyOf } from '../../src/operations/domains/dmarc-policy.ts';
import { listDnsRecords } from '../../src/operations/domains/dns.ts';
import { setMtaSts } from '../../src/operations/domains/mta-sts.ts';
import { recordReport, storeReport } from '../../src/reports/commands.ts';
import { failingSourceNotices } from '../../src/reports/notice-source.ts';
import { reporterDomains } from '../../src/reports/reporter.ts';
import { nextReport } from '../../src/reports/queries.ts';
import { type Calls, calls } from '../support/calls.ts';

const DAY_MS = 24 * 3_600_000;
const NAME = 'shop.example';

let box: Calls;
let owner: Caller;
let domain: number;

beforeEach(async () => {
  box = await calls();
  owner = await box.organization('Shop');
  const added = await box.done<{ domain: { id: string } }>(owner, addEmailDomain, { domain: NAME });
  domain = Number(added.domain.id.slice(4));
  await box.world.store.write(verifyDomain, { id: domain });
  // Servers of the reporter took mail from here.
  await box.run(`INSERT INTO delivery_peer (name, day) VALUES ('example.reporter', 99999)`);
});
afterEach(() => box[Symbol.asyncDispose]());

let number = 0;

/** Records a report that began some days ago. */
async function report(
  daysAgo: number,
  kind: 'dmarc' | 'tls',
  sums: readonly object[],
  verified = 'reporter.example',
  organization = 'Reporter',
) {
  const { store } = box.world;
  const trace = `report-${++number}`;
  const begin = box.world.clock() - daysAgo * DAY_MS;
  const facts = { organization, reportId: trace, domain: NAME, begin, end: begin, policy: 'none' };
  await store.write(storeReport, { domain, trace, verified, parts: '[]', octets: new Uint8Array(1) });
  const waiting = await store.read(nextReport, { now: box.world.clock() });
  const content = { kind, sums, ...facts } as ReportContent;
  expect(
    await store.write(recordReport, { id: waiting?.id ?? 0, content, reporter: reporterDomains(verified, content) }),
  ).toBe('recorded');
}

const mail = (over: Partial<DmarcSum> = {}): DmarcSum => ({
  source: '192.0.2.1',
  headerFrom: NAME,
  spf: true,
  dkim: true,
  disposition: 'none',
  override: '',
  spfDomain: NAME,
  dkimDomain: NAME,
  messages: 100,
  ...over,
});
const sessions = (over: Partial<TlsSum> = {}): TlsSum => ({
  policyType: 'sts',
  result: 'success',
  mx: 'mx.box.test',
  source: '',
  sessions: 10,
  ...over,
});

test('get_dmarc_report has sums by source and day, what to mend, and the reporters apart as untrusted', async () => {
  await report(2, 'dmarc', [mail(), mail({ source: '203.0.113.9', spf: false, dkim: false, messages: 50 })]);
  await report(1, 'dmarc', [mail({ messages: 7 })], '');
  await report(40, 'dmarc', [mail({ messages: 1000 })]);
  expect(await box.done(owner, getDmarcReport, { domain: NAME })).toMatchObject({
    messages: 157,
    passed: 107,
    passRate: 68.2,
    unsigned: 7,
    days: [{ total: 150, passed: 100 }, { total: 7 }],
    sources: [
      { ip: '192.0.2.1', messages: 107, passed: 107 },
      { ip: '203.0.113.9', messages: 50, passed: 0 },
    ],
    sentences: [expect.stringMatching(/^Mail from 203\.0\.113\.9 \(50 messages\) fails SPF and DKIM/)],
    advice: { next: null },
    untrusted: {
      reporters: [
        { organization: 'Reporter', signedBy: 'reporter.example', reports: 1 },
        { signedBy: '', reports: 1 },
      ],
    },
  });
});

test('get_tls_report and get_deliverability have sums and sentences', async () => {
  await report(1, 'tls', [sessions(), sessions({ result: 'certificate-expired', sessions: 2 })]);
  expect(await box.done(owner, getTlsReport, { domain: NAME })).toMatchObject({
    sessions: 12,
    succeeded: 10,
    mtaSts: null,
    advice: { next: 'testing' },
    sentences: ['2 sessions failed: the certificate had expired: renew it.'],
    results: [{ result: 'success', sessions: 10, untrusted: { mx: 'mx.box.test' } }, { result: 'certificate-expired' }],
  });
  expect(await box.done(owner, getDeliverability, { domain: NAME })).toMatchObject({
    dmarc: { total: 0, rate: null, reports: 0 },
    tls: { total: 12, passed: 10, reports: 1 },
    problems: ['2 sessions failed: the certificate had expired: renew it.'],
    advice: [expect.stringMatching(/^Keep none for now/), expect.stringMatching(/^Begin testing/)],
  });
});

test('another organization sees no report', async () => {
  await report(1, 'dmarc', [mail()]);
  const other = await box.organization('Other');
  for (const operation of [getDmarcReport, getTlsReport, getDeliverability]) {
    expect(await box.refused(other, operation, { domain: NAME })).toMatchObject({ error: 'not_found' });
  }
});

test('the DMARC policy is in the records of the domain', async () => {
  expect(await box.done(owner, setDmarcPolicyOf, { domain: NAME, policy: 'reject' })).toMatchObject({
    record: { name: `_dmarc.${NAME}`, value: `v=DMARC1; p=reject; rua=mailto:mailstead-reports@${NAME}` },
  });
  const { records } = await box.done<{ records: { purpose: string; value: string }[] }>(owner, listDnsRecords, {
    domain: NAME,
  });
  expect(records.find(({ purpose }) => purpose === 'dmarc')?.value).toContain('p=reject');
});

describe('an MTA-STS policy in testing', () => {
  const mode = async () => (await box.world.store.read(hostedStsPolicy, { name: NAME }))?.mode;
  const walk = () => new StsWalk({ ...box.world, selfSigned: () => false }).run();

  beforeEach(async () => {
    await box.world.store.write(setStsMode, { domain, mode: 'testing' });
    box.test.store.clock.now += 15 * DAY_MS;
  });

  const cleanDays = async (verified?: string, organization?: string) => {
    for (let day = 1; day <= 5; day++) await report(day, 'tls', [sessions()], verified, organization);
  };

  test('is enforced after clean signed reports of five days', async () => {
    await walk();
    expect(await mode()).toBe('testing');
    await cleanDays();
    await walk();
    expect(await mode()).toBe('enforce');
  });

  test('stays with a failure', async () => {
    await cleanDays();
    await report(3, 'tls', [sessions({ result: 'validation-failure', sessions: 1 })]);
    await walk();
    expect(await mode()).toBe('testing');
  });

  test('stays if nobody signed the reports', async () => {
    await cleanDays('');
    await walk();
    expect(await mode()).toBe('testing');
  });

  test.each([
    ['by a domain that takes no mail from here', 'evil.example', 'Reporter'],
    ['by a neighbor of the reporter', 'reporter.co.example', 'Reporter'],
    ['by another organization than they name', 'mail.reporter.example', 'google.com'],
  ])('stays if they are signed %s', async (_, verified, organization) => {
    await cleanDays(verified, organization);
    await walk();
    expect(await mode()).toBe('testing');
  });

  test('is enforced by reports of a part of the organization that they name', async () => {
    await cleanDays('mail.reporter.example', 'reporter.example');
    await walk();
    expect(await mode()).toBe('enforce');
  });

  test('stays if the reporter took no mail for two months', async () => {
    const day = Math.floor(box.world.clock() / DAY_MS) - 61;
    await box.run('UPDATE delivery_peer SET day = ?', day);
    await cleanDays();
    await walk();
    expect(await mode()).toBe('testing');
  });

  test('stays where that is turned off', async () => {
    await cleanDays();
    await box.done(owner, setMtaSts, { domain: NAME, mode: 'testing', automatic: false });
    await walk();
    expect(await mode()).toBe('testing');
    await box.done(owner, setMtaSts, { domain: NAME, mode: 'testing', automatic: true });
    await walk();
    expect(await mode()).toBe('enforce');
  });
});

test('owners are notified once of a new failing source with much mail in signed reports', async () => {
  await box.run(
    `INSERT INTO user (id, email, email_key, created_at, address_verified_at) VALUES (77, 'ann@far.example', 'ann@far.example', 0, 1)`,
  );
  await box.run(
    `INSERT INTO member (organization_id, user_id, role, created_at) VALUES (?, 77, 'owner', 0)`,
    owner.organization ?? 0,
  );
  const queued = async () => (await box.rows(`SELECT recipient FROM queue WHERE recipient = 'ann@far.example'`)).length;
  const notify = () =>
    new Notifier({
      sources: [failingSourceNotices(box.world)],
      queued: () => undefined,
      log: box.world.log,
      metrics: box.world.metrics,
    }).run();
  const failing = (over: Partial<DmarcSum> = {}) => mail({ spf: false, dkim: false, source: '203.0.113.9', ...over });
  await report(1, 'dmarc', [failing()], '');
  await report(1, 'dmarc', [failing({ messages: 99 })]);
  await report(1, 'dmarc', [failing({ override: 'mailing_list' })]);
  await notify();
  expect(await queued()).toBe(0);
  await report(1, 'dmarc', [failing({ messages: 1 })]);
  await notify();
  await notify();
  expect(await queued()).toBe(1);
  await report(1, 'dmarc', [failing({ source: '203.0.113.10' })]);
  await notify();
  expect(await queued()).toBe(1);
  box.test.store.clock.now += DAY_MS + 1000;
  await notify();
  expect(await queued()).toBe(2);
});

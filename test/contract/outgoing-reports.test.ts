import { gunzipSync } from 'node:zlib';
import { XMLValidator } from 'fast-xml-parser';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DmarcCounter } from '../../mail/jobs/dmarc-counter.ts';
import { quiet } from '../../mail/log.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { readReportMessage } from '../../mail/reports/read-report.ts';
import type { ReportContent } from '../../mail/reports/report-types.ts';
import { addDomain } from '../../mail/store/address/domain.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { type DmarcResult, purgeDmarcResults } from '../../mail/store/filter/dmarc-result.ts';
import { noteTlsResults, type TlsResult } from '../../mail/store/queue/tls-result.ts';
import { purgeSentReports } from '../../mail/store/queue/sent-report.ts';
import { ReportSender } from '../../src/reports/report-sender.ts';
import { fakeResolver, type FakeZone } from '../support/fake-resolver.ts';
import { Random } from '../support/random.ts';
import { testWorld, type TestWorld } from '../support/world.ts';

const DAY_MS = 24 * 3600_000;
const DAY = Date.UTC(2026, 0, 5);
const NOON = 12 * 3600_000;
const note = command('test-note-tls', (tx, results: readonly TlsResult[], stamp) => noteTlsResults(tx, results, stamp));

let box: TestWorld;
let zone: FakeZone;

beforeEach(async () => {
  box = await testWorld({}, [note]);
  zone = {
    'TXT _dmarc.remote.example': ['v=DMARC1; p=quarantine; sp=reject; aspf=s; rua=mailto:dmarc@remote.example'],
    'TXT _smtp._tls.remote.example': ['v=TLSRPTv1; rua=mailto:tls@remote.example'],
  };
  box.store.clock.now = DAY + NOON;
});
afterEach(() => box[Symbol.asyncDispose]());

const passing: DmarcResult = {
  domain: 'remote.example',
  source: '203.0.113.9',
  headerFrom: 'remote.example',
  envelopeFrom: 'remote.example',
  spf: true,
  dkim: true,
  disposition: 'pass',
  reason: '',
  auth: {
    spf: { domain: 'remote.example', result: 'pass' },
    dkim: [{ domain: 'remote.example', selector: 's1', result: 'pass' }],
  },
};
const session: TlsResult = {
  domain: 'remote.example',
  type: 'sts',
  strings: ['version: STSv1', 'mode: enforce', 'mx: mx.remote.example', 'max_age: 86400'],
  result: 'success',
  mx: 'mx.remote.example',
  ip: '203.0.113.25',
  from: '198.51.100.1',
};

async function count(...results: DmarcResult[]): Promise<void> {
  await using counter = new DmarcCounter(box.world.store, () => box.store.clock.now);
  for (const one of results) counter.count(one);
}

/** Runs the job once. Returns how often it woke the relay. */
async function send(now = DAY + 2 * DAY_MS - 1000): Promise<number> {
  box.store.clock.now = now;
  const resolver = fakeResolver(zone);
  let woken = 0;
  const queued = (): void => void woken++;
  await new ReportSender({ ...box.world, resolver, lookNow: resolver, hold: null, log: quiet, queued }).run();
  return woken;
}

interface QueuedReport {
  sender: string;
  recipient: string;
  octets: Buffer;
}

const queuedReports = query('test-queued-reports', (rx) =>
  rx.all<{ sender: string; recipient: string; data: Uint8Array }>(
    `SELECT s.sender, q.recipient, b.data FROM queue q JOIN submission s ON s.id = q.submission_id
     JOIN blob b ON b.id = s.blob_id ORDER BY q.recipient`,
  ),
);

/** Messages in the queue, by recipient. */
async function queued(): Promise<QueuedReport[]> {
  const rows = await box.world.store.read(queuedReports, undefined);
  return rows.map(({ data, ...one }) => ({ ...one, octets: Buffer.from(data) }));
}

/** Reads a report as this server reads those of others. */
function reading({ octets }: QueuedReport): ReportContent {
  return readReportMessage({ octets, parts: indexMessage(octets).parts });
}

function unpacked({ octets }: QueuedReport): string {
  const [, encoded = ''] = /filename="[^"]+"\r\n\r\n([^-]+)\r\n--/.exec(octets.toString('latin1')) ?? [];
  return gunzipSync(Buffer.from(encoded, 'base64')).toString();
}

describe('an aggregate report', () => {
  test('has the results of the day, from no sender, once', async () => {
    const failing: DmarcResult = {
      ...passing,
      source: '2001:db8::9',
      spf: false,
      dkim: false,
      disposition: 'quarantine',
    };
    await count(passing, passing, { ...failing, headerFrom: 'news.remote.example' });
    expect(await send()).toBe(1);
    expect(await send()).toBe(0);
    const [report, ...more] = await queued();
    if (report === undefined) expect.fail('no report');
    expect(more).toEqual([]);
    expect(report).toMatchObject({ sender: '', recipient: 'dmarc@remote.example' });
    const content = reading(report);
    expect(content).toMatchObject({
      kind: 'dmarc',
      domain: 'remote.example',
      organization: 'box.test',
      policy: 'quarantine',
      begin: DAY,
      end: DAY + DAY_MS - 1000,
    });
    expect(content.kind === 'dmarc' && content.sums).toEqual([
      expect.objectContaining({
        source: '203.0.113.9',
        headerFrom: 'remote.example',
        spf: true,
        dkim: true,
        messages: 2,
      }),
      expect.objectContaining({ source: '2001:db8::9', headerFrom: 'news.remote.example', disposition: 'quarantine' }),
    ]);
    expect(report.octets.toString()).toContain('Auto-Submitted: auto-generated');
    expect(report.octets.toString().replace(/\r\n /g, ' ')).toMatch(
      /^Subject: Report Domain: remote\.example Submitter: box\.test Report-ID: <2026-01-05\.dmarc\.remote\.example@box\.test>\r$/m,
    );
  });

  test('has the elements of RFC 9990 in their order', async () => {
    await count(passing, { ...passing, disposition: 'none', reason: 'local_policy', dkim: false, auth: { dkim: [] } });
    await send();
    const [report] = await queued();
    if (report === undefined) expect.fail('no report');
    const xml = unpacked(report);
    expect(XMLValidator.validate(xml)).toBe(true);
    const order = [...xml.matchAll(/<([a-z_]+)[ >]/g)].map(([, name]) => name);
    const row = 'record row source_ip count policy_evaluated disposition dkim spf';
    const identifiers = 'identifiers header_from envelope_from auth_results';
    expect(order.join(' ').split(/ (?=record)/)).toEqual([
      'feedback version report_metadata org_name email report_id date_range begin end generator ' +
        'policy_published domain p sp aspf discovery_method testing',
      `${row} reason type ${identifiers}`,
      `${row} ${identifiers} dkim domain selector result spf domain scope result`,
    ]);
    expect(xml).toContain('<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0">');
  });

  test('of a busy day adds up to what was counted', async () => {
    const random = new Random(7);
    const results = Array.from({ length: 3000 }, (): DmarcResult => {
      const aligned = random.chance(0.6);
      const source = `203.0.113.${random.below(200)}`;
      return { ...passing, source, spf: aligned, dkim: false, disposition: aligned ? 'pass' : 'none' };
    });
    await count(...results);
    await send();
    const [report] = await queued();
    const content = report && reading(report);
    if (content?.kind !== 'dmarc') expect.fail('no report');
    const bySource = new Map<string, number>();
    for (const { source, spf } of results)
      bySource.set(`${source} ${spf}`, (bySource.get(`${source} ${spf}`) ?? 0) + 1);
    expect(new Map(content.sums.map((one) => [`${one.source} ${one.spf}`, one.messages]))).toEqual(bySource);
  });

  test.each([
    ['another organization that does not accept it', 'mailto:us@reports.example', {}, []],
    [
      'another organization that accepts it',
      'mailto:us@reports.example',
      { 'TXT remote.example._report._dmarc.reports.example': ['v=DMARC1'] },
      ['us@reports.example'],
    ],
    [
      'the address that this organization prefers',
      'mailto:us@reports.example',
      { 'TXT remote.example._report._dmarc.reports.example': ['v=DMARC1; rua=mailto:bulk@reports.example'] },
      ['bulk@reports.example'],
    ],
    [
      'no other host that this organization names',
      'mailto:us@reports.example',
      { 'TXT remote.example._report._dmarc.reports.example': ['v=DMARC1; rua=mailto:you@victim.example'] },
      ['us@reports.example'],
    ],
    [
      'two addresses in one message',
      'mailto:a@remote.example,mailto:b@remote.example',
      {},
      ['a@remote.example', 'b@remote.example'],
    ],
    ['an address with room for it', 'mailto:a@remote.example!1k,mailto:b@remote.example!1m', {}, ['b@remote.example']],
    [
      'no address that does not exist as one',
      'https://remote.example/,mailto:nonsense,mailto:a%40remote.example',
      {},
      ['a@remote.example'],
    ],
  ])('goes to %s', async (_, rua, more, expected) => {
    zone = { ...zone, ...more, 'TXT _dmarc.remote.example': [`v=DMARC1; p=none; rua=${rua}`] };
    const selector = (n: number): string => `${'s'.repeat(40)}${n}${Math.imul(n, 2654435761).toString(36)}`;
    const all = Array.from({ length: 40 }, (__, n) => ({
      ...passing,
      auth: { dkim: [{ domain: 'remote.example', selector: selector(n), result: 'pass' }] },
    }));
    await count(...all);
    await send();
    expect((await queued()).map(({ recipient }) => recipient)).toEqual(expected);
  });

  test('about a domain of this server is not sent', async () => {
    await box.world.store.write(addDomain, { tenant: 1, name: 'remote.example', verified: true });
    await count(passing);
    expect(await send()).toBe(0);
  });

  test('waits for the DNS, and is given up after two days', async () => {
    zone['TXT _dmarc.remote.example'] = 'trouble';
    await count(passing);
    expect(await send()).toBe(0);
    zone['TXT _dmarc.remote.example'] = ['v=DMARC1; p=none; rua=mailto:dmarc@remote.example'];
    expect(await send()).toBe(1);
    zone['TXT _dmarc.remote.example'] = 'trouble';
    box.store.clock.now = DAY + 10 * DAY_MS;
    await count(passing);
    expect(await send(DAY + 13 * DAY_MS + NOON)).toBe(0);
    zone['TXT _dmarc.remote.example'] = ['v=DMARC1; p=none; rua=mailto:dmarc@remote.example'];
    expect(await send(DAY + 13 * DAY_MS + NOON)).toBe(0);
  });
});

describe('a TLS report', () => {
  test('has the sessions of the day, in the form of RFC 8460', async () => {
    const { ip, ...failed } = { ...session, result: 'certificate-expired' as const };
    await box.world.store.write(note, [session, session, { ...failed, ip }]);
    expect(await send()).toBe(1);
    const [report] = await queued();
    if (report === undefined) expect.fail('no report');
    expect(report).toMatchObject({ sender: '', recipient: 'tls@remote.example' });
    expect(reading(report)).toMatchObject({
      kind: 'tls',
      domain: 'remote.example',
      organization: 'box.test',
      begin: DAY,
      sums: [
        { policyType: 'sts', result: 'success', sessions: 2 },
        {
          policyType: 'sts',
          result: 'certificate-expired',
          mx: 'mx.remote.example',
          source: '198.51.100.1',
          sessions: 1,
        },
      ],
    });
    expect(report.octets.toString()).toMatch(/^TLS-Required: No\r$/m);
    expect(report.octets.toString()).toMatch(/^TLS-Report-Domain: remote\.example\r$/m);
    expect(report.octets.toString().replace(/\r\n /g, ' ')).toMatch(
      /^Content-Type: multipart\/report; report-type="tlsrpt"; boundary=/m,
    );
    expect(JSON.parse(unpacked(report))).toEqual({
      'organization-name': 'box.test',
      'date-range': { 'start-datetime': '2026-01-05T00:00:00Z', 'end-datetime': '2026-01-05T23:59:59Z' },
      'contact-info': 'postmaster@box.test',
      'report-id': '2026-01-05.tls.remote.example@box.test',
      policies: [
        {
          policy: {
            'policy-type': 'sts',
            'policy-string': session.strings,
            'policy-domain': 'remote.example',
            'mx-host': ['mx.remote.example'],
          },
          summary: { 'total-successful-session-count': 2, 'total-failure-session-count': 1 },
          'failure-details': [
            {
              'result-type': 'certificate-expired',
              'sending-mta-ip': '198.51.100.1',
              'receiving-mx-hostname': 'mx.remote.example',
              'receiving-ip': '203.0.113.25',
              'failed-session-count': 1,
            },
          ],
        },
      ],
    });
  });

  test.each([
    ['no record', []],
    ['two records', ['v=TLSRPTv1; rua=mailto:a@remote.example', 'v=TLSRPTv1; rua=mailto:b@remote.example']],
    ['another version', ['v=TLSRPTv2; rua=mailto:a@remote.example']],
    ['no address', ['v=TLSRPTv1']],
  ])('is not sent to a domain with %s', async (_, records) => {
    zone['TXT _smtp._tls.remote.example'] = records;
    await box.world.store.write(note, [session]);
    expect(await send()).toBe(0);
  });
});

test('an unexpected error at one domain does not stop the reports to the others', async () => {
  zone['TXT _dmarc.second.example'] = ['v=DMARC1; p=none; rua=mailto:dmarc@second.example'];
  const of = (domain: string): DmarcResult => ({ ...passing, domain, headerFrom: domain });
  await count(of('remote.example'), of('second.example'));
  const resolver = fakeResolver(zone);
  const broken = {
    ...resolver,
    txt: (name: string) => (name === '_dmarc.remote.example' ? fails() : resolver.txt(name)),
  };
  const fails = (): never => {
    throw new Error('a defect');
  };
  box.store.clock.now = DAY + 2 * DAY_MS - 1000;
  const sender = new ReportSender({
    ...box.world,
    resolver: broken,
    lookNow: broken,
    hold: null,
    log: quiet,
    queued: () => {},
  });
  await sender.run();
  expect((await queued()).map(({ recipient }) => recipient)).toEqual(['dmarc@second.example']);
});

test('each domain has its own time of the day, within 20 hours', async () => {
  const names = Array.from({ length: 40 }, (_, n) => `d${n}.example`);
  for (const name of names) zone[`TXT _dmarc.${name}`] = [`v=DMARC1; p=none; rua=mailto:r@${name}`];
  await count(...names.map((domain) => ({ ...passing, domain })));
  const sent: number[] = [];
  for (let hour = 0; hour <= 20; hour += 5) {
    await send(DAY + DAY_MS + hour * 3600_000);
    sent.push((await queued()).length);
  }
  expect(sent[0]).toBe(0);
  for (let at = 1; at < sent.length; at++) expect(sent[at]).toBeGreaterThan(sent[at - 1] ?? 0);
  expect(sent.at(-1)).toBe(40);
});

test('counts are kept for two weeks', async () => {
  await count(passing);
  await send();
  const { store } = box.world;
  const rows = query('test-count-rows', async (rx) => [
    await rx.get<{ n: number }>('SELECT count(*) AS n FROM dmarc_result'),
    await rx.get<{ n: number }>('SELECT count(*) AS n FROM sent_report'),
  ]);
  const purge = async (now: number): Promise<(number | undefined)[]> => {
    box.store.clock.now = now;
    await store.write(purgeDmarcResults, undefined);
    await store.write(purgeSentReports, undefined);
    return (await store.read(rows, undefined)).map((row) => row?.n);
  };
  expect(await purge(DAY + 14 * DAY_MS)).toEqual([1, 1]);
  expect(await purge(DAY + 16 * DAY_MS)).toEqual([0, 0]);
});

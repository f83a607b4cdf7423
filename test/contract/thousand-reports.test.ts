import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyDomain } from '../../mail/store/address/domain.ts';
import type { Caller } from '../../src/core/caller.ts';
import { getDeliverability } from '../../src/operations/deliverability/deliverability.ts';
import { getDmarcReport } from '../../src/operations/deliverability/dmarc-report.ts';
import { getTlsReport } from '../../src/operations/deliverability/tls-report.ts';
import { addEmailDomain } from '../../src/operations/domains/add.ts';
import { dayChart } from '../../src/portal/chart.ts';
import { StoredReports } from '../../src/reports/inbox.ts';
import { nextReport } from '../../src/reports/queries.ts';
import { ReportReader } from '../../src/reports/report-reader.ts';
import { type Calls, calls } from '../support/calls.ts';
import { receiveMessage, testBackend } from '../support/receive-message.ts';
import { type GeneratedReport, ReportGenerator, reportMessage } from '../support/reports.ts';

const REPORTS = 1000;
const DOMAIN = 'shop.example';
const DAY_MS = 24 * 3_600_000;
/** Messages between two runs of the reader: 100 may wait. */
const BATCH = 50;
/** Sources that get_dmarc_report shows. */
const SHOWN = 50;

interface Count {
  total: number;
  passed: number;
}

/** Sums of one kind of report, counted from what the generator made and not from what was read. */
class IndependentCount {
  readonly all: Count = { total: 0, passed: 0 };
  readonly byDay = new Map<number, Count>();
  /** By source, or by result. */
  readonly byKey = new Map<string, Count>();
  reports = 0;

  add({ day, expected }: GeneratedReport): void {
    this.reports += 1;
    for (const [key, { messages, passed }] of expected)
      for (const count of [this.all, at(this.byDay, day), at(this.byKey, key)]) {
        count.total += messages;
        count.passed += passed;
      }
  }

  /** As a chart has them: by date, days without any left out. */
  get days(): (Count & { day: string })[] {
    const days = [...this.byDay].filter(([, { total }]) => total > 0).toSorted(([a], [b]) => a - b);
    return days.map(([day, count]) => ({ day: new Date(day * DAY_MS).toISOString().slice(0, 10), ...count }));
  }
}

function at<K>(map: Map<K, Count>, key: K): Count {
  const there = map.get(key) ?? { total: 0, passed: 0 };
  map.set(key, there);
  return there;
}

const counted = { dmarc: new IndependentCount(), tls: new IndependentCount() };
let sent = 0;
let unreadable = 0;
let box: Calls;
let owner: Caller;

/** Messages to the address that are no reports, one of each kind. */
const RUBBISH = [
  { type: 'application/gzip', name: 'cut.xml.gz', octets: gzipSync('<feedback>').subarray(0, 15) },
  { type: 'text/xml', name: 'other.xml', octets: Buffer.from('<rss><channel/></rss>') },
  { type: 'application/zip', name: 'text.zip', octets: Buffer.from('no archive') },
];

beforeAll(async () => {
  box = await calls();
  owner = await box.organization('Shop');
  const added = await box.done<{ domain: { id: string } }>(owner, addEmailDomain, { domain: DOMAIN });
  await box.world.store.write(verifyDomain, { id: Number(added.domain.id.slice(4)) });
  const backend = testBackend(box.test.store, { reports: new StoredReports(box.world) });
  const reader = new ReportReader(box.world);
  const receive = async (body: string): Promise<void> => {
    const to = `mailstead-reports@${DOMAIN}`;
    expect(await receiveMessage(backend, { from: 'noreply@reporter.example', to, body })).toEqual({ kind: 'accepted' });
    sent += 1;
    if (sent % BATCH === 0) await reader.run();
  };
  const generator = new ReportGenerator(2026, DOMAIN, box.world.clock());
  for (let i = 0; i < REPORTS; i += 1) {
    const report = generator.next();
    counted[report.kind].add(report);
    await receive(report.message);
    // Sent again, as some reporters do: at once, and after others.
    if (i % 10 === 0) await receive(report.message);
    if (i % 100 === 99) for (const part of RUBBISH) await receive(reportMessage(part, DOMAIN, REPORTS + sent));
  }
  unreadable = (REPORTS / 100) * RUBBISH.length;
  await reader.run();
  expect(await box.world.store.read(nextReport, { now: Number.MAX_SAFE_INTEGER })).toBeUndefined();
});
afterAll(() => box[Symbol.asyncDispose]());

test('1,000 reports, with 100 repeated and 30 that are none, make the sums of an independent count', async () => {
  const { dmarc, tls } = counted;
  expect([dmarc.reports + tls.reports, sent]).toEqual([REPORTS, 1130]);
  expect(Math.min(dmarc.reports, tls.reports)).toBeGreaterThan(150);
  expect(await box.done(owner, getDeliverability, { domain: DOMAIN })).toMatchObject({
    dmarc: { ...dmarc.all, reports: dmarc.reports },
    tls: { ...tls.all, reports: tls.reports },
    unreadable,
    failureReports: 0,
  });
});

test('get_dmarc_report has the sums by day and by source', async () => {
  const { all, days, byKey } = counted.dmarc;
  const largest = [...byKey].toSorted(([a, one], [b, two]) => two.total - one.total || (a < b ? -1 : 1));
  const report = await box.done<{ sources: { ip: string; messages: number; passed: number }[] }>(
    owner,
    getDmarcReport,
    { domain: DOMAIN },
  );
  expect(report).toMatchObject({ messages: all.total, passed: all.passed, unsigned: all.total, days });
  expect(report.sources.map(({ ip, messages, passed }) => [ip, { total: messages, passed }])).toEqual(
    largest.slice(0, SHOWN),
  );
});

test('get_tls_report has the sums by day and by result', async () => {
  const { all, days, byKey } = counted.tls;
  const report = await box.done<{ results: { result: string; sessions: number }[] }>(owner, getTlsReport, {
    domain: DOMAIN,
  });
  expect(report).toMatchObject({ sessions: all.total, succeeded: all.passed, days });
  const results = new Map<string, number>();
  for (const { result, sessions } of report.results) results.set(result, (results.get(result) ?? 0) + sessions);
  const expected = [...byKey].map(([result, { total }]): [string, number] => [result, total]);
  expect(Object.fromEntries(results)).toEqual(Object.fromEntries(expected));
});

test('the charts of the page have a bar for each day, with its numbers', async () => {
  const today = new Date(box.world.clock()).toISOString().slice(0, 10);
  for (const [operation, { days }] of [
    [getDmarcReport, counted.dmarc],
    [getTlsReport, counted.tls],
  ] as const) {
    const report = await box.done<{ days: (Count & { day: string })[] }>(owner, operation, { domain: DOMAIN });
    const titles = String(dayChart('Days', report.days, today, 30)).matchAll(/<title>(.*?)<\/title>/g);
    const expected = days.map(({ day, total, passed }) => `${day}: ${passed} passed, ${total - passed} failed`);
    expect(expected.length).toBeGreaterThan(20);
    expect([...titles].map(([, title]) => title)).toEqual(expected);
  }
});

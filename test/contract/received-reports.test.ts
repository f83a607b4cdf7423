import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { UNAVAILABLE_AUTHENTICATION } from '../../mail/auth/authenticate.ts';
import type { ReportContent } from '../../mail/reports/report-types.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { addDomain } from '../../mail/store/address/domain.ts';
import { finishAttempts } from '../../mail/relay/store-queue.ts';
import type { AttemptResult } from '../../mail/store/queue/queue.ts';
import { postponeReport, purgeReports, recordReport, storeReport } from '../../src/reports/commands.ts';
import { StoredReports } from '../../src/reports/inbox.ts';
import { dmarcDays, dmarcSources, nextReport, reporters, tlsDays, tlsSums } from '../../src/reports/queries.ts';
import { ReportReader } from '../../src/reports/report-reader.ts';
import { filteringBy } from '../support/filtering.ts';
import { receiveMessage, testBackend } from '../support/receive-message.ts';
import { type ExpectedSum, ReportGenerator, reportMessage } from '../support/reports.ts';
import { testWorld, type TestWorld } from '../support/world.ts';

const ADDRESS = 'mailstead-reports@shop.example';
const DAY_MS = 24 * 3600_000;

let box: TestWorld;
let domain: number;
let backend: ReturnType<typeof testBackend>;

/** Stores reports about one day, and makes known.example a reporter to which mail was delivered. */
const fillDay = command(
  'test-fill-day',
  async (tx, { domain: of, begin, count }: { domain: number; begin: number; count: number }) => {
    await tx.run(`INSERT INTO delivery_peer (name, day) VALUES ('example.known', 99999) ON CONFLICT DO NOTHING`);
    for (let i = 0; i < count; i++)
      await tx.run(
        `INSERT INTO received_report (domain_id, kind, organization, report_id, verified, begin_at, end_at, received_at,
           policy, count, failed, problem) VALUES (?, 'dmarc', '', ?, '', ?, ?, ?, '', 0, 0, '')`,
        of,
        `${begin}-${i}`,
        begin,
        begin,
        begin,
      );
  },
);
const storedReports = query('test-stored-reports', (rx) =>
  rx.all<{ n: number }>('SELECT count(*) AS n FROM received_report'),
);

beforeEach(async () => {
  box = await testWorld({}, [fillDay]);
  const added = await box.world.store.write(addDomain, { tenant: 0, name: 'shop.example', verified: true });
  if (added.kind === 'taken') throw new Error('taken');
  domain = added.id;
  backend = testBackend(box.store, { reports: new StoredReports(box.world) });
});

afterEach(() => box[Symbol.asyncDispose]());

const receive = (body: string, to = ADDRESS) => receiveMessage(backend, { from: 'noreply@reporter.example', to, body });
const readAll = () => new ReportReader(box.world).run();

function allDays(): { domain: number; since: number; until: number } {
  const today = Math.floor(box.world.clock() / DAY_MS);
  return { domain, since: today - 90, until: today };
}

function xmlOf(about: string, { id = '7', begin = box.world.clock() / 1000 - 86_400, rows = '' } = {}): string {
  return reportMessage(
    {
      type: 'application/gzip',
      name: 'a.xml.gz',
      octets: gzipSync(`<feedback><report_metadata><org_name>r.example</org_name><report_id>${id}</report_id>
        <date_range><begin>${begin}</begin><end>${begin + 86_399}</end></date_range></report_metadata>
        <policy_published><domain>${about}</domain><p>none</p></policy_published>${rows}
        <record><row><source_ip>192.0.2.1</source_ip><count>5</count></row></record></feedback>`),
    },
    'shop.example',
  );
}

test('reports are accepted without a mailbox, read once each, and their sums are those of the reports', async () => {
  const generator = new ReportGenerator(5, 'shop.example', box.world.clock());
  const expected = { dmarc: new Map<string, ExpectedSum>(), tls: new Map<string, ExpectedSum>() };
  for (let i = 0; i < 60; i++) {
    const report = generator.next();
    expect(await receive(report.message)).toEqual({ kind: 'accepted' });
    // Sent again, as some reporters do.
    if (i % 10 === 0) expect(await receive(report.message)).toEqual({ kind: 'accepted' });
    for (const [key, { messages, passed }] of report.expected) {
      const there = expected[report.kind].get(key) ?? { messages: 0, passed: 0 };
      expected[report.kind].set(key, { messages: there.messages + messages, passed: there.passed + passed });
    }
  }
  await readAll();
  const sources = await box.world.store.read(dmarcSources, { ...allDays(), limit: 1000 });
  const seen = sources.map(({ source, messages, passed }) => [source, { messages, passed }]);
  expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(expected.dmarc));
  const results = await box.world.store.read(tlsSums, { ...allDays(), limit: 1000 });
  const sessions = Object.groupBy(results, ({ result }) => result);
  for (const [result, { messages }] of expected.tls) {
    expect(
      sessions[result]?.reduce((sum, one) => sum + one.sessions, 0),
      result,
    ).toBe(messages);
  }
  const days = await box.world.store.read(dmarcDays, allDays());
  const total = [...expected.dmarc.values()].reduce((sum, one) => sum + one.messages, 0);
  expect(days.reduce((sum, one) => sum + one.total, 0)).toBe(total);
  expect(days.reduce((sum, one) => sum + one.signed, 0)).toBe(0);
});

describe('a report counts only', () => {
  const counted = async (): Promise<number> => {
    await readAll();
    const days = await box.world.store.read(dmarcDays, allDays());
    return days.reduce((sum, one) => sum + one.total, 0);
  };
  const problems = async (): Promise<string[]> => {
    const all = await box.world.store.read(reporters, { ...allDays(), limit: 10 });
    return all.map(({ problem }) => problem);
  };

  test('for the domain of the address, and its subdomains', async () => {
    await receive(xmlOf('mail.shop.example'));
    expect(await counted()).toBe(5);
    await receive(xmlOf('other.example', { id: '8' }));
    expect(await counted()).toBe(5);
    expect(await problems()).toContain('it is about other.example, which does not send its reports to this address');
  });

  test('for the organization that has the domain', async () => {
    await box.world.store.write(addDomain, { tenant: 7, name: 'team.shop.example', verified: true });
    await receive(xmlOf('team.shop.example'));
    expect(await counted()).toBe(0);
    expect(await problems()).toEqual(['it is about team.shop.example, which belongs to another organization']);
  });

  test('for a time that may be', async () => {
    await receive(xmlOf('shop.example', { begin: 86_400 }));
    await receive(xmlOf('shop.example', { begin: box.world.clock() / 1000 + 10 * 86_400, id: '8' }));
    expect(await counted()).toBe(0);
  });

  test('once for each signer: a stranger cannot take the id of the report of another', async () => {
    const { parts, octets } = await stored(xmlOf('shop.example'));
    await box.world.store.write(finishAttempts, { ends: [deliveredTo('you@r.example')], bounces: [], fallbacks: [] });
    for (const [trace, verified] of [
      ['a', ''],
      ['b', 'r.example'],
      ['c', 'r.example'],
    ] as const) {
      await box.world.store.write(storeReport, { domain, trace, verified, parts, octets });
    }
    expect(await counted()).toBe(10);
    const [day] = await box.world.store.read(dmarcDays, allDays());
    expect(day).toMatchObject({ total: 10, signed: 5 });
  });
});

/** The result of a delivery. */
function deliveredTo(to: string): AttemptResult {
  const reply = { code: 250, status: '2.0.0', text: 'Ok', tls: 'none' };
  return { id: 1, trace: 't1', to, outcome: 'delivered', host: 'mx.host.example', ip: '', ...reply, at: 1, nextAt: 0 };
}

test.each<[string, string[], string]>([
  ['the author', ['reporter.example'], 'reporter.example'],
  ['the author, beside its provider', ['provider.example', 'mail.reporter.example'], 'mail.reporter.example'],
  ['somebody else', ['evil.example'], ''],
  ['nobody', [], ''],
])('the signature that counts is that of the author: signed by %s', async (_, domains, verified) => {
  const dmarc = {
    result: 'none',
    policy: 'none',
    domain: 'reporter.example',
    organization: '',
    aligned: true,
  } as const;
  const dkim = domains.map((one) => ({ result: 'pass' as const, domain: one, selector: 's' }));
  const filter = filteringBy(() => Promise.resolve({ ...UNAVAILABLE_AUTHENTICATION, dmarc, dkim }));
  backend = testBackend(box.store, { reports: new StoredReports(box.world), filter });
  await receive(xmlOf('shop.example'));
  await readAll();
  const [reporter] = await box.world.store.read(reporters, { ...allDays(), limit: 1 });
  expect(reporter).toMatchObject({ verified });
});

function tlsOf(reportId: string, sessions: number): ReportContent {
  const begin = box.world.clock() - DAY_MS;
  const sums = [{ policyType: 'sts' as const, result: 'success', mx: '', source: '', sessions }];
  return { kind: 'tls', organization: 'r', reportId, domain: 'shop.example', begin, end: begin, sums };
}

/** A report as it is read, with one source. */
function dmarcOf(reportId: string, messages: number): ReportContent {
  const begin = box.world.clock() - DAY_MS;
  const common = { headerFrom: 'shop.example', spf: false, dkim: false, override: '', spfDomain: '', dkimDomain: '' };
  const sums = [{ ...common, source: '192.0.2.1', disposition: 'none' as const, messages }];
  return { kind: 'dmarc', organization: 'r', reportId, domain: 'shop.example', begin, end: begin, policy: '', sums };
}

describe('a hostile report', () => {
  test('with dates between two milliseconds is counted, and those behind it are read', async () => {
    const begin = Math.floor(box.world.clock() / 1000) - 86_400;
    await receive(xmlOf('shop.example', { begin: begin + 0.000_4 }));
    await receive(xmlOf('shop.example', { begin, id: '8' }));
    await readAll();
    const [source] = await box.world.store.read(dmarcSources, { ...allDays(), limit: 9 });
    expect(source?.messages).toBe(10);
  });

  test('that cannot be recorded is given up alone: those behind it are read', async () => {
    for (const id of ['1', '2', '3']) await receive(xmlOf('shop.example', { id }));
    const first = await box.world.store.read(nextReport, { now: box.world.clock() });
    const { store } = box.world;
    const write = store.writeSlice.bind(store) as (what: unknown, input: unknown) => Promise<unknown>;
    vi.spyOn(store, 'writeSlice').mockImplementation(((what: unknown, input: { id: number; content: ReportContent }) =>
      input.id === first?.id && input.content.kind !== 'unreadable'
        ? Promise.reject(new Error('datatype mismatch'))
        : write(what, input)) as never);
    const reader = new ReportReader(box.world);
    await reader.run();
    const messages = async () => (await store.read(dmarcSources, { ...allDays(), limit: 9 }))[0]?.messages;
    expect(await messages()).toBe(10);
    for (let i = 0; i < 6; i++) {
      box.store.clock.now += 10 * 60_000;
      await reader.run();
    }
    expect(await store.read(nextReport, { now: box.world.clock() })).toBeUndefined();
    expect((await store.read(reporters, { ...allDays(), limit: 9 })).map(({ kind }) => kind)).toContain('unreadable');
  });

  test('does not make the sums unreadable, however many there are and whatever they count', async () => {
    const { parts, octets } = await stored(xmlOf('shop.example'));
    // Rows of one report times the highest count of a row.
    const most = 20_000 * 1_000_000_000;
    for (let i = 0; i < 1000; i++) {
      await box.world.store.write(storeReport, { domain, trace: `t${i}`, verified: '', parts, octets });
      const waiting = await box.world.store.read(nextReport, { now: box.world.clock() });
      const content = i % 2 === 0 ? dmarcOf(`${i}`, most) : tlsOf(`${i}`, most);
      expect(await box.world.store.write(recordReport, { id: waiting?.id ?? 0, content, reporter: [] })).toBe(
        'recorded',
      );
    }
    const days = { ...allDays(), limit: 9 };
    for (const what of [dmarcDays, tlsDays, dmarcSources, tlsSums, reporters]) {
      expect((await box.world.store.read(what as typeof dmarcDays, days)).length).toBeGreaterThan(0);
    }
  });
});

async function stored(message: string): Promise<{ parts: string; octets: Uint8Array }> {
  await receive(message);
  const waiting = await box.world.store.read(nextReport, { now: box.world.clock() });
  if (waiting === undefined) throw new Error('nothing is stored');
  await box.world.store.write(recordReport, {
    id: waiting.id,
    content: { kind: 'unreadable', why: 'of a test' },
    reporter: [],
  });
  return waiting;
}

test('strangers store 2000 reports about a day at most, and a known reporter is still recorded', async () => {
  const day = Math.floor(box.world.clock() / DAY_MS) - 1;
  await box.world.store.write(fillDay, { domain, begin: day * DAY_MS, count: 2000 });
  const begin = day * 86_400;
  await receive(xmlOf('shop.example', { id: 'one more', begin }));
  await readAll();
  expect(await box.world.store.read(storedReports, undefined)).toEqual([{ n: 2000 }]);
  await box.world.store.write(fillDay, { domain, begin: (day - 1) * DAY_MS, count: 1999 });
  await receive(xmlOf('shop.example', { id: 'the day before', begin: begin - 86_400 }));
  await readAll();
  expect(await box.world.store.read(storedReports, undefined)).toEqual([{ n: 4000 }]);
  const content = { kind: 'dmarc', organization: 'Known', reportId: 'k', domain: 'shop.example', policy: '' } as const;
  const octets = new Uint8Array(1);
  await box.world.store.write(storeReport, { domain, trace: 'known', verified: 'known.example', parts: '[]', octets });
  const waiting = await box.world.store.read(nextReport, { now: box.world.clock() });
  const report = { ...content, begin: day * DAY_MS, end: day * DAY_MS, sums: [] } as ReportContent;
  const id = waiting?.id ?? 0;
  expect(await box.world.store.write(recordReport, { id, content: report, reporter: ['known.example'] })).toBe(
    'recorded',
  );
});

test('an unverified domain, another address and a mailbox with that address have no report address', async () => {
  await box.world.store.write(addDomain, { tenant: 0, name: 'new.example', verified: false });
  expect(await receive('', 'mailstead-reports@new.example')).toBe('unverified');
  expect(await receive('', 'mailstead-report@shop.example')).toBe('unknown');
  expect(await receive('', 'MailStead-Reports@shop.example')).toEqual({ kind: 'accepted' });
});

test('a report of more than 10 MB is refused, and too many that wait are deferred', async () => {
  const large = reportMessage({ type: 'text/xml', name: 'a', octets: Buffer.alloc(8 * 1024 * 1024) }, 'shop.example');
  expect(await receive(large)).toMatchObject({ kind: 'refused', code: 552 });
  for (let i = 0; i < 100; i++) await receive(`Subject: ${i}\n\nno report\n`);
  expect(await receive('Subject: more\n\nno report\n')).toMatchObject({ kind: 'refused', code: 452 });
  await readAll();
  expect(await receive('Subject: more\n\nno report\n')).toEqual({ kind: 'accepted' });
});

test('a report that cannot be read now is read later, and given up after five times', async () => {
  await receive(xmlOf('shop.example'));
  const waiting = await box.world.store.read(nextReport, { now: box.world.clock() });
  const id = waiting?.id ?? 0;
  for (let i = 0; i < 5; i++) expect(await box.world.store.write(postponeReport, { id })).toBe(true);
  expect(await box.world.store.write(postponeReport, { id })).toBe(false);
  expect(await box.world.store.read(nextReport, { now: box.world.clock() })).toBeUndefined();
  box.store.clock.now += 10 * 60_000;
  await readAll();
  expect((await box.world.store.read(dmarcSources, { ...allDays(), limit: 9 }))[0]?.messages).toBe(5);
});

test('reports and sums are purged after 400 days', async () => {
  await receive(xmlOf('shop.example'));
  await readAll();
  const days = allDays();
  expect(await box.world.store.read(dmarcDays, days)).toHaveLength(1);
  box.store.clock.now += 402 * DAY_MS;
  while (await box.world.store.write(purgeReports, undefined));
  expect(await box.world.store.read(dmarcDays, days)).toHaveLength(0);
  expect(await box.world.store.read(reporters, { ...days, limit: 9 })).toHaveLength(0);
});

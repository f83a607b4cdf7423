import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { readReportMessage } from '../../../mail/reports/read-report.ts';
import type { ReportContent } from '../../../mail/reports/report-types.ts';
import { zipOf } from '../../support/archives.ts';
import { type ExpectedSum, ReportGenerator, reportMessage } from '../../support/reports.ts';

const DOMAIN = 'shop.example';
const NOW = Date.UTC(2026, 0, 31);

function read(message: string): ReportContent {
  const octets = Buffer.from(message);
  return readReportMessage({ octets, parts: indexMessage(octets).parts });
}

function readXml(xml: string): ReportContent {
  return read(reportMessage({ type: 'text/xml', name: 'a.xml', octets: Buffer.from(xml) }, DOMAIN));
}

const METADATA = `<report_metadata><org_name>r.example</org_name><report_id>7</report_id>
  <date_range><begin>1767225600</begin><end>1767311999</end></date_range></report_metadata>
  <policy_published><domain>${DOMAIN}</domain><p>none</p></policy_published>`;
const ROW = (row: string, more = ''): string => `<record><row>${row}</row>${more}</record>`;

function sumsBySource(content: ReportContent): Map<string, ExpectedSum> {
  const sums = new Map<string, ExpectedSum>();
  const add = (key: string, messages: number, passes: boolean): void => {
    const there = sums.get(key) ?? { messages: 0, passed: 0 };
    sums.set(key, { messages: there.messages + messages, passed: there.passed + (passes ? messages : 0) });
  };
  if (content.kind === 'dmarc') for (const one of content.sums) add(one.source, one.messages, one.spf || one.dkim);
  if (content.kind === 'tls') for (const one of content.sums) add(one.result, one.sessions, one.result === 'success');
  return sums;
}

test.each([1, 2, 3, 4])(
  '250 reports of eight reporters have the sums counted when they were made (%i of 4)',
  (seed) => {
    const generator = new ReportGenerator(seed, DOMAIN, NOW);
    const kinds = new Map<string, number>();
    for (let i = 0; i < 250; i++) {
      const { message, kind, expected } = generator.next();
      const content = read(message);
      expect(content.kind, message).toBe(kind);
      expect(Object.fromEntries(sumsBySource(content))).toEqual(Object.fromEntries(expected));
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
    expect(Math.min(...kinds.values())).toBeGreaterThan(25);
  },
);

describe('a DMARC report', () => {
  test('without an evaluation is evaluated by its results, aligned with the domain in From', () => {
    const auth = `<identifiers><header_from>${DOMAIN}</header_from></identifiers><auth_results>
      <dkim><domain>other.example</domain><result>pass</result></dkim>
      <spf><domain>mail.${DOMAIN}</domain><result>pass</result></spf></auth_results>`;
    const content = readXml(
      `<feedback>${METADATA}${ROW('<source_ip>192.0.2.1</source_ip><count>3</count>', auth)}</feedback>`,
    );
    expect(content).toMatchObject({
      organization: 'r.example',
      sums: [{ source: '192.0.2.1', spf: true, dkim: false, dkimDomain: 'other.example', messages: 3 }],
    });
  });

  test('has what its reporter did, and why', () => {
    const evaluated = `<source_ip>2001:DB8::1</source_ip><count>2</count><policy_evaluated><disposition>reject</disposition>
      <dkim>fail</dkim><spf>fail</spf><reason><type>mailing_list</type></reason></policy_evaluated>`;
    expect(readXml(`<feedback>${METADATA}${ROW(evaluated)}</feedback>`)).toMatchObject({
      sums: [{ source: '2001:db8::1', disposition: 'reject', override: 'mailing_list', headerFrom: DOMAIN }],
    });
  });

  test('keeps 400 sources apart and loses no message', () => {
    const rows = Array.from({ length: 1000 }, (_, i) =>
      ROW(`<source_ip>10.0.${i >> 8}.${i & 255}</source_ip><count>${i + 1}</count>`),
    );
    const content = readXml(`<feedback>${METADATA}${rows.join('')}</feedback>`);
    if (content.kind !== 'dmarc') throw new Error('not read');
    expect(content.sums.length).toBe(401);
    expect(content.sums.reduce((sum, one) => sum + one.messages, 0)).toBe(500_500);
  });
});

describe('what cannot be read says why', () => {
  const entity = '<!DOCTYPE a [<!ENTITY b "ccccc">]>';
  test.each([
    ['no report', '<html></html>', 'it has no report: no part is XML, JSON, gzip or zip'],
    ['broken XML', '<feedback><record>', /^its XML is broken/],
    [
      'entities',
      `<?xml version="1.0"?>${entity}<feedback>&b;</feedback>`,
      'it declares a document type, which is not read',
    ],
    ['deep XML', `<feedback>${'<a>'.repeat(50)}`, /^its XML is broken/],
    ['no records', `<feedback>${METADATA}</feedback>`, 'it has no element <record> in <feedback>'],
    [
      'no dates',
      `<feedback>${ROW(`<count>1</count>`, `<identifiers><header_from>a.example</header_from></identifiers>`)}</feedback>`,
      'it has no date in <date_range>',
    ],
    ['many rows', `<feedback>${METADATA}${'<record/>'.repeat(20_001)}</feedback>`, 'it has more than 20000 records'],
    ['broken JSON', '{"policies":', 'its JSON is broken'],
    ['deep JSON', `{"a":${'['.repeat(100)}`, 'its JSON is nested deeper than 20'],
    ['no policy', '{"policies":[]}', 'it names no policy-domain in its policies'],
  ])('%s', (_, text, why) => {
    expect(readXml(text)).toEqual({
      kind: 'unreadable',
      why: typeof why === 'string' ? why : expect.stringMatching(why),
    });
  });

  test.each([
    ['gzip', (octets: Buffer): Buffer => gzipSync(octets)],
    ['zip', (octets: Buffer): Buffer => zipOf([{ name: 'a.xml', data: octets }])],
  ])('100 MB of rows in %s', (_, pack) => {
    const octets = pack(Buffer.alloc(100 * 1024 * 1024, '<record></record>'));
    const content = read(reportMessage({ type: 'application/gzip', name: 'a.gz', octets }, DOMAIN));
    expect(content).toEqual({ kind: 'unreadable', why: 'it is larger than 8 MB when unpacked' });
  });

  test.each([
    ['a cut gzip', gzipSync(Buffer.from('<feedback>')).subarray(0, 15), 'its compressed file is broken'],
    ['a locked zip', zipOf([{ name: 'a', data: Buffer.from('b'), locked: true }]), 'its zip archive needs a password'],
  ])('%s', (_, octets, why) => {
    expect(read(reportMessage({ type: 'application/gzip', name: 'a.gz', octets }, DOMAIN))).toEqual({
      kind: 'unreadable',
      why,
    });
  });
});

test('a failure report is known as one', () => {
  const message = [
    'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
    '',
    '--b',
    'Content-Type: message/feedback-report',
    '',
    'Feedback-Type: auth-failure',
    '--b--',
    '',
  ].join('\r\n');
  expect(read(message)).toEqual({ kind: 'failure' });
});

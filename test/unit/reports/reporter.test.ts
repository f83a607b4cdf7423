import { expect, test } from 'vitest';
import type { ReportContent } from '../../../mail/reports/report-types.ts';
import { reporterDomains } from '../../../src/reports/reporter.ts';

const report = (organization: string): ReportContent => ({
  kind: 'tls',
  organization,
  reportId: '1',
  domain: 'box.test',
  begin: 0,
  end: 0,
  sums: [],
});

test.each<[string, string, string, readonly string[]]>([
  ['signed by nobody', '', 'shop.example', []],
  ['signed by the organization that it names', 'mail.shop.example', 'shop.example', ['shop.example']],
  ['that names its organization in words', 'shop.example', 'Shop, Inc.', ['shop.example']],
  ['signed by another organization than it names', 'evil.example', 'google.com', []],
  ['of a neighbor below a public suffix', 'evil.co.uk', 'shop.co.uk', []],
  [
    'of an organization with several domains',
    'microsoft.com',
    'Outlook.com',
    expect.arrayContaining(['outlook.com']) as string[],
  ],
])('a report %s', (_, verified, organization, domains) => {
  expect(reporterDomains(verified, report(organization))).toEqual(domains);
});

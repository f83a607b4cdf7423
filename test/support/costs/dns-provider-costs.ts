import { elementsOf, textIn } from '../../../src/dns-providers/clients/xml-elements.ts';
import { providerRetryAfterMs, wordsOf } from '../../../src/dns-providers/provider-api.ts';
import { findTsig } from '../../../src/dns-providers/rfc2136/tsig.ts';
import { mergeRua, reportRecordKind, withoutRua } from '../../../src/dns-providers/rua-merge.ts';
import { mergeSpf, withoutMerge } from '../../../src/dns-providers/spf-merge.ts';
import { absoluteName, normalizeZoneName, readRecordData } from '../../../src/dns-providers/zone-entry.ts';
import { surveyDomains, unverifiedChecks } from '../../../src/doctor/domain-survey.ts';
import { checkSpfRecord, measureSpf } from '../../../src/domains/spf.ts';
import type { Lookup, Resolver } from '../../../mail/dns/lookup.ts';
import { fakeResolver } from '../fake-resolver.ts';
import { type CostRow, costs, driven, octets } from './row.ts';

const group = {
  at: 'src/dns-providers/zone-entry.ts',
  input: 'record in an answer of a DNS provider',
  bound: '64 KiB, the longest data of a record',
  thread: 'main',
};

const RUA = ['mailto:a@b.example,', ',', ';', 'rua=', ';rua=mailto:a', '!', ' '];
const SPF = [
  'include:b.example ',
  'a:b.example ',
  'mx ',
  'redirect=b.example ',
  'exists:%{i}.b ',
  '?',
  'ip4:192.0.2.1 ',
];

/** A resolver that has this record for every name, and addresses. */
function everywhere(text: string): Resolver {
  const found = <T>(record: T): Promise<Lookup<T>> => Promise.resolve({ kind: 'found', records: [record] });
  return {
    ...fakeResolver({}),
    txt: () => found(`v=spf1 ${text}`),
    a: () => found('198.51.100.1'),
    mx: () => found({ preference: 1, exchange: 'b.example' }),
  };
}

/** Surveys domains that differ, each with a line of an earlier run. */
function surveyed(texts: readonly string[]): Promise<unknown> {
  const domains = texts.map((text, at) => `${at}.${text}`);
  const previous = domains.map((name) => ({
    name: `${name}: MX`,
    status: 'ok' as const,
    why: '',
    fix: '',
    checkedAt: 1,
  }));
  return surveyDomains({
    domains,
    previous,
    check: () => Promise.resolve([]),
    clock: () => 0,
    forMs: 0,
    failedFirst: true,
  });
}

/** Functions that answers of DNS providers reach. */
export const DNS_PROVIDER_COSTS: readonly CostRow[] = [
  ...costs(group, {
    'readRecordData: text': (text) => readRecordData('TXT', `"${text}`),
    'readRecordData: service': (text) => readRecordData('SRV', text),
    'readRecordData: authority': (text) => readRecordData('CAA', text),
    'readRecordData: hash of a key': (text) => readRecordData('TLSA', text),
    normalizeZoneName,
    absoluteName: (text) => absoluteName(text, 'example.net'),
  }),
  ...costs(
    { ...group, at: 'src/dns-providers/spf-merge.ts' },
    {
      mergeSpf: (text) => mergeSpf(`v=spf1 ${text}`, { hostname: 'mail.example.net' }, true),
      withoutMerge: (text) => withoutMerge(text, { merged: 'v=spf1 a:mail.example.net -all', before: 'v=spf1 -all' }),
    },
  ),
  ...costs(
    { ...group, at: 'src/dns-providers/rua-merge.ts' },
    {
      reportRecordKind,
      mergeRua: driven((text) => mergeRua(`v=DMARC1; rua=${text}`, 'a@b.example'), { worst: RUA }),
      withoutRua: driven((text) => withoutRua(`v=DMARC1; rua=${text}`, 'a@b.example'), { worst: RUA }),
    },
  ),
  ...costs(
    {
      at: 'src/domains/spf.ts',
      input: 'SPF records of others',
      bound: '64 KiB, 10 lookups through all includes, 10 MX hosts',
      thread: 'main',
      most: 60_000,
    },
    {
      measureSpf: driven((text) => measureSpf(everywhere(text), 'a.example', `v=spf1 ${text}`), { worst: SPF }),
      'measureSpf: includes': driven((text) => measureSpf(everywhere(text), 'a.example', 'v=spf1 include:b.example'), {
        worst: SPF,
      }),
      checkSpfRecord: driven((text) => checkSpfRecord(everywhere(text), 'a.example', ['192.0.2.1']), { worst: SPF }),
    },
  ),
  ...costs(
    {
      at: 'src/doctor/domain-survey.ts',
      input: 'names of all domains',
      bound: '8 s or 30 min, 8 domains at once',
      thread: 'main',
      most: 256 * 1024,
    },
    {
      surveyDomains: driven((text) => surveyed(text.split(' ')), { worst: ['a ', 'b.example '] }),
      unverifiedChecks: driven((text) => unverifiedChecks(text.split(' ')), { worst: ['a ', 'b.example '] }),
    },
  ),
  ...costs(
    {
      at: 'src/dns-providers/provider-api.ts',
      input: 'answer of a DNS provider that rejects a request',
      bound: '4 MiB, of which 10,000 characters are read',
      thread: 'main',
    },
    { wordsOf, retryAfterMs: (text) => providerRetryAfterMs({ headers: { 'retry-after': text } }) },
  ),
  ...costs(
    {
      at: 'src/dns-providers/clients/xml-elements.ts',
      input: 'page of records of Route 53',
      bound: '4 MiB, of which 10,000 elements are read',
      thread: 'main',
    },
    {
      elementsOf: driven((text) => elementsOf(text, 'a'), { worst: ['<a>', '<a></a>'] }),
      textIn: driven((text) => textIn(`<a>${text}</a>`, 'a'), { worst: ['&amp;', '&#1;'] }),
    },
  ),
  ...costs(
    {
      at: 'src/dns-providers/rfc2136/tsig.ts',
      input: 'answer of a name server with TSIG',
      bound: '65,535 octets',
      thread: 'main',
      most: 65_535,
    },
    { findTsig: (text) => findTsig(octets(`\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff${text}`)) },
  ),
];

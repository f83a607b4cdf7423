import { elementsOf, textIn } from '../../../src/dns-providers/clients/xml-elements.ts';
import { retryAfterMs, wordsOf } from '../../../src/dns-providers/provider-api.ts';
import { findTsig } from '../../../src/dns-providers/rfc2136/tsig.ts';
import { mergeSpf, withoutTerm } from '../../../src/dns-providers/spf-merge.ts';
import { absoluteName, plainName, valueOf } from '../../../src/dns-providers/zone-entry.ts';
import { type CostRow, costs, driven, octets } from './row.ts';

const group = {
  at: 'src/dns-providers/zone-entry.ts',
  input: 'record in an answer of a DNS provider',
  bound: '64 KiB, the longest data of a record',
  thread: 'main',
};

/** Functions that answers of DNS providers reach. */
export const DNS_PROVIDER_COSTS: readonly CostRow[] = [
  ...costs(group, {
    'valueOf: text': (text) => valueOf('TXT', `"${text}`),
    'valueOf: service': (text) => valueOf('SRV', text),
    'valueOf: authority': (text) => valueOf('CAA', text),
    'valueOf: hash of a key': (text) => valueOf('TLSA', text),
    plainName,
    absoluteName: (text) => absoluteName(text, 'example.net'),
  }),
  ...costs(
    { ...group, at: 'src/dns-providers/spf-merge.ts' },
    {
      mergeSpf: (text) => mergeSpf(`v=spf1 ${text}`, 'mail.example.net', true),
      withoutTerm: (text) => withoutTerm(text, 'mail.example.net'),
    },
  ),
  ...costs(
    {
      at: 'src/dns-providers/provider-api.ts',
      input: 'answer of a DNS provider that rejects a request',
      bound: '4 MiB, of which 10,000 characters are read',
      thread: 'main',
    },
    { wordsOf, retryAfterMs: (text) => retryAfterMs({ headers: { 'retry-after': text } }) },
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

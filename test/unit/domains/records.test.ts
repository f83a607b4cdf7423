import { expect, test } from 'vitest';
import { characterStrings } from '../../../src/name-server/zone.ts';
import type { PublishedKey } from '../../../src/domains/queries.ts';
import { keyZone, ownServer, type RequiredRecord, requiredRecords, zoneText } from '../../../src/domains/records.ts';
import * as fc from '../../support/fast-check.ts';

const HOST = 'mail.box.example';
const SERVER = { hostname: HOST, byName: false };
const LONG = `v=DKIM1; k=rsa; p=${'A'.repeat(392)}`;
const key = (selector: string, algorithm: PublishedKey['algorithm'], state: PublishedKey['state']): PublishedKey => ({
  selector,
  algorithm,
  text: LONG,
  state,
  retiredAt: null,
});
const domain = {
  id: 12,
  name: 'd.example',
  keys: [key('ms1', 'rsa-sha256', 'signs'), key('ms2', 'ed25519-sha256', 'signs'), key('ms3', 'rsa-sha256', 'waits')],
};

/** The quoted strings of a line of a zone file, read as RFC 1035 5.1 has it. */
function strings(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replace(/\\(.)/g, '$1'));
}

test('with the keys in TXT records there is one for each, and the one that every verifier knows is required', () => {
  const dkim = requiredRecords(domain, SERVER).filter((one) => one.purpose === 'dkim');
  expect(dkim.map(({ type, name, required }) => [type, name, required])).toEqual([
    ['TXT', 'ms1._domainkey.d.example', true],
    ['TXT', 'ms2._domainkey.d.example', false],
    ['TXT', 'ms3._domainkey.d.example', false],
  ]);
});

test('with the box’s own DNS every selector leads there, the ones without a key as well', () => {
  const dkim = requiredRecords(domain, { ...SERVER, byName: true }).filter((one) => one.purpose === 'dkim');
  expect(dkim.map(({ type, value, required }) => [type, value, required])).toEqual([
    ['CNAME', `ms1.dom_12.dkim.${HOST}`, true],
    ['CNAME', `ms2.dom_12.dkim.${HOST}`, false],
    ['CNAME', `ms3.dom_12.dkim.${HOST}`, false],
    ['CNAME', `ms4.dom_12.dkim.${HOST}`, false],
  ]);
  expect([keyZone(HOST), ownServer(12, HOST)]).toEqual([`dkim.${HOST}`, `dom-12.ns.dkim.${HOST}`]);
});

test('the zone text has each record on a line, with whole names and strings of at most 255 octets', () => {
  const lines = zoneText(requiredRecords(domain, SERVER), ['a note']).split('\n');
  expect(lines[0]).toBe('; a note');
  expect(lines).toContain(`d.example. 3600 IN MX 10 ${HOST}.`);
  expect(lines).toContain('d.example. 3600 IN TXT "v=spf1 mx ~all"');
  expect(lines).toContain('_dmarc.d.example. 3600 IN TXT "v=DMARC1; p=none; rua=mailto:mailstead-reports@d.example"');
  const text = strings(lines.find((line) => line.startsWith('ms1.')) ?? '');
  expect(text.map((one) => one.length)).toEqual([255, LONG.length - 255]);
  expect(text.join('')).toBe(LONG);
  expect(lines.at(-1)).toBe('');
});

test('the digest of the settings document is a record where its URL is known, and changes with it', () => {
  const digests = (more: object): RequiredRecord[] =>
    requiredRecords(domain, { ...SERVER, ...more }).filter(({ name }) => name === '_ua-auto-config.d.example');
  expect(digests({})).toEqual([]);
  const [record = expect.fail(), ...more] = digests({ baseUrl: `https://${HOST}` });
  expect(more).toEqual([]);
  expect(record).toMatchObject({ purpose: 'client_setup', type: 'TXT', ttl: 3600, required: false });
  expect(record.value).toMatch(/^v=UAAC1; a=sha256; d=[\w+/]{43}=$/);
  expect(digests({ baseUrl: 'https://portal.example' })[0]?.value).not.toBe(record.value);
});

test('quotes and backslashes of a text come back as they were', () => {
  const value = fc.string({ unit: fc.constantFrom('"', '\\', 'a', ';', ' ', '$', '('), maxLength: 800 });
  fc.assert(
    fc.property(value, (text) => {
      const record: RequiredRecord = {
        purpose: 'spf',
        type: 'TXT',
        name: 'd.example',
        value: text,
        ttl: 60,
        required: true,
      };
      const zone = zoneText([record], []);
      expect(zone.split('\n')).toHaveLength(2);
      expect(strings(zone.slice('d.example. 60 IN TXT '.length)).join('')).toBe(text);
    }),
  );
});

test.each([
  ['', ['']],
  ['a'.repeat(255), ['a'.repeat(255)]],
  ['a'.repeat(256), ['a'.repeat(255), 'a']],
  ['\n'.repeat(300), ['\n'.repeat(255), '\n'.repeat(45)]],
])('a text of a length on the edge is cut rightly', (text, expected) => {
  expect(characterStrings(text)).toEqual(expected);
});

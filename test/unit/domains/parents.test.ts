import { type Answer, AUTHORITATIVE_ANSWER, decode, type DecodedPacket, encode } from 'dns-packet';
import { beforeEach, expect, test } from 'vitest';
import { type QueryParents, parentsOf } from '../../../src/domains/parents.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';

let zone: FakeZone;
let queried: string[];
/** By address; a server that is not here is silent. */
let servers: Record<string, string[] | 'refused'>;
let parents: QueryParents;

beforeEach(() => {
  zone = {
    'NS example': ['a.nic.example', 'b.nic.example'],
    'A a.nic.example': ['192.0.2.1', '192.0.2.9'],
    'AAAA b.nic.example': ['2001:db8::2'],
  };
  queried = [];
  servers = {};
  const mayAsk = (ip: string): boolean => !ip.startsWith('10.');
  const ask = (ip: string, domain: string): Promise<DecodedPacket | undefined> => {
    queried.push(`${ip} ${domain}`);
    const said = servers[ip];
    return Promise.resolve(said === undefined ? undefined : packet(domain, said));
  };
  parents = parentsOf({ resolver: fakeResolver(zone), mayQuery: mayAsk, query: ask });
});

function packet(domain: string, said: string[] | 'refused'): DecodedPacket {
  const refused = said === 'refused';
  const authorities = (refused ? [] : said).map((data): Answer => ({ type: 'NS', name: domain, ttl: 60, data }));
  const flags = refused ? 5 : authorities.length === 0 ? AUTHORITATIVE_ANSWER : 0;
  return decode(encode({ type: 'response', id: 1, flags, authorities }));
}

test('one address of each server of the zone above is asked, and they speak together', async () => {
  servers = { '192.0.2.1': ['mail.box.example'], '2001:db8::2': ['ns.other.example'] };
  expect(await parents('shop.example')).toEqual(['mail.box.example', 'ns.other.example']);
  expect(queried).toEqual(['192.0.2.1 shop.example', '2001:db8::2 shop.example']);
});

test('a zone above may be several labels above', async () => {
  servers = { '192.0.2.1': ['mail.box.example'] };
  expect(await parents('a.b.c.example')).toEqual(['mail.box.example']);
  zone['NS c.example'] = ['ns.c.example'];
  zone['A ns.c.example'] = ['192.0.2.3'];
  expect(await parents('a.b.c.example')).toBeUndefined();
  expect(queried.at(-1)).toBe('192.0.2.3 a.b.c.example');
});

test('servers that are silent or refuse leave it to the others', async () => {
  servers = { '192.0.2.1': 'refused' };
  expect(await parents('shop.example')).toBeUndefined();
  servers = { '192.0.2.1': 'refused', '2001:db8::2': [] };
  expect(await parents('shop.example')).toEqual([]);
});

test.each([
  ['the zone above cannot be found', { 'NS example': 'trouble' }],
  ['there is none', { 'NS example': [] }],
  ['a zone between may be there', { 'NS b.example': 'trouble' }],
  ['no address is known', { 'A a.nic.example': 'trouble', 'AAAA b.nic.example': [] }],
  ['the addresses may not be reached', { 'A a.nic.example': ['10.0.0.1'], 'AAAA b.nic.example': ['10.0.0.2'] }],
] as const)('nothing is learned and nobody is asked when %s', async (_, changed) => {
  Object.assign(zone, changed);
  expect(await parents('a.b.example')).toBeUndefined();
  expect(queried).toEqual([]);
});

test('three servers at most are asked, each once, and names without end are not followed', async () => {
  const names = Array.from({ length: 9 }, (_, i) => `ns${i}.nic.example`);
  zone['NS example'] = names;
  for (const [i, name] of names.entries()) zone[`A ${name}`] = [`192.0.2.${Math.floor(i / 2)}`];
  await parents('shop.example');
  expect(queried).toEqual(['192.0.2.0 shop.example', '192.0.2.1 shop.example', '192.0.2.2 shop.example']);
  queried.length = 0;
  expect(await parents(`${'a.'.repeat(60)}example`)).toBeUndefined();
  expect(queried).toEqual([]);
});

import { AUTHORITATIVE_ANSWER, type Answer, decode, type DecodedPacket, encode } from 'dns-packet';
import { expect, test } from 'vitest';
import { nameServersIn, mergeReferrals } from '../../../src/domains/referral.ts';
import * as fc from '../../support/fast-check.ts';

const ns = (name: string, data: string): Answer => ({ type: 'NS', name, ttl: 60, class: 'IN', data });
const soa: Answer = {
  type: 'SOA',
  name: 'example',
  data: { mname: 'a.nic.example', rname: 'root.nic.example', serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 1 },
};

/** Response of a server, encoded and decoded. */
function said(flags: number, answers: Answer[], authorities: Answer[]): DecodedPacket {
  const questions = [{ name: 'shop.example', type: 'NS' as const, class: 'IN' as const }];
  return decode(encode({ type: 'response', id: 1, flags, questions, answers, authorities }));
}

test('a referral, and the answer of a server that knows both zones', () => {
  const two = [ns('Shop.Example', 'NS1.Other.example'), ns('shop.example', 'mail.box.example')];
  const names = ['ns1.other.example', 'mail.box.example'];
  expect(nameServersIn(said(0, [], two), 'shop.example')).toEqual(names);
  expect(nameServersIn(said(AUTHORITATIVE_ANSWER, two, []), 'shop.example')).toEqual(names);
});

test.each([
  ['no such name', 3],
  ['nothing at that name', 0],
])('%s is a sure no from who has authority only', (_, code) => {
  expect(nameServersIn(said(AUTHORITATIVE_ANSWER | code, [], [soa]), 'shop.example')).toEqual([]);
  expect(nameServersIn(said(code, [], [soa]), 'shop.example')).toBeUndefined();
});

test.each([
  ['a format error', 1],
  ['a server failure', 2],
  ['a refusal', 5],
])('%s says nothing, whatever comes with it', (_, code) => {
  const packet = said(AUTHORITATIVE_ANSWER | code, [], [ns('shop.example', 'mail.box.example')]);
  expect(nameServersIn(packet, 'shop.example')).toBeUndefined();
});

test.each(['', 'example', 'www.shop.example', 'xshop.example'])('a referral for %j is not for the domain', (owner) => {
  expect(nameServersIn(said(0, [], [ns(owner, 'mail.box.example')]), 'shop.example')).toBeUndefined();
});

test('names that no host has, and names without end, are not passed on', () => {
  const odd = ['a\nb.example', 'a b.example', '<b>.example', 'ns.other.example'].map((name) =>
    ns('shop.example', name),
  );
  expect(nameServersIn(said(0, [], odd), 'shop.example')).toEqual(['ns.other.example']);
  const many = Array.from({ length: 200 }, (_, i) => ns('shop.example', `ns${i}.other.example`));
  expect(nameServersIn(said(0, [], many), 'shop.example')).toHaveLength(20);
});

test('anything that can be read as a packet is taken', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 12, maxLength: 200 }), (octets) => {
      let packet: DecodedPacket;
      try {
        packet = decode(Buffer.from(octets));
      } catch {
        return;
      }
      for (const name of nameServersIn(packet, '') ?? []) expect(name).toMatch(/^[\w.-]+$/);
    }),
  );
});

test('servers that say different things are taken together, and who says nothing does not count', () => {
  expect(mergeReferrals([])).toBeUndefined();
  expect(mergeReferrals([undefined, undefined])).toBeUndefined();
  expect(mergeReferrals([undefined, []])).toEqual([]);
  expect(mergeReferrals([['a', 'b'], undefined, [], ['b', 'c']])).toEqual(['a', 'b', 'c']);
});

import { describe, expect, test } from 'vitest';
import { parseAddress } from '../../../mail/message/address.ts';
import { networkPattern, networksOf } from '../../../mail/policy/network-pattern.ts';
import {
  findEnvelopeBlock,
  namePattern,
  namePatterns,
  senderPatterns,
  matchSenderRules,
  type SenderRule,
  type SenderIdentity,
} from '../../../mail/policy/sender-rules.ts';

const allow = (pattern: string, account: number | null = 1): SenderRule => ({ kind: 'allow', pattern, account });
const block = (pattern: string, account: number | null = 1): SenderRule => ({ kind: 'block', pattern, account });
const writer = (over: Partial<SenderIdentity> = {}): SenderIdentity => ({
  author: parseAddress('ann+list@news.shop.example'),
  aligned: true,
  sender: parseAddress('bounce@mail.esp.example'),
  networks: networksOf('192.0.2.7'),
  ...over,
});

const RULINGS: readonly [string, readonly SenderRule[], Partial<SenderIdentity>, string | undefined][] = [
  ['nobody has said anything', [], {}, undefined],
  ['the address', [block('ann+list@news.shop.example')], {}, 'block'],
  ['the address without its detail', [block('ann@news.shop.example')], {}, 'block'],
  ['another detail of it', [block('ann+other@news.shop.example')], {}, undefined],
  ['its domain', [block('news.shop.example')], {}, 'block'],
  ['a domain above it is not its domain', [block('shop.example')], {}, undefined],
  ['all under a domain', [block('*.shop.example')], {}, 'block'],
  ['all under its own domain is not itself', [block('*.news.shop.example')], {}, undefined],
  ['a domain that ends alike', [block('*.op.example')], {}, undefined],
  ['the envelope sender is blocked', [block('mail.esp.example')], {}, 'block'],
  ['the envelope sender is allowed: says nothing', [allow('mail.esp.example')], {}, undefined],
  ['the network', [block('192.0.2.0/24')], {}, 'block'],
  ['another network', [block('192.0.3.0/24')], {}, undefined],
  ['allowed and proved', [allow('news.shop.example')], {}, 'allow'],
  ['allowed and not proved', [allow('news.shop.example')], { aligned: false }, 'unproven'],
  ['an allowed network needs no proof', [allow('192.0.2.7/32')], { aligned: false }, 'allow'],
  ['address before domain', [block('news.shop.example'), allow('ann@news.shop.example')], {}, 'allow'],
  ['domain before those above', [allow('*.shop.example'), block('news.shop.example')], {}, 'block'],
  ['the nearer above', [allow('*.shop.example'), block('*.example')], {}, 'allow'],
  ['names before networks', [allow('*.example'), block('192.0.2.7/32')], {}, 'allow'],
  ['the smaller network', [block('192.0.0.0/16'), allow('192.0.2.0/24')], {}, 'allow'],
  ['mailbox before organization', [block('news.shop.example', null), allow('news.shop.example')], {}, 'allow'],
  [
    'the more exact of the organization',
    [allow('news.shop.example'), block('ann@news.shop.example', null)],
    {},
    'block',
  ],
  ['block before allow', [allow('news.shop.example'), block('news.shop.example')], {}, 'block'],
  ['unproven does not save', [allow('ann@news.shop.example'), block('*.example')], { aligned: false }, 'block'],
  ['no author, no sender', [block('*.example')], { author: undefined, sender: undefined }, undefined],
  ['the domain of a quoted author', [block('evil.example')], { author: parseAddress('"a b"@evil.example') }, 'block'],
  ['an "@" in quotes', [block('shop.example')], { author: parseAddress('"a@shop.example"@other.example') }, undefined],
  ['the domain of a quoted sender', [block('evil.example')], { sender: parseAddress('"a b"@evil.example') }, 'block'],
];

describe('rules about who writes', () => {
  test.each(RULINGS)('%s', (_name, rules, over, kind) => {
    for (const order of [rules, rules.toReversed()]) expect(matchSenderRules(order, writer(over))?.kind).toBe(kind);
  });

  test('every rule that could matter is looked up by its pattern', () => {
    for (const [, rules, over, kind] of RULINGS) {
      const patterns = new Set(senderPatterns(writer(over)));
      for (const { pattern } of kind === undefined ? [] : rules) expect(patterns).toContain(pattern);
      expect(patterns.size).toBeLessThan(50);
    }
  });

  test('a block says whose it is', () => {
    expect(matchSenderRules([block('*.example', null)], writer())?.why).toBe(
      'Mail from *.example is blocked by the organization',
    );
    expect(matchSenderRules([block('*.example')], writer())?.why).toBe('Mail from *.example is blocked by the mailbox');
    expect(matchSenderRules([allow('*.example')], writer({ aligned: false }))?.why).toBe(
      'Mail from *.example is allowed by the mailbox, but this message is not authenticated',
    );
  });

  test('before the message has come only what no author could outweigh is refused', () => {
    const peer = { sender: parseAddress('ann@shop.example'), networks: networksOf('192.0.2.7') };
    expect(findEnvelopeBlock([block('shop.example')], peer)).toEqual(block('shop.example'));
    expect(findEnvelopeBlock([block('192.0.2.0/24')], { ...peer, sender: undefined })).toEqual(block('192.0.2.0/24'));
    expect(findEnvelopeBlock([block('shop.example'), allow('ann@shop.example')], peer)).toBeUndefined();
    expect(findEnvelopeBlock([block('other.example')], peer)).toBeUndefined();
  });

  test('a name as long as names can be is a few patterns', () => {
    const key = `${'a'.repeat(64)}@${'b.'.repeat(120)}example`;
    expect(namePatterns(parseAddress(key))).toHaveLength(122);
    expect(namePatterns(undefined)).toEqual([]);
  });
});

describe('patterns', () => {
  test.each([
    ['Ann@Shop.EXAMPLE', 'ann@shop.example'],
    ['Shop.example', 'shop.example'],
    ['*.Bücher.example', '*.xn--bcher-kva.example'],
    ['*.com', '*.com'],
    ['*', undefined],
    ['*shop.example', undefined],
    ['a*@shop.example', 'a*@shop.example'],
    ['*.*.example', undefined],
    ['ann@[192.0.2.1]', undefined],
    ['[192.0.2.1]', undefined],
    ['shop example', undefined],
    ['@shop.example', undefined],
    ['192.0.2.1', undefined],
  ])('%s is the name %s', (text, pattern) => {
    expect(namePattern(text)).toBe(pattern);
  });

  test.each([
    ['192.0.2.7', '192.0.2.7/32'],
    ['192.0.2.7/24', '192.0.2.0/24'],
    ['192.0.2.7/23', '192.0.2.0/23'],
    ['10.255.0.0/9', '10.128.0.0/9'],
    ['::ffff:192.0.2.7', '192.0.2.7/32'],
    ['2001:DB8::1', '2001:db8::1/128'],
    ['2001:db8:ffff::/33', '2001:db8:8000::/33'],
    ['10.0.0.0/7', undefined],
    ['2000::/15', undefined],
    ['10.0.0.0/33', undefined],
    ['10.0.0.0/08', undefined],
    ['10.0.0.0/', undefined],
    ['10.0.0', undefined],
    ['0x7f.1', undefined],
    ['fe80::1%eth0', 'fe80::1/128'],
    ['shop.example', undefined],
  ])('%s is the network %s', (text, pattern) => {
    expect(networkPattern(text)).toBe(pattern);
  });

  test.each(['192.0.2.7', '2001:db8:1:2:3:4:5:6', '::ffff:10.1.2.3'])(
    'each network of %s is spelled as it was set',
    (ip) => {
      const all = networksOf(ip);
      expect(all).toHaveLength(ip.includes(':') && !ip.includes('.') ? 113 : 25);
      for (const one of all) expect(networkPattern(one)).toBe(one);
      expect(all.at(-1)).toBe(networkPattern(ip));
    },
  );

  test('what is no address is in no network', () => {
    expect(networksOf('unknown')).toEqual([]);
  });
});

import { decode, encode } from 'dns-packet';
import { expect, test } from 'vitest';
import { decodePacket } from '../../../mail/dns/packet.ts';
import { COSTS } from '../../support/costs/index.ts';

const row = COSTS.find(({ name }) => name === 'decodePacket');

test('names that are chains of compression pointers are refused, which 64 KiB of them were not', () => {
  const packet = Buffer.from(row?.made[0]?.(65_535) ?? '', 'latin1');
  expect(decode(packet).answers?.length).toBeGreaterThan(4000);
  expect(() => decodePacket(packet)).toThrow(/pointer chains/);
});

test('a response with many compressed names and binary data is read', () => {
  const answers = Array.from({ length: 300 }, (_, n) => ({
    type: 'TXT' as const,
    name: `host${n % 7}.sub.example.org`,
    data: [Buffer.from(Array.from({ length: 100 }, (_, i) => (n * 37 + i * 91) % 256))],
  }));
  const packet = encode({ type: 'response', id: 1, answers });
  expect(decodePacket(packet)).toEqual(decode(packet));
});

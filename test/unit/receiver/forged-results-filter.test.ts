import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../../mail/message/limits.ts';
import { ForgedResultsFilter } from '../../../mail/receiver/forged-results-filter.ts';

const KEPT = 'From: a@b.example\r\nAuthentication-Results: other.example; spf=pass\r\n';
const FORGED = [
  'Authentication-Results: mx.box.test; dmarc=pass\r\n',
  'AUTHENTICATION-RESULTS:mx.box.test\r\n',
  'Authentication-Results: (a comment) mx.box.test 1; spf=pass\r\n',
  'Authentication-Results:\r\n\t"MX.box.test"; spf=pass\r\n',
  'X-Mailstead-Verdict: inbox (0 of 5)\r\n',
];
const BODY = '\r\n\r\nAuthentication-Results: mx.box.test; in the body\r\n\r\nend\r\n';

const NOTHING = Buffer.alloc(0);

function passed(message: string, size: number): string {
  const filter = new ForgedResultsFilter('mx.box.test');
  const out: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    out.push(filter.push(Buffer.from(message.slice(at, at + size))) ?? NOTHING);
  }
  return Buffer.concat([...out, filter.end() ?? NOTHING]).toString();
}

function tooLong(message: string, size: number): boolean {
  const filter = new ForgedResultsFilter('mx.box.test');
  for (let at = 0; at < message.length; at += size) filter.push(Buffer.from(message.slice(at, at + size)));
  filter.end();
  return filter.isTooLong;
}

describe('forged results in a header are removed', () => {
  const whole = `${FORGED.join('')}${KEPT}${FORGED.join('')}To: x@box.test${BODY}`;
  test.each([1, 2, 3, 7, 64, 100_000])('in pieces of %i octets', (size) => {
    expect(passed(whole, size)).toBe(`${KEPT}To: x@box.test${BODY}`);
  });

  test('a message that is nothing but a header', () => {
    expect(passed(`${KEPT}${FORGED.join('')}`, 10)).toBe(KEPT);
  });

  test.each([100, 4096, 2 ** 21])('nothing, where the header is longer than anybody reads, in pieces of %i', (size) => {
    const long = `${KEPT}X-Long: ${'x'.repeat(2 ** 20)}\r\n${FORGED.join('')}\r\nbody\r\n`;
    expect(passed(long, size)).toBe('');
    expect(tooLong(long, size)).toBe(true);
    expect(tooLong('x'.repeat(2 ** 20), size)).toBe(true);
  });

  test.each([4093, LIMITS.header + 1, LIMITS.header + 3, 2 ** 21])(
    'the longest header that is read, and no longer one, in pieces of %i',
    (size) => {
      const long = (octets: number): string =>
        `${`X: y\r\n`.repeat(40_000)}X: ${'x'.repeat(octets - 240_003)}\r\n\r\nbody\r\n`;
      expect(tooLong(long(LIMITS.header), size)).toBe(false);
      expect(tooLong(long(LIMITS.header + 1), size)).toBe(true);
    },
  );

  test.each([1, 5, 2 ** 21])('a message without a header, in pieces of %i', (size) => {
    const bare = `\r\n${FORGED[0]}${'x'.repeat(2 ** 17)}\r\n`.repeat(3);
    expect(passed(bare, size)).toBe(bare);
    expect(tooLong(bare, size)).toBe(false);
  });

  test('what is empty', () => {
    expect(passed('', 1)).toBe('');
  });
});

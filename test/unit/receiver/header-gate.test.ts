import { describe, expect, test } from 'vitest';
import { HeaderGate } from '../../../mail/receiver/header-gate.ts';

const KEPT = 'From: a@b.example\r\nAuthentication-Results: other.example; spf=pass\r\n';
const FORGED = [
  'Authentication-Results: mx.box.test; dmarc=pass\r\n',
  'AUTHENTICATION-RESULTS:mx.box.test\r\n',
  'Authentication-Results: (a comment) mx.box.test 1; spf=pass\r\n',
  'Authentication-Results:\r\n\t"MX.box.test"; spf=pass\r\n',
  'X-Mailstead-Verdict: inbox (0 of 5)\r\n',
];
const BODY = '\r\n\r\nAuthentication-Results: mx.box.test; in the body\r\n\r\nend\r\n';

function passed(message: string, size: number): string {
  const gate = new HeaderGate('mx.box.test');
  const out: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) out.push(...gate.push(Buffer.from(message.slice(at, at + size))));
  return Buffer.concat([...out, ...gate.end()]).toString();
}

describe('the gate that a header passes', () => {
  const whole = `${FORGED.join('')}${KEPT}${FORGED.join('')}To: x@box.test${BODY}`;
  test.each([1, 2, 3, 7, 64, 100_000])('in pieces of %i octets', (size) => {
    expect(passed(whole, size)).toBe(`${KEPT}To: x@box.test${BODY}`);
  });

  test('a message that is nothing but a header', () => {
    expect(passed(`${KEPT}${FORGED.join('')}`, 10)).toBe(KEPT);
  });

  test('a header that is longer than anybody reads', () => {
    const long = `${KEPT}X-Long: ${'x'.repeat(2 ** 20)}\r\n\r\nbody\r\n`;
    expect(passed(long, 4096)).toBe(long);
  });

  test('what is empty', () => {
    expect(passed('', 1)).toBe('');
  });
});

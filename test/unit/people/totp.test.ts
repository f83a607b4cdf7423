import { describe, expect, test } from 'vitest';
import { newRecoveryCodes, recoveryCodeHash } from '../../../src/people/recovery-code.ts';
import { acceptedStep, encodeBase32, totpCode, totpUri } from '../../../src/people/totp.ts';

const SECRET = Buffer.from('12345678901234567890');

describe('codes of an authenticator app', () => {
  // RFC 6238 appendix B, SHA-1; its eight digits end in our six.
  test.each([
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ])('at second %d are those of RFC 6238', (seconds, eight) => {
    expect(totpCode(SECRET, Math.floor(seconds / 30))).toBe(eight.slice(2));
  });

  test('are accepted one step early and late, not two, and never at or before the last one', () => {
    const now = 1_234_567_890_000;
    const step = Math.floor(now / 30_000);
    const accepted = (at: number, after = 0) => acceptedStep(SECRET, totpCode(SECRET, at), { now, after });
    expect([-2, -1, 0, 1, 2].map((by) => accepted(step + by))).toEqual([
      undefined,
      step - 1,
      step,
      step + 1,
      undefined,
    ]);
    expect(accepted(step, step)).toBeUndefined();
    expect(accepted(step - 1, step)).toBeUndefined();
    expect(accepted(step + 1, step)).toBe(step + 1);
  });

  test.each(['', '12345', '1234567', 'abcdef', '１２３４５６', '-12345'])(
    'of the wrong form are refused: %j',
    (code) => {
      expect(acceptedStep(SECRET, code, { now: 59_000, after: 0 })).toBeUndefined();
    },
  );
});

test('base32 is that of RFC 4648 without padding', () => {
  const pairs = { '': '', f: 'MY', fo: 'MZXQ', foo: 'MZXW6', foob: 'MZXW6YQ', fooba: 'MZXW6YTB', foobar: 'MZXW6YTBOI' };
  for (const [text, encoded] of Object.entries(pairs)) expect(encodeBase32(Buffer.from(text))).toBe(encoded);
});

test('the URI names the box and the person, whatever their names hold', () => {
  const uri = new URL(totpUri(SECRET, { email: 'a&b=c/d?e@x.test', hostname: 'mail.test' }));
  expect([uri.protocol, uri.host, decodeURIComponent(uri.pathname)]).toEqual([
    'otpauth:',
    'totp',
    '/mail.test:a&b=c/d?e@x.test',
  ]);
  expect(Object.fromEntries(uri.searchParams)).toEqual({ secret: encodeBase32(SECRET), issuer: 'mail.test' });
});

describe('recovery codes', () => {
  test('are ten different ones of 80 bits, read with and without hyphens', () => {
    const { codes, hashes } = newRecoveryCodes();
    expect(new Set(codes).size).toBe(10);
    for (const [index, code] of codes.entries()) {
      expect(code).toMatch(/^(?:[A-HJ-NP-Z2-9]{4}-){3}[A-HJ-NP-Z2-9]{4}$/);
      for (const form of [code, code.toLowerCase(), code.replaceAll('-', ''), ` ${code.replaceAll('-', ' ')}`]) {
        expect(recoveryCodeHash(form)).toEqual(hashes[index]);
      }
    }
  });

  test.each(['', 'AAAA', '123456', 'AAAA-BBBB-CCCC-DDD1', 'A'.repeat(1000)])('of another form are none: %j', (text) => {
    expect(recoveryCodeHash(text)).toBeUndefined();
  });
});

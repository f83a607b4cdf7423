import { expect, test } from 'vitest';

import { generatePassword } from '../../../mail/login/password.ts';
import { preparePassword } from '../../../mail/login/saslprep.ts';
import { makeVerifier } from '../../../mail/login/verifier.ts';

test('a generated password has 128 bits in characters that cannot be taken for one another', () => {
  const made = Array.from({ length: 1000 }, generatePassword);
  for (const one of made) expect(one).toMatch(/^[2-9a-hjkmnp-z]{5}(-[2-9a-hjkmnp-z]{5}){3}-[2-9a-hjkmnp-z]{6}$/);
  expect(new Set(made).size).toBe(1000);
  expect(26 * Math.log2(31)).toBeGreaterThanOrEqual(128);
  expect(new Set(made.join('').replaceAll('-', '')).size).toBe(31);
});

test.each([
  ['plain ascii ~!', 'plain ascii ~!'],
  ['\u00aa', 'a'],
  ['I\u00adX', 'IX'],
  ['\u3000x', ' x'],
  ['a\tb', undefined],
  ['a\0', undefined],
  ['\u0085', undefined],
  ['\ue123', undefined],
  ['\ud800', undefined],
  ['\u{1f600}', '\u{1f600}'],
  ['\u0627\u0031', '\u0627\u0031'],
])('the password %j is prepared as %j', (text, prepared) => {
  expect(preparePassword(text)).toBe(prepared);
});

test.each(['', '\0', '\u00ad'])('%j cannot become a password', async (password) => {
  await expect(makeVerifier(password, Buffer.alloc(16))).rejects.toThrow(RangeError);
});

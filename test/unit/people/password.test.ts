import { describe, expect, test } from 'vitest';
import { PASSWORD_PROBLEMS, passwordFault, Passwords } from '../../../src/people/password.ts';
import { formToken, hashOf, isFormToken, newSecret } from '../../../src/people/secrets.ts';

describe('passwords', () => {
  test('are kept as argon2id with 19 MiB and two passes, and no two alike', async () => {
    const passwords = new Passwords();
    const [one, two] = await Promise.all([passwords.hash('correct horse'), passwords.hash('correct horse')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(two).not.toBe(one);
    expect(await passwords.matches(one ?? null, 'correct horse')).toBe(true);
    expect(await passwords.matches(one ?? null, 'correct horsE')).toBe(false);
  });

  test('match whichever way an accent was typed, and never match nobody', async () => {
    const passwords = new Passwords();
    const stored = (await passwords.hash('caf\u00e9 au lait')) ?? null;
    expect(await passwords.matches(stored, 'caf\u0065\u0301 au lait')).toBe(true);
    expect(await passwords.matches(null, 'caf\u00e9 au lait')).toBe(false);
    expect(await passwords.matches('$argon2id$nonsense', 'x')).toBe(false);
  });

  test('are derived two at a time, and a flood is asked to come back', async () => {
    const passwords = new Passwords();
    const all = await Promise.all(Array.from({ length: 40 }, () => passwords.matches(null, 'whatever it is')));
    expect(all.filter((one) => one === undefined)).toHaveLength(6);
  });

  test.each([
    ['eleven char', 'Use at least 12 characters.'],
    ['x'.repeat(201), 'Use at most 200 characters.'],
    ['twelve chars\u0000', 'A password cannot contain control characters.'],
    ['twelve chars', undefined],
  ])('%j: %s', (password, problem) => {
    const fault = passwordFault(password);
    expect(fault && PASSWORD_PROBLEMS[fault]).toBe(problem);
  });
});

describe('secrets', () => {
  test('are 192 bits, and only what looks like one is looked up', () => {
    const { secret, hash } = newSecret();
    expect(secret).toMatch(/^[0-9a-f]{48}$/);
    expect(hashOf(secret)).toEqual(hash);
    for (const wrong of [
      '',
      secret.slice(1),
      `${secret}0`,
      secret.toUpperCase().replace(/\d/g, 'A'),
      [secret],
      1,
      null,
    ]) {
      expect(hashOf(wrong)).toBeUndefined();
    }
  });

  test('a form belongs to one session', () => {
    const [mine, other] = [newSecret().secret, newSecret().secret];
    expect(isFormToken(formToken(mine), mine)).toBe(true);
    for (const wrong of [formToken(other), mine, '', undefined, [formToken(mine)]]) {
      expect(isFormToken(wrong, mine)).toBe(false);
    }
  });
});

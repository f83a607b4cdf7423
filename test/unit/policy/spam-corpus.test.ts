import { expect, test } from 'vitest';
import { checkContent, checkClient } from '../../../mail/policy/checks/index.ts';
import { HAM_KINDS } from '../../support/corpus/ham.ts';
import { JUNK_KINDS } from '../../support/corpus/junk.ts';
import { LANGUAGES } from '../../support/corpus/languages.ts';
import { measure, summed } from '../../support/corpus/measure.ts';
import { spamCorpus } from '../../support/corpus/spam-corpus.ts';

// A smaller version of bench/spam.ts; docs/spam.md has the figures of the whole.

test('the same seed makes the same mail, of all kinds and in many languages', () => {
  const mail = spamCorpus(7, 1500);
  expect(spamCorpus(7, 1500).map(({ octets }) => octets.toString())).toEqual(
    mail.map(({ octets }) => octets.toString()),
  );
  expect(new Set(mail.map(({ kind }) => kind))).toEqual(new Set([...HAM_KINDS, ...JUNK_KINDS]));
  expect(Object.keys(LANGUAGES).length).toBeGreaterThanOrEqual(10);
  expect(new Set(mail.map(({ language }) => language)).size).toBeGreaterThanOrEqual(10);
  expect(mail.filter(({ junk }) => junk)).toHaveLength(750);
});

test('what was taught with 200 of each catches most junk and hardly any mail that is wanted', async () => {
  const checks: Parameters<typeof measure>[0]['checks'] = (sample, now) => {
    const here = { hostname: 'box.test', now };
    return [...checkContent(sample, here), ...checkClient(sample, here)];
  };
  const { words, whole } = await measure({ seed: 7, count: 1000, taught: 200, checks });
  for (const tallies of [words, whole]) {
    const [good, junk] = [summed(tallies, false), summed(tallies, true)];
    expect(good.all).toBe(300);
    expect(good.junked / good.all).toBeLessThanOrEqual(0.007);
    expect(junk.junked / junk.all).toBeGreaterThanOrEqual(0.93);
  }
});

test('nothing that was not taught is held against anything', async () => {
  const { words } = await measure({ seed: 8, count: 60, taught: 2, checks: () => [] });
  expect(words.every(({ junked, doubted }) => junked + doubted === 0)).toBe(true);
});

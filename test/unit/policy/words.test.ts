import { describe, expect, test } from 'vitest';
import { wordHash } from '../../../mail/policy/words/hash.ts';
import { chiSquareTail, estimateJunk, type WordCount } from '../../../mail/policy/words/likelihood.ts';
import { obfuscationWords, textWords } from '../../../mail/policy/words/text-words.ts';
import { scoreWords } from '../../../mail/policy/words/score-words.ts';
import { MAX_WORDS, messageWords } from '../../../mail/policy/words/message-words.ts';
import { Random } from '../../support/random.ts';
import { sampleFrom } from '../../support/sample.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

describe('a number of a word', () => {
  test('is a whole number that JavaScript and SQLite both have, and another one for each word', () => {
    const texts = Array.from({ length: 100_000 }, (_, i) => `word ${i}`);
    const numbers = texts.map(wordHash);
    expect(numbers.every((one) => Number.isSafeInteger(one) && one >= 0 && one < 2 ** 52)).toBe(true);
    expect(new Set(numbers).size).toBe(texts.length);
  });

  test('uses all of its 52 bits alike', () => {
    const ones = Array.from({ length: 52 }, () => 0);
    for (let i = 0; i < 2000; i++) {
      const bits = wordHash(`word ${i}`).toString(2).padStart(52, '0');
      for (const [at, bit] of bits.split('').entries()) if (bit === '1') ones[at] = (ones[at] ?? 0) + 1;
    }
    for (const share of ones) expect(share / 2000).toBeCloseTo(0.5, 1);
  });
});

describe('words of a text', () => {
  test.each([
    ['Hello, HELLO world!', ['t:hello', 't:world']],
    ['Prüfung für Zoë', ['t:prufung', 't:fur', 't:zoe']],
    ['中国银行', ['t:中国', 't:国银', 't:银行']],
    ['цена 5000 рублей', ['t:цена', 't:#4', 't:рублеи']],
    ['buy v i a g r a now', ['t:buy', 't:v', 't:i', 't:a', 't:g', 't:r', 'spaced viagra', 't:now']],
    ['order 1234 and 98765', ['t:order', 't:#4', 't:and', 't:#5']],
    ['', []],
  ])('%j', (text, words) => {
    expect([...textWords(text, 't:')].sort()).toEqual([...words].sort());
  });

  test('what is there to make a filter stumble is a word of its own', () => {
    expect(obfuscationWords('p\u0430ypal v1agra')).toEqual(['latin beside cyrillic 0', 'digits in words 0']);
    expect(obfuscationWords('fr\u200bee m\u00adoney $$$')).toEqual(['unseen 1', 'emphasis 1']);
    expect(obfuscationWords('Nothing odd here.')).toEqual([]);
  });
});

const message = (fields: string, body: string): Buffer => Buffer.from(`${fields}\r\n\r\n${body}`);
const LETTER = 'From: Ann <ann@remote.example>\r\nTo: me@box.test\r\nSubject: Lunch';

describe('words of a message', () => {
  test('are the same ones each time, each once, and never more than one training sample may write', async () => {
    const random = new Random(3);
    const long = Array.from({ length: 20_000 }, () => `w${random.below(1e9).toString(36)}`).join(' ');
    const words = messageWords(await sampleFrom(message(LETTER, long)));
    expect(words).toHaveLength(MAX_WORDS);
    expect(new Set(words).size).toBe(words.length);
    expect(messageWords(await sampleFrom(message(LETTER, long)))).toEqual(words);
  });

  test('of a long text those are chosen that are chosen in any order of it', async () => {
    const lines = Array.from({ length: 3000 }, (_, i) => `word${i.toString(36)}x`);
    const forwards = messageWords(await sampleFrom(message(LETTER, lines.join(' '))));
    const backwards = messageWords(await sampleFrom(message(LETTER, lines.toReversed().join(' '))));
    expect(new Set(backwards)).toEqual(new Set(forwards));
  });

  test('do not come from what this box wrote about it', async () => {
    const own = 'Authentication-Results: box.test; spf=pass\r\nX-Spam-Flag: NO\r\nReturn-Path: <a@b.example>\r\n';
    const plain = messageWords(await sampleFrom(message(LETTER, 'Hello')));
    expect(messageWords(await sampleFrom(message(own + LETTER, 'Hello')))).toEqual(plain);
  });

  test('leave out a name that somebody borrowed', async () => {
    const sample = await sampleFrom(message(LETTER, 'Hello'));
    const forged = {
      ...sample,
      authentication: { ...sample.authentication, dmarc: { ...sample.authentication.dmarc, result: 'fail' as const } },
    };
    const hash = wordHash('1 from ann@remote.example');
    const from = hash - (hash % 2) + 1;
    expect(messageWords(sample)).toContain(from);
    expect(messageWords(forged)).not.toContain(from);
  });

  // Row E12: ten times as much takes at most fifteen times as long.
  test.each([
    ['letters apart', (n: number) => 'v '.repeat(n / 2)],
    ['one long word', (n: number) => 'a'.repeat(n)],
    ['marks that nobody sees', (n: number) => '\u200b'.repeat(n)],
    ['tags that begin', (n: number) => '<a '.repeat(n / 3)],
    ['blanks in styles', (n: number) => `<p style="display:${' '.repeat(n)}none">`],
    ['emphasis', (n: number) => '$!'.repeat(n / 2)],
    ['digits in words', (n: number) => 'a0'.repeat(n / 2)],
  ])('take time by their length: %s', async (_what, text) => {
    const sample = await sampleFrom(message(LETTER, 'Hello'));
    const read = (n: number): void => {
      const hostile = {
        ...sample,
        text: text(n),
        html: text(n),
        subject: text(n),
        fields: [...sample.fields, { name: 'list-unsubscribe', value: text(n), start: 0, end: 0 }],
      };
      messageWords(hostile);
    };
    expect(await growth(read, 1_000_000)).toBeLessThan(PROPORTIONAL);
  });
});

describe('how likely it is junk', () => {
  test.each([
    [0, 2, 1],
    [2, 2, Math.exp(-1)],
    [10, 4, Math.exp(-5) * 6],
    [100_000, 80, 0],
  ])('the tail of chi-square from %d on with %d degrees', (value, degrees, tail) => {
    expect(chiSquareTail(value, degrees)).toBeCloseTo(tail, 9);
  });

  const junky = { hash: 1, junk: 20, good: 0 };
  const goodly = { hash: 1, junk: 0, good: 20 };
  test.each<[string, WordCount[], number, number]>([
    ['no words', [], 0.5, 0.5],
    ['words that both have', Array.from({ length: 20 }, () => ({ hash: 1, junk: 20, good: 20 })), 0.5, 0.5],
    ['words of junk', Array.from({ length: 10 }, () => junky), 0.999, 1],
    ['words of what is kept', Array.from({ length: 10 }, () => goodly), 0, 0.001],
    [
      'as many of either',
      [...Array.from({ length: 15 }, () => junky), ...Array.from({ length: 15 }, () => goodly)],
      0.4,
      0.6,
    ],
    ['one word that was seen once', [{ hash: 1, junk: 1, good: 0 }], 0.6, 0.85],
  ])('%s', (_what, words, least, most) => {
    const { junk } = estimateJunk({ junk: 100, good: 100, words });
    expect(junk).toBeGreaterThanOrEqual(least);
    expect(junk).toBeLessThanOrEqual(most);
  });

  test('a sentence is less evidence than as many other things that are alike', () => {
    const of = (hash: number): number =>
      estimateJunk({ junk: 100, good: 100, words: Array.from({ length: 6 }, () => ({ hash, junk: 5, good: 1 })) }).junk;
    expect(of(2)).toBeGreaterThan(0.5);
    expect(of(2)).toBeLessThan(of(1) - 0.05);
  });

  test('counts how often, not how much of either was learned', () => {
    const few = estimateJunk({ junk: 10, good: 1000, words: [{ hash: 1, junk: 1, good: 100 }] });
    expect(few.junk).toBe(0.5);
  });

  test('without one of both kinds nothing is known', () => {
    expect(estimateJunk({ junk: 100, good: 0, words: [junky] })).toEqual({ junk: 0.5, significantWords: 0 });
    expect(estimateJunk({ junk: 0, good: 100, words: [goodly] })).toEqual({ junk: 0.5, significantWords: 0 });
  });
});

describe('the finding', () => {
  const words = (junk: number, good: number): WordCount[] =>
    Array.from({ length: 20 }, () => ({ hash: 1, junk, good }));

  test('says nothing until a few of both kinds are learned, and little until there are many', () => {
    expect(scoreWords({ junk: 4, good: 500, words: words(4, 0) })).toEqual([]);
    expect(scoreWords({ junk: 500, good: 4, words: words(100, 0) })).toEqual([]);
    const early = scoreWords({ junk: 10, good: 10, words: words(8, 0) });
    expect(early[0]?.score).toBeGreaterThan(1);
    expect(early[0]?.score).toBeLessThan(5);
    expect(scoreWords({ junk: 200, good: 200, words: words(100, 0) })).toEqual([
      {
        rule: 'words',
        score: 8,
        why: 'Its words resemble mail that you moved to Junk; compared with 200 that you marked as junk and 200 that you kept',
      },
    ]);
  });

  test('speaks for what is like mail that is kept, and leaves open what is open', () => {
    const [kept] = scoreWords({ junk: 200, good: 200, words: words(0, 100) });
    expect(kept).toMatchObject({ rule: 'words', score: -3 });
    expect(kept?.why).toMatch(/^Its words resemble mail that you kept/);
    expect(scoreWords({ junk: 200, good: 200, words: [...words(100, 0), ...words(0, 100)] })).toEqual([]);
  });
});

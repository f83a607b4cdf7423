import { describe, expect, test } from 'vitest';
import { findTerms, readTerms } from '../../../mail/message/search-terms.ts';
import { foldWord, segment, tokensOf } from '../../../mail/message/word-tokens.ts';
import { array, assert, constantFrom, property, string } from '../../support/fast-check.ts';
import { Random } from '../../support/random.ts';

/** Reports whether a search finds the text by its words. */
function finds(queried: string, text: string): boolean {
  const tokens = tokensOf(text);
  return (readTerms(queried) ?? []).every((term) => findTerms([term], tokens).next().done !== true);
}

describe('words that are one word to a person', () => {
  test.each([
    ['creme', 'Crème brûlée'],
    ['BRULEE', 'crème brûlée'],
    ['hauptstrasse', 'Hauptstraße 1'],
    ['STRASSE', 'HAUPTSTRAẞE straße'],
    ['lodz', 'Łódź'],
    ['smorrebrod', 'Smørrebrød'],
    ['ısparta', 'Isparta'],
    ['istanbul', 'İstanbul'],
    ['abc123', 'ＡＢＣ１２３ full width'],
    ['finance', 'ﬁnance'],
    ['οδος', 'ΟΔΟΣ'],
    ['donaudampf', 'Donau\u00addampf'],
    ['部署', 'ITGC部署方案'],
    ['方案', 'ITGC部署方案'],
    ['部署方案', 'ITGC部署方案'],
    ['itgc', 'ITGC部署方案'],
    ['会議', '東京で会議をします'],
    ['京都', '東京都'],
    ['京都', 'ここは京都です'],
    ['京', '東京'],
    ['회의', '내일 회의가 있습니다'],
    ['ประชุม', 'วันนี้มีประชุมใหญ่'],
    ['ガス', 'ｶﾞｽ会社'],
    ['コーヒー', 'コーヒーを飲む'],
    ['anna@box.test', 'Anna Berg <anna@box.test>'],
    ['"anna berg"', 'Anna Berg <anna@box.test>'],
    ["don't", "We don't know"],
    ['meet*', 'Our meeting'],
    [String.raw`"a \"b\" c"`, 'x a "b" c'],
    ['हिन्दी', 'यह हिन्दी है'],
    ['привет', 'ПРИВЕТ мир'],
  ])('%s is in: %s', (queried, text) => {
    expect(finds(queried, text)).toBe(true);
  });

  test.each([
    ['署部', 'ITGC部署方案'],
    ['東都', '東京都'],
    ['meet', 'Our meeting'],
    ['me*', 'Our meeting'],
    ['"berg anna"', 'Anna Berg'],
    ['anna other', 'Anna Berg'],
  ])('%s is not in: %s', (queried, text) => {
    expect(finds(queried, text)).toBe(false);
  });
});

test('a fold of a fold is the same', () => {
  assert(
    property(string({ unit: 'grapheme' }), (text) => foldWord(foldWord(text)) === foldWord(text)),
    { numRuns: 500 },
  );
});

test('what is indexed is what positions are given for', () => {
  const words = constantFrom(
    'abc',
    'Ärger',
    '部署方案',
    '署',
    '½',
    'x1',
    'ｶﾞ',
    'ﬁ',
    '-',
    '.',
    ' ',
    '_',
    '\u00ad',
    'é́',
    'ไป',
  );
  assert(
    property(array(words, { maxLength: 12 }), (parts) => {
      const text = parts.join('');
      const indexed = segment(text)
        .toLowerCase()
        .split(/[^\p{L}\p{N}\p{M}]+/u);
      expect(indexed.filter((word) => word !== '')).toEqual(tokensOf(text).map(({ word }) => word));
    }),
    { numRuns: 1000 },
  );
});

test('places are those of the text', () => {
  const text = 'Straße 部署方案 ﬁn';
  expect(tokensOf(text).map(({ word, start, end }) => [word, text.slice(start, end)])).toEqual([
    ['strasse', 'Straße'],
    ['部署', '部署'],
    ['署方', '署方'],
    ['方案', '方案'],
    ['案', '案'],
    ['fin', 'ﬁn'],
  ]);
});

test('runs of more than 64 letters and digits are removed wherever they begin', () => {
  const random = new Random(18);
  for (let n = 0; n < 2_000; n++) {
    const runs = Array.from({ length: 1 + random.below(6) }, () => {
      const length = random.chance(0.5) ? 60 + random.below(10) : random.below(300);
      return random.one(['a', 'Z', '7', '0']).repeat(length) + random.one([' ', '-', '\r\n', '@', '[', '{', '`']);
    });
    const text = runs.join('');
    expect(segment(text)).toBe(text.replace(/[A-Za-z0-9]{65,}/g, ' '));
  }
});

test('a word that is none for its length costs no time and no room', () => {
  const long = 'a'.repeat(300_000);
  expect(segment(`x ${long} y`).split(' ').filter(Boolean)).toEqual(['x', 'y']);
  expect(segment(`é ${long} y`)).toBe('e y');
  expect(readTerms('"'.repeat(999))).toEqual([]);
  expect(readTerms('a'.repeat(1001))).toBeUndefined();
  expect(readTerms('部署'.repeat(300))).toBeUndefined();
});

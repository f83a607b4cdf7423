import { describe, expect, test } from 'vitest';
import { canonicalName, fromUtf7, patternMatcher, toUtf7 } from '../../../mail/imap/wire/mailbox-name.ts';
import * as fc from '../../support/fast-check.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

describe('modified UTF-7', () => {
  test.each([
    ['~peter/mail/台北/日本語', '~peter/mail/&U,BTFw-/&ZeVnLIqe-'],
    ['a&b', 'a&-b'],
    ['Entwürfe', 'Entw&APw-rfe'],
    ['😀', '&2D3eAA-'],
    ['é/è', '&AOk-/&AOg-'],
    ['éè', '&AOkA6A-'],
    ['plain', 'plain'],
    ['&', '&-'],
    ['-&-', '-&--'],
    ['ÿ\u{10ffff}', '&AP,b,9,,-'],
  ])('%s', (text, encoded) => {
    expect(toUtf7(text)).toBe(encoded);
    expect(fromUtf7(encoded)).toBe(text);
  });

  test.each([
    ['no end', 'a&AOk'],
    ['a bare ampersand', 'R&D'],
    ['not base64', '&A!-'],
    ['a slash of base64', '&A/k-'],
    ['padding that is not zero', '&AOl-'],
    ['a digit too many', '&AOkA-'],
    ['too short', '&AA-'],
    ['a lone surrogate', '&2D0-'],
    ['ASCII, a separator', '&AC8-'],
    ['ASCII, a letter', '&AGE-'],
    ['with UTF-8 beside it', 'é&AOk-'],
  ])('left as it is written: %s', (_what, written) => {
    expect(fromUtf7(written)).toBe(written);
  });

  test('every text comes back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 30 }), (text) => {
        const encoded = toUtf7(text);
        expect(encoded).toMatch(/^[\x20-\x7e]*$/);
        expect(fromUtf7(encoded)).toBe(text);
      }),
      { numRuns: 3000, seed: 1 },
    );
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('&', '-', 'A', 'O', 'k', ',', '2', 'D', '3', 'e'), maxLength: 20 }),
        (written) => {
          const text = fromUtf7(written);
          expect(fromUtf7(toUtf7(text))).toBe(text);
        },
      ),
      { numRuns: 5000, seed: 2 },
    );
  });
});

describe('canonical names', () => {
  test.each([
    ['inbox', 'INBOX'],
    ['iNbOx/a', 'INBOX/a'],
    ['ınbox', 'ınbox'],
    ['INBOX2', 'INBOX2'],
    ['a/b/', 'a/b'],
    ['e\u0301', 'é'],
    ['a b', 'a b'],
    ['100%*', '100%*'],
    ['', undefined],
    ['/', undefined],
    ['a//b', undefined],
    ['a\tb', undefined],
    ['a\0', undefined],
    ['a\u009f', undefined],
    ['a\u2028', undefined],
    ['\ud800', undefined],
    ['x'.repeat(255), 'x'.repeat(255)],
    ['x'.repeat(256), undefined],
    ['ü'.repeat(128), undefined],
    [Array.from({ length: 5 }, () => 'x'.repeat(250)).join('/'), undefined],
    [Array.from({ length: 51 }, () => 'x').join('/'), undefined],
  ])('%j', (name, canonical) => {
    expect(canonicalName(name)).toBe(canonical);
  });
});

describe('LIST patterns', () => {
  test.each([
    ['*', 'a/b', true],
    ['%', 'a', true],
    ['%', 'a/b', false],
    ['a/%', 'a/b', true],
    ['a/%', 'a/b/c', false],
    ['a/*', 'a/b/c', true],
    ['a*', 'a', true],
    ['*b', 'a/b', true],
    ['%/%', 'a/b', true],
    ['%b%', 'abc', true],
    ['a%c', 'a/c', false],
    ['', 'a', false],
    ['a', 'a', true],
    ['A', 'a', false],
    ['a.b', 'axb', false],
    ['inbox', 'INBOX', true],
    ['inbox/%', 'INBOX/x', true],
    ['inbox*', 'INBOX/x', true],
    ['in%', 'INBOX', false],
    ['inboxes', 'INBOXES', false],
    ['%*%', 'a/b', true],
    ['*%*%x', 'a/x', true],
  ])('%s and %s: %s', (pattern, name, matches) => {
    expect(patternMatcher(pattern)(name)).toBe(matches);
  });

  test.each(['*%', '%', '*a', '%a'])('many of %s cost time by their number', async (piece) => {
    const name = 'a'.repeat(900);
    const match = (size: number): unknown => patternMatcher(`${piece.repeat(size / piece.length)}b`)(name);
    expect(await growth(match, 60_000)).toBeLessThan(PROPORTIONAL);
  });
});

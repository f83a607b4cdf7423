import { describe, expect, test } from 'vitest';
import { LinkRegistry, displayHost } from '../../../src/reading/link-registry.ts';
import { cutPiece } from '../../../src/reading/text-piece.ts';
import { replaceLinks } from '../../../src/reading/replace-links.ts';
import { newNonce, untrusted } from '../../../src/untrusted/untrusted.ts';
import { longHost } from '../../support/hostile-mail.ts';

function readLinks(urls: readonly string[]) {
  const book = new LinkRegistry();
  const { text } = replaceLinks(urls.map((url, i) => `Line ${i}: ${url}`).join('\n'), book);
  return { text, links: book.links };
}
const urls = (count: number, of: (n: number) => string): string[] => Array.from({ length: count }, (_, i) => of(i));
const SOURCE = { messageId: 'm1', from: null, auth: 'none' } as const;
const wireOf = (text: string): number => JSON.stringify(untrusted(newNonce(), SOURCE, text).text).length;

describe('a piece of a text', () => {
  test.each([1, 7, 40, 300, 5_000])(
    'of %i characters has the links whose handles stand in it, and no other',
    (chars) => {
      const { text, links } = readLinks(urls(60, (n) => `https://host-${n}.example/p`));
      const seen = new Set<string>();
      let [whole, from] = ['', 0];
      while (from < text.length) {
        const piece = cutPiece(text, from, { chars, wire: 2 * chars }, links);
        expect(piece.text.length).toBeLessThanOrEqual(chars);
        expect(piece.end).toBeGreaterThan(from);
        for (const [, number] of piece.text.matchAll(/\[link:(\d+) [^\]]*\]/g)) {
          expect(piece.links.map(({ handle }) => handle)).toContain(`link:${number}`);
        }
        if (piece.links.length > 1) expect(JSON.stringify(piece.links).length).toBeLessThanOrEqual(2 * chars + 200);
        for (const { handle } of piece.links) seen.add(handle);
        whole += piece.text;
        from = piece.end;
      }
      expect(whole).toBe(text);
      expect(seen.size).toBe(60);
    },
  );

  test('ends before a handle that it would cut', () => {
    const { text, links } = readLinks(['https://shop.example/']);
    expect(cutPiece(text, 0, { chars: 15, wire: 1_000 }, links)).toMatchObject({ text: 'Line 0: ', links: [] });
    expect(cutPiece(text, 8, { chars: 100, wire: 1_000 }, links).links).toMatchObject([{ handle: 'link:1' }]);
  });

  test('cuts no surrogate pair', () => {
    expect(cutPiece('ab\u{1f600}', 0, { chars: 3, wire: 100 })).toMatchObject({ text: 'ab', end: 2 });
    expect(cutPiece('\u{1f600}', 0, { chars: 1, wire: 100 }).end).toBe(1);
  });

  test.each([
    ['lines', '\n'.repeat(5_000)],
    ['quotes', '"'.repeat(5_000)],
    ['controls', '\x01'.repeat(5_000)],
    ['words', 'word '.repeat(1_000)],
  ])('of %s is no longer on the wire than it may be', (_what, text) => {
    const piece = cutPiece(text, 0, { chars: 5_000, wire: 6_000 });
    expect(wireOf(piece.text)).toBeLessThan(6_000 + 40);
    expect(piece.text.length).toBeGreaterThan(400);
  });

  test('of an ordinary newsletter has the requested length', () => {
    const { text, links } = readLinks(urls(80, (n) => `https://www.shop.example/offers/${n}?utm=x`));
    const long = `${text}\n${'An ordinary line of an ordinary newsletter, with words.\n'.repeat(500)}`;
    const piece = cutPiece(long, 0, { chars: 20_000, wire: 40_000 }, links);
    expect(piece.text).toHaveLength(20_000);
    expect(piece.links).toHaveLength(80);
  });
});

describe('a displayed host', () => {
  test.each([
    ['shop.example', 'shop.example'],
    [`${'a'.repeat(60)}.${'b'.repeat(30)}.shop.example`, `\u2026.${'b'.repeat(30)}.shop.example`],
    [`paypal.com.${'a'.repeat(60)}.${'b'.repeat(60)}.evil.co.uk`, `\u2026.${'b'.repeat(60)}.evil.co.uk`],
    // No resolver takes such a label.
    [`${'a'.repeat(150)}.com`, `\u2026${'a'.repeat(95)}.com`],
    [`x.${'a'.repeat(150)}.co.uk`, `\u2026${'a'.repeat(93)}.co.uk`],
  ])('%s', (host, shown) => {
    expect(displayHost(host)).toBe(shown);
    expect(shown.length).toBeLessThanOrEqual(100);
  });

  test('is the same in text and links; the URL is complete', () => {
    const book = new LinkRegistry();
    const { text } = replaceLinks(`http://${longHost(1)}/x`, book);
    const [link] = book.links;
    expect(link?.host.length).toBeLessThanOrEqual(100);
    expect(text).toBe(`[link:1 ${link?.host}]`);
    expect(link?.registrableDomain).toBe(`${'k'.repeat(60)}.ab`);
    expect(book.urls).toEqual([`http://${longHost(1)}/x`]);
  });
});

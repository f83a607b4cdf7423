import { expect, test } from 'vitest';
import { plainText } from '../../../mail/imap/search/plain-text.ts';
import { decodeAttribute, decodeEntities } from '../../../mail/message/html-entities.ts';
import { htmlText } from '../../../mail/message/html-text.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { unpackParts } from '../../../mail/message/parts.ts';
import { partTexts } from '../../../mail/message/search-text.ts';
import { renderHtml } from '../../../src/reading/render-html.ts';
import { LinkRegistry } from '../../../src/reading/link-registry.ts';

const HTML = '<p>M&aacute;s informaci&oacute;n: &Scaron;koda &#8212; na&#xef;ve &amp;amp; &frac12;';
const SHOWN = 'Más información: Škoda — naïve &amp; ½';
const octets = Buffer.from(`Content-Type: text/html\r\n\r\n${HTML}\r\n`);
const index = indexMessage(octets);

test.each<[string, string]>([
  ['the preview', index.preview],
  [
    'the full text',
    partTexts((start, length) => octets.subarray(start, start + length), unpackParts(index.parts)).body,
  ],
  ['the text that the filter reads', htmlText(HTML, 1000)],
  ['the text that an agent reads', renderHtml(HTML, 'text', new LinkRegistry()).text],
  ['the text that IMAP SEARCH looks through', plainText(HTML)],
])('%s has letters where HTML has their names', (_, text) => expect(text.trim()).toBe(SHOWN));

test.each([
  ['&NotEqualTilde;&AMP;', '\u2242\u0338&'],
  ['&ampx &amp &bogus; &', '&x & &bogus; &'],
  ['&#128; &#xd800; &#0; &#x110000;', '\u20ac \ufffd \ufffd \ufffd'],
  ['a&nbsp;b', 'a b'],
])('%s is decoded as browsers do', (written, decoded) => expect(decodeEntities(written)).toBe(decoded));

test('the address of a link keeps its parameters', () => {
  expect(decodeAttribute('/?a=1&copy=2&amp;lt=3')).toBe('/?a=1&copy=2&lt=3');
});

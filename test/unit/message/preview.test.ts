import { expect, test } from 'vitest';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { previewText } from '../../../mail/message/preview.ts';
import * as fc from '../../support/fast-check.ts';

const preview = (text: string): string => indexMessage(Buffer.from(text.replace(/\n/g, '\r\n'), 'latin1')).preview;
const ALT = 'Content-Type: multipart/alternative; boundary=b\n\n';
const HTML = 'Content-Type: text/html\n\n';

test.each([
  ['plain text on one line', '\na\n\n  b\tc\n', 'a b c'],
  ['plain before HTML', `${ALT}--b\n${HTML}<p>html\n--b\n\nplain\n--b--\n`, 'plain'],
  ['HTML when there is no plain', `${ALT}--b\n${HTML}<p>ht<b>ml</b></p>\n--b--\n`, 'ht ml'],
  ['HTML when plain is empty', `${ALT}--b\n\n  \n--b\n${HTML}<p>html\n--b--\n`, 'html'],
  ['no attachment', `${ALT}--b\nContent-Disposition: attachment\n\nsaved\n--b--\n`, ''],
  [
    'styles, scripts, heads and comments not',
    `${HTML}<head><title>t</title></head><style>s</style><script>a<b</script><!-- c --><p>seen`,
    'seen',
  ],
  ['entities', `${HTML}&lt;a&gt; &amp;amp; &#65;&#x42; &nbsp;&copy; &bogus;`, '<a> &amp; AB © &bogus;'],
  [
    'names of letters',
    `${HTML}informaci&oacute;n, &Aring;ngstr&ouml;m &amp &CounterClockwiseContourIntegral;`,
    'información, Ångström & ∳',
  ],
  ['a lone angle bracket', `${HTML}1 < 2`, '1 < 2'],
  [
    'quoted-printable',
    'Content-Transfer-Encoding: quoted-printable\nContent-Type: text/plain; charset=utf-8\n\ngr=C3=BC=\nn\n',
    'grün',
  ],
  ['base64', 'Content-Transfer-Encoding: base64\n\nZ3LDvG4=\n', 'grün'],
])('%s', (_, text, expected) => {
  expect(preview(text)).toBe(expected);
});

test.each([
  ['zero-width', 'a\u200bb\ufeffc\u2060d', 'abcd'],
  ['bidi', 'a\u202eb\u2066c', 'abc'],
  ['tag characters', 'a\u{e0041}\u{e007f}b', 'ab'],
  ['controls', 'a\x00b\x1bc\x85d', 'a b c d'],
  ['lone surrogates', 'a\ud800b', 'a\ufffdb'],
  ['soft hyphens', 'a\u00adb', 'ab'],
])('without %s characters', (_, text, expected) => {
  expect(previewText(text)).toBe(expected);
});

test('256 characters, no half ones', () => {
  expect(previewText('x'.repeat(1000))).toHaveLength(256);
  expect(previewText(`${'x'.repeat(255)}😀`)).toBe('x'.repeat(255));
});

test('many blank lines do not hide the words', () => {
  expect(preview(`\n${' \n'.repeat(3000)}words\n`)).toBe('words');
});

test('a preview of ASCII text is its text with blanks collapsed, cut at 256 characters', () => {
  const piece = fc.constantFrom(' ', '  ', '\t', '\r\n', 'a', 'word', 'x'.repeat(120), '~');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const text = pieces.join('');
      const line = text.replace(/\s+/g, ' ').trim();
      expect(previewText(text)).toBe(line.slice(0, 256).trimEnd());
    }),
  );
});

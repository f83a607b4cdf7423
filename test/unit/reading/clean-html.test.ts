import { describe, expect, test } from 'vitest';
import { tagsOf } from '../../../mail/policy/html-tags.ts';
import { preformattedHtml, sanitizeHtml } from '../../../src/reading/sanitize-html.ts';
import { LinkRegistry } from '../../../src/reading/link-registry.ts';
import { array, assert, constantFrom, oneof, property, string } from '../../support/fast-check.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

const clean = (html: string): string => sanitizeHtml(html, new LinkRegistry()).text;

describe('sanitized HTML', () => {
  test.each([
    ['<p class=x onclick="x()">Hello <b style="color:red">you</b></p>', '<p>Hello <b>you</b></p>'],
    ['<div><p>left open<ul><li>one<li>two', '<div><p>left open<ul><li>one<li>two</li></li></ul></p></div>'],
    ['</p></div>closed only', 'closed only'],
    ['<a href="https://shop.example/pay?id=7">Pay</a> now', 'Pay [link:1 shop.example] now'],
    ['<a href="javascript:alert(1)">x</a>', 'x [link:1]'],
    ['see https://shop.example/?q=1', 'see [link:1 shop.example]'],
    ['<img src="https://t.example/?o=1"><img src=cid:1 width=1>', ''],
    ['<script>alert(1)</script><style>p{}</style><title>t</title>x', 'x'],
    ['<iframe src="https://e.example/"></iframe><form action=/x><input value=secret><button>go</button>', 'go'],
    ['<svg onload=alert(1)><p>in</p></svg><object data=x><embed src=y>', '<p>in</p>'],
    ['<meta http-equiv=refresh content="0;url=https://e.example/"><base href=//e.example/>x', 'x'],
    ['<p style="display:none">unseen</p><p>seen</p>', '<p>seen</p>'],
    ['<!-- <p>no</p> --><p>yes<!-- no --></p>', '<p>yes</p>'],
    ['&lt;script&gt;alert(1)&lt;/script&gt; & "q"', '&#60;script&#62;alert(1)&#60;/script&#62; &#38; &#34;q&#34;'],
    [
      '<table><tr><td colspan=2 bgcolor=red rowspan="9999">a</td></tr></table>',
      '<table><tr><td colspan="2">a</td></tr></table>',
    ],
    ['a<br/>b<hr>', 'a<br>b<hr>'],
    [
      '[link:7 paypal.example] [<b>link:8 paypal.example]</b> [l<i>ink:9]</i>',
      '(link:7 paypal.example] (<b>link:8 paypal.example]</b> (l<i>ink:9]</i>',
    ],
    ['a\u200bb\u{e0041}', 'ab'],
  ])('%s', (html, expected) => {
    expect(clean(html)).toBe(expected);
  });

  test('counts removed content', () => {
    const html = '<p style="display:none">hidden</p><img src=x><img src=y width=1>a\u200b';
    expect(sanitizeHtml(html, new LinkRegistry()).removed).toMatchObject({
      hiddenChars: 6,
      hiddenNodes: 1,
      images: 1,
      trackers: 1,
      zeroWidth: 1,
    });
  });

  test('plain text converted to HTML has no own tags', () => {
    expect(preformattedHtml('<b>x</b> & y')).toBe('<pre>&#60;b&#62;x&#60;/b&#62; &#38; y</pre>');
  });

  const PIECES = [
    '<',
    '>',
    '"',
    "'",
    '=',
    ' ',
    '/',
    '<p',
    '<a href=',
    '<img src=',
    '<script>',
    '</script>',
    '<style>',
    '<!--',
    '-->',
    '&lt;',
    '&#60;',
    'on',
    'style=',
    'javascript:',
    'https://e.example/',
    '\n',
    '\0',
    'x',
    '<td colspan=',
    '<table>',
    '<svg/onload=',
  ];

  test('only allowed elements remain, all closed, without links', () => {
    const hostile = array(oneof(constantFrom(...PIECES), string({ maxLength: 4 })), { maxLength: 40 });
    assert(
      property(hostile, (pieces) => {
        const out = clean(pieces.join(''));
        const open: string[] = [];
        for (const { name, attributes } of tagsOf(out)) {
          if (name.startsWith('/')) expect(open.pop()).toBe(name.slice(1));
          else if (name !== 'br' && name !== 'hr') open.push(name);
          for (const [key, value] of attributes) {
            expect(['colspan', 'rowspan']).toContain(key);
            expect(value).toMatch(/^\d{1,2}$/);
          }
        }
        expect(open).toEqual([]);
        expect(out.replace(/<\/?(?:[a-z]{1,10}[1-6]?)(?: (?:col|row)span="\d{1,2}")*>/g, '')).not.toMatch(
          /[<>"']|https?:\/\/\w/,
        );
      }),
      { numRuns: 2000 },
    );
  });

  test.each(['<div>', '<b', '</b>', '<a href=x>', '[', '<td colspan=1 ', '&lt;'])(
    'takes time by the number of %s',
    async (piece) => {
      expect(await growth((count) => clean(piece.repeat(count)), 100_000)).toBeLessThan(PROPORTIONAL);
    },
  );
});

import { expect, test } from 'vitest';
import { forwardedBody, prefixed, appendQuote } from '../../../src/sending/quote.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

const OF = {
  from: 'Bert <b@x.example>',
  to: 'a@y.example',
  subject: 'Hi',
  date: 0,
  text: 'One\n> two',
  html: undefined,
};

test('an answer stands above what it quotes, and HTML is only what we write', () => {
  const { text, html } = appendQuote(
    { text: 'Yes\n\n', html: '<html><body>Yes</body></html>' },
    { ...OF, text: '<b>&"' },
  );
  expect(text).toBe('Yes\n\nOn Thu, 01 Jan 1970 00:00:00 +0000, Bert <b@x.example> wrote:\n> <b>&"\n');
  expect(html).toMatch(
    /^<html><body>Yes<br><div>On .*&lt;b@x\.example&gt; wrote:<\/div>.*&lt;b&gt;&amp;&quot;<\/blockquote><\/body><\/html>$/,
  );
  expect(appendQuote({ text: 'Yes' }, OF)).toEqual({ text: expect.stringMatching(/\n> One\n>> two\n$/) as string });
});

test('what is passed on stands below the note, inside of the body where there is one', () => {
  const html = '<HTML><BODY class="x">Hello</BODY></HTML>';
  expect(forwardedBody('Look <here>', { ...OF, html }).html).toMatch(
    /^<HTML><BODY class="x"><div>Look &lt;here&gt;<br>.*<\/div><br>Hello<\/BODY><\/HTML>$/s,
  );
  expect(forwardedBody('', { ...OF, html: 'Hello' }).html).toMatch(/^<div>---------- Forwarded.*Hello$/s);
  expect(forwardedBody('', OF)).toEqual({ text: expect.stringMatching(/^---------- Forwarded/) as string });
});

test('letters that grow in lower case move nothing', () => {
  const { html } = appendQuote({ html: `${'İ'.repeat(50)}</body>` }, OF);
  expect(html).toMatch(/^İ{50}<br>.*<\/blockquote><\/body>$/s);
});

test('a body that opens again and again takes time by its length', async () => {
  const write = (count: number): void => {
    forwardedBody('', { ...OF, html: '<body '.repeat(count) });
    appendQuote({ html: '</body'.repeat(count) }, OF);
  };
  expect(await growth(write, 150_000)).toBeLessThan(PROPORTIONAL);
});

test.each([
  ['Re', 'Lunch', 'Re: Lunch'],
  ['Re', 'RE: Lunch', 'RE: Lunch'],
  ['Fwd', 'Fw: Lunch', 'Fw: Lunch'],
  ['Fwd', 'Re: Lunch', 'Fwd: Re: Lunch'],
  ['Re', '', 'Re: '],
] as const)('%s of "%s"', (prefix, subject, said) => expect(prefixed(prefix, subject)).toBe(said));

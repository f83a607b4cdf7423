import { describe, expect, test } from 'vitest';
import { isOwnPage } from '../../../src/http/own-page.ts';
import { Fields } from '../../../src/portal/form-fields.ts';
import { html } from '../../../src/portal/html.ts';
import { refusedForm } from '../../../src/portal/page.ts';
import { bytes, table } from '../../../src/portal/components.ts';

describe('a template', () => {
  test.each([
    ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    [`" onmouseover='x' \``, '&quot; onmouseover=&#39;x&#39; &#96;'],
    ['&lt;', '&amp;lt;'],
    ['a\u0000b\u0085c', 'a\ufffdb\ufffdc'],
    ['\ud800', '\ufffd'],
  ])('lets %j be nothing but text', (given, escaped) => {
    expect(html`<p title="${given}">${given}</p>`.text).toBe(`<p title="${escaped}">${escaped}</p>`);
  });

  test('takes markup only from templates, whatever an object says of itself', () => {
    const pretender = { text: '<b>', toString: () => '<b>' } as unknown as string;
    expect(html`${html`<i>${'<'}</i>`}${[1, null, false, undefined, ['<']]}${pretender}`.text).toBe('<i>&lt;</i>1&lt;');
  });

  test('a cell stands under its heading also where the table is a list', () => {
    expect(table('x', ['Na"me'], [['<b>']]).text).toContain(
      '<td data-label="Na&quot;me" class="short"><div>&lt;b&gt;</div>',
    );
  });
});

describe('a form is ours', () => {
  const world = { baseUrl: () => 'https://mail.example.com' };
  const from = (headers: Record<string, string>) =>
    isOwnPage(world, { headers: { host: 'mail.example.com', ...headers }, protocol: 'https' } as never);

  test.each<[Record<string, string>, boolean]>([
    [{ 'sec-fetch-site': 'same-origin' }, true],
    [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, true],
    [{ 'sec-fetch-site': 'cross-site', origin: 'https://mail.example.com' }, false],
    [{ 'sec-fetch-site': 'same-site' }, false],
    [{ 'sec-fetch-site': 'none' }, false],
    [{ origin: 'https://mail.example.com' }, true],
    [{ origin: 'http://mail.example.com' }, false],
    [{ origin: 'https://mail.example.com.evil.test' }, false],
    [{ origin: 'null' }, false],
    [{ origin: 'nonsense' }, false],
    [{}, false],
  ])('%j: %s', (headers, ours) => {
    expect(from(headers)).toBe(ours);
  });
});

describe('fields', () => {
  test('that come twice are not one of the two', () => {
    const fields = new Fields({ a: ['x', 'y'], b: ' z ', c: '' });
    expect([fields.text('a'), fields.line('b'), fields.line('c'), fields.line('nothing')]).toEqual([
      '',
      'z',
      undefined,
      undefined,
    ]);
    expect([fields.list('a'), fields.list('b'), fields.list('c')]).toEqual([['x', 'y'], [' z '], []]);
  });

  test('that are not a form are none', () => {
    for (const body of [null, undefined, 'text', 5]) expect(new Fields(body).text('a')).toBe('');
  });
});

test('a refusal stands beside the field that it names, and above the form when it names none of it', () => {
  const issues = [{ path: 'mailboxIds.0', message: 'is past' }];
  const refusal = { error: 'invalid_arguments', message: 'create: no.', issues } as const;
  const given = { name: 'n', mailboxIds: ['a', 'b'], gone: undefined };
  expect(refusedForm(given, refusal)).toEqual({
    values: { name: 'n', mailboxIds: 'a b', gone: '' },
    errors: { mailboxIds: 'This is past.' },
  });
  expect(refusedForm({ name: 'n' }, refusal)).toEqual({ values: { name: 'n' }, errors: {}, problem: 'create: no.' });
});

test.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [1000, '1.0 KB'],
  [123_456, '123 KB'],
  [5_400_000_000, '5.4 GB'],
])('%d is %s', (count, text) => {
  expect(bytes(count)).toBe(text);
});

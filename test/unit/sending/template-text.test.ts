import { expect, test } from 'vitest';
import { fillTemplate, hasStrayBraces, variablesOf } from '../../../src/sending/template-text.ts';

const texts = { subject: 'Hi {{name}}', text: 'Hi {{ name }}, {{n}}', html: '<a title="{{name}}">{{name}}</a>' };

test('values are escaped everywhere and never expanded as variables', () => {
  const name = `<"A" & 'B'>\r\nBcc: x@y.example\u2028{{n}}`;
  expect(fillTemplate(texts, { name, n: 3 })).toEqual({
    kind: 'filled',
    subject: `Hi <"A" & 'B'> Bcc: x@y.example {{n}}`,
    text: `Hi ${name}, 3`,
    html: `<a title="&lt;&quot;A&quot; &amp; &#39;B&#39;&gt;\r\nBcc: x@y.example\u2028{{n}}">&lt;&quot;A&quot; &amp; &#39;B&#39;&gt;\r\nBcc: x@y.example\u2028{{n}}</a>`,
  });
});

test('missing variables are listed once; prototype properties do not count', () => {
  expect(variablesOf(texts)).toEqual(['name', 'n']);
  expect(fillTemplate(texts, {})).toEqual({ kind: 'missing', names: ['name', 'n'] });
  expect(fillTemplate({ subject: '{{constructor}}', text: '', html: null }, {})).toEqual({
    kind: 'missing',
    names: ['constructor'],
  });
});

test('a text that grows beyond what can be sent is refused before it is built', () => {
  const whole = { subject: '', text: '{{a}}'.repeat(100_000), html: null };
  expect(fillTemplate(whole, { a: 'x'.repeat(100_000) })).toEqual({ kind: 'too-long' });
  expect(fillTemplate({ ...whole, html: '{{a}}' }, { a: 'x'.repeat(49) })).toMatchObject({ kind: 'filled' });
  expect(fillTemplate({ ...whole, text: '', html: '{{a}}'.repeat(100_000) }, { a: '"'.repeat(49) })).toEqual({
    kind: 'too-long',
  });
});

test('braces that are no variable are detected', () => {
  for (const text of ['{{first name}}', '{{', 'a }} b', '{{1}}']) expect(hasStrayBraces(text), text).toBe(true);
  for (const text of ['{{name}}', '{ a }', '{{ a.b-c_1 }}']) expect(hasStrayBraces(text), text).toBe(false);
});

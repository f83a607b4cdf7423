import { expect, test } from 'vitest';
import { fillTemplate, strayBraces, variablesOf } from '../../../src/sending/template-text.ts';

const texts = { subject: 'Hi {{name}}', text: 'Hi {{ name }}, {{n}}', html: '<a title="{{name}}">{{name}}</a>' };

test('values are text wherever they stand, and never another variable', () => {
  const name = `<"A" & 'B'>\r\nBcc: x@y.example\u2028{{n}}`;
  expect(fillTemplate(texts, { name, n: 3 })).toEqual({
    kind: 'filled',
    subject: `Hi <"A" & 'B'> Bcc: x@y.example {{n}}`,
    text: `Hi ${name}, 3`,
    html: `<a title="&lt;&quot;A&quot; &amp; &#39;B&#39;&gt;\r\nBcc: x@y.example\u2028{{n}}">&lt;&quot;A&quot; &amp; &#39;B&#39;&gt;\r\nBcc: x@y.example\u2028{{n}}</a>`,
  });
});

test('what is missing is named, each once; prototypes give nothing', () => {
  expect(variablesOf(texts)).toEqual(['name', 'n']);
  expect(fillTemplate(texts, {})).toEqual({ kind: 'missing', names: ['name', 'n'] });
  expect(fillTemplate({ subject: '{{constructor}}', text: '', html: null }, {})).toEqual({
    kind: 'missing',
    names: ['constructor'],
  });
});

test('braces that make no variable are seen', () => {
  for (const text of ['{{first name}}', '{{', 'a }} b', '{{1}}']) expect(strayBraces(text), text).toBe(true);
  for (const text of ['{{name}}', '{ a }', '{{ a.b-c_1 }}']) expect(strayBraces(text), text).toBe(false);
});

import { expect, test } from 'vitest';
import { storedText } from '../../../mail/store/engine/stored-text.ts';

test.each([
  ['NUL', 'a\0b\0', 'a\ufffdb\ufffd'],
  ['an escape of NUL in JSON', JSON.stringify(['a\0b', { '\0': 1 }]), '["a\ufffdb",{"\ufffd":1}]'],
  ['a surrogate without a pair in JSON', JSON.stringify(['\ud83d', '\udc00\ud83d']), '["\ufffd","\ufffd\ufffd"]'],
])('%s becomes U+FFFD', (_, text, stored) => {
  expect(storedText(text)).toBe(stored);
});

test.each([
  ['plain text', 'What is \\u0000?'],
  ['a backslash before u0000 in JSON', JSON.stringify(['\\u0000', '\\\\u0000', '\\ud800'])],
  ['a pair of surrogates in JSON', '["\\ud83d\\ude00", "\\u00e4\\n\\""]'],
  ['text that is no JSON', '[\\'],
  ['a name that begins as JSON does', '[work] C:\\u0000'],
])('%s stays as it is', (_, text) => {
  expect(storedText(text)).toBe(text);
});

import { describe, expect, test } from 'vitest';
import { parseRecipients } from '../../../src/webmail/client/recipients.ts';

describe('recipients that a person types', () => {
  test.each([
    ['ada@example.test', [{ name: null, email: 'ada@example.test' }]],
    ['Ada <ada@example.test>', [{ name: 'Ada', email: 'ada@example.test' }]],
    ['"Lovelace, Ada" <ada@example.test>', [{ name: 'Lovelace, Ada', email: 'ada@example.test' }]],
    ['a@x.test; b@x.test,\nc@x.test, ', ['a', 'b', 'c'].map((local) => ({ name: null, email: `${local}@x.test` }))],
    ['<ada@example.test>', [{ name: null, email: 'ada@example.test' }]],
    ['jörg@bücher.test', [{ name: null, email: 'jörg@bücher.test' }]],
  ])('%s', (text, addresses) => {
    expect(parseRecipients(text)).toEqual({ addresses, invalid: [] });
  });

  test.each(['ada', 'ada@', '@example.test', 'Ada <ada>', 'a b@example.test', 'Ada <ada@example.test> x'])(
    '%s is no address, and is reported',
    (text) => {
      expect(parseRecipients(text)).toEqual({ addresses: [], invalid: [text] });
    },
  );
});

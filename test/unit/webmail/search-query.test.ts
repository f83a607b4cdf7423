import { describe, expect, test } from 'vitest';
import { searchFilter } from '../../../src/webmail/client/search-query.ts';

describe('the search field of web mail', () => {
  test.each([
    ['invoice', { text: 'invoice' }],
    ['last invoice', { text: 'last invoice' }],
    ['"last invoice"', { text: '"last invoice"' }],
    ['from:ada', { from: 'ada' }],
    ['from:"Ada Lovelace"', { from: 'Ada Lovelace' }],
    ['is:unread', { notKeyword: '$seen' }],
    ['has:attachment', { hasAttachment: true }],
    ['larger:2m', { minSize: 2_000_000 }],
    ['smaller:10k', { maxSize: 10_000 }],
    ['label:Work', { hasKeyword: 'work' }],
    ['', {}],
  ])('%s', (text, filter) => {
    expect(searchFilter(text)).toEqual(filter);
  });

  test('all words and operators have to match', () => {
    expect(searchFilter('from:ada loom is:starred')).toEqual({
      operator: 'AND',
      conditions: [{ from: 'ada' }, { hasKeyword: '$flagged' }, { text: 'loom' }],
    });
  });

  test('a day is one in the zone of the reader', () => {
    expect(searchFilter('before:2026-03-01')).toEqual({ before: new Date('2026-03-01T00:00:00').toISOString() });
  });

  test.each(['has:wings', 'is:blue', 'larger:x', 'before:tomorrow', 'http://x.test'])(
    '%s is searched as it stands',
    (text) => {
      expect(searchFilter(text)).toEqual({ text });
    },
  );
});

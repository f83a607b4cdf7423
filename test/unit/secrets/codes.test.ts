import { describe, expect, test } from 'vitest';
import { lettersOf, normalizeText } from '../../../mail/agents/secrets/plain.ts';
import { ShownForms } from '../../../mail/agents/secrets/shown-form.ts';
import { secretsOf } from '../../support/secret-mail.ts';

const forms = new ShownForms(new Uint8Array(32).fill(7));

/** Tests if one of these codes is found in a text. */
function isFound(text: string, ...codes: readonly string[]): boolean {
  const search = forms.search(codes.flatMap((code) => forms.make('code', code) ?? []));
  const plain = normalizeText(text);
  return search.in(plain, lettersOf(plain)).length > 0;
}

describe('a code is found as people write it', () => {
  test.each([
    '482915',
    '482-915',
    '482 - 915',
    '482, 915',
    '482  915',
    '48 29 15',
    '48-29-15',
    '48, 29, 15',
    '4 829 15',
    '(48) 29/15',
    '48\r\n29\r\n15',
    '4 8 2 9 1 5',
    'code482915',
    'code:482915th',
    '482915th',
    'x482915x',
    'PIN48 29 15',
    '48 29 15 00',
    '００ 48 29 15',
  ])('%j', (written) => {
    expect(isFound(written, '482915')).toBe(true);
    expect(isFound(`It is ${written}.`, '482915')).toBe(true);
    expect(isFound(written, '482916')).toBe(false);
  });

  test.each(['K7 PX 2M', 'k7-px-2m', 'K7 - PX2M', 'k 7 p x 2 m'])('with letters in it: %j', (written) => {
    expect(isFound(written, 'K7PX2M')).toBe(true);
  });

  test.each(['4829', '48-29', '48, 29', '48 - 29', 'code4829', '4829th', '4 82 9', 'code 48, 29 and so on'])(
    'a short one: %j',
    (written) => {
      expect(isFound(written, '4829')).toBe(true);
    },
  );

  test('in mail', async () => {
    const mail = 'From: me@box.test\r\nTo: you@else.test\r\nSubject: Hello\r\n\r\nIt is 48, 15, 16th\r\n';
    expect(await secretsOf(Buffer.from(mail))).toEqual(['code']);
  });
});

describe('other numbers are no code', () => {
  test.each([
    ['a longer one', '1482915 4829155 code14829155'],
    ['a part of its group', '482 9150, 1482-915, 48 29 155'],
    ['far apart', '482 ---- 915, 482 and 915'],
  ])('%s', (_, text) => {
    expect(isFound(text, '482915')).toBe(false);
  });

  test.each([
    ['dates', '22. 11. 2026, 22 - 11 - 26', '2211', '1126', '2622'],
    ['telephone', '(030) 4 82 - 9 15', '4829', '0304', '8291'],
    ['a table', '48, 29, 15, 10, 22', '4829', '2915', '1510'],
    ['a digest', 'a4829b c77d4829e 4829a1b2', '4829'],
    ['a long word', `${'a'.repeat(40)}4829`, '4829'],
  ])('of four digits in %s', (_, text, ...codes) => {
    expect(isFound(text, ...codes)).toBe(false);
  });
});

import { expect, test } from 'vitest';
import { parseAddressList } from '../../../mail/message/header-addresses.ts';

/** `name|mailbox@host`, `name:` for the start of a group, `;` for its end. */
function shown(text: string): string[] {
  return parseAddressList(text).map(({ name, mailbox, host }) => {
    if (mailbox === undefined) return ';';
    return host === undefined ? `${mailbox}:` : `${name ?? ''}|${mailbox}@${host}`;
  });
}

const TABLE: [text: string, members: string[]][] = [
  ['', []],
  ['a@b', ['|a@b']],
  ['<a@b>', ['|a@b']],
  ['Ann Example <a@b>, "Bob, Jr." <c@d>', ['Ann Example|a@b', 'Bob, Jr.|c@d']],
  ['a@b (Ann)', ['Ann|a@b']],
  ['(Ann) a@b', ['Ann|a@b']],
  ['Ann (comment) <a@b>', ['Ann|a@b']],
  ['a@b (x (y) z)', ['x (y) z|a@b']],
  ['"a\\"b" <c@d>', ['a"b|c@d']],
  ['"a b"@c', ['|a b@c']],
  ['"a@b"@c', ['|a@b@c']],
  ['<@x,@y:a@b>', ['|a@b']],
  ['G: a@b, c@d; e@f', ['G:', '|a@b', '|c@d', ';', '|e@f']],
  ['undisclosed-recipients:;', ['undisclosed-recipients:', ';']],
  ['"My Group": a@b;', ['My Group:', '|a@b', ';']],
  ['a: b: c@d;', ['a:', '|b:c@d', ';']],
  ['a @ b . c', ['|a@b.c']],
  ['a@[127.0.0.1]', ['|a@[127.0.0.1]']],
  ['a', ['|a@']],
  ['<>', ['|@']],
  ['<a@b', ['|a@b']],
  ['A <a@b, c@d', ['A|a@b', '|c@d']],
  ['a@b; c@d', ['|a@b', '|c@d']],
  ['a@b c@d', ['|a@bc@d']],
  ['a@b@c', ['|a@b@c']],
  ['=?utf-8?Q?a,_b?= <c@d>', ['=?utf-8?Q?a,_b?=|c@d']],
  ['"open <a@b>', ['|open <a@b>@']],
  ['(open a@b', []],
  [',,,', []],
  ['A <a@b> B', ['A|a@b']],
  ['<a@b> B', ['B|a@b']],
  ['J. R. Ewing <j@d>', ['J. R. Ewing|j@d']],
  ['\ta@b\r\n ,\r\n\tc@d', ['|a@b', '|c@d']],
  [') a@b', ['|)a@b']],
];

test.each(TABLE)('%j', (text, members) => {
  expect(shown(text)).toEqual(members);
});

test.each(TABLE)('%j is read alone as before a comma', (text) => {
  if (/^[^"(]*$/.test(text)) expect(shown(text)).toEqual(shown(`${text},`));
});

test('a limit ends the list', () => {
  expect(parseAddressList('a@b,'.repeat(100), 7)).toHaveLength(7);
});

import { describe, expect, test } from 'vitest';
import { parseFetch } from '../../../mail/imap/fetch/parse.ts';
import { parseSearch } from '../../../mail/imap/search/parse.ts';
import { Decoder } from '../../../mail/imap/wire/decoder.ts';
import { ImapSyntaxError } from '../../../mail/imap/wire/syntax-error.ts';
import * as fc from '../../support/fast-check.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

const decoder = (text: string, options = {}): Decoder => new Decoder(Buffer.from(text, 'latin1'), options);

type Read = (d: Decoder) => unknown;
const utf8 = (text: string): string => Buffer.from(text).toString('latin1');

const GOOD: Record<string, [Read, Array<[string, unknown]>]> = {
  tag: [(d) => d.tag(), [['a1', 'a1'], ['A.1-x]', 'A.1-x]']]],
  atom: [(d) => d.atom(), [['INBOX', 'INBOX'], ['$Label1', '$Label1'], ['a+b', 'a+b'], ['NIL', 'NIL']]],
  word: [(d) => d.word(), [['uid', 'UID']]],
  name: [(d) => d.name(), [['body.peek', 'BODY.PEEK'], ['rfc822', 'RFC822']]],
  astring: [
    (d) => d.astring(),
    [
      ['me', 'me'], ['a]b', 'a]b'], ['""', ''], ['"a b"', 'a b'], ['"a\\"b\\\\c"', 'a"b\\c'], ['{3}\r\na\nb', 'a\nb'], ['{0}\r\n', ''],
      ['{2+}\r\n""', '""'], [utf8('"pässwörd"'), 'pässwörd'], [utf8('naïve'), 'naïve'], ['"caf\xe9"', 'café'], ['NIL', 'NIL'],
    ],
  ],
  nstring: [(d) => d.nstring(), [['NIL', null], ['nil', null], ['"x"', 'x'], ['{1}\r\ny', 'y']]],
  literal: [(d) => d.literal().toString('latin1'), [['{3}\r\nabc', 'abc'], ['~{2+}\r\n\0x', '\0x'], ['{1}\nx', 'x']]],
  number: [(d) => d.number(), [['0', 0], ['007', 7], ['4294967295', 4294967295]]],
  nzNumber: [(d) => d.nzNumber(), [['1', 1]]],
  number64: [(d) => d.number64(), [['9007199254740991', 9007199254740991]]],
  list: [(d) => d.list((d) => d.atom()), [['()', []], ['(a)', ['a']], ['(a b c)', ['a', 'b', 'c']]]],
  flag: [(d) => d.flag(), [['\\Seen', '\\Seen'], ['$Junk', '$Junk']]],
  flagList: [
    (d) => d.flagList(),
    [
      ['()', { bits: 0, keywords: [] }],
      ['(\\Seen \\DELETED \\recent)', { bits: 17, keywords: [] }],
      ['(\\Answered \\Flagged \\Draft Work work WORK $x)', { bits: 14, keywords: ['Work', '$x'] }],
    ],
  ],
  flags: [(d) => d.flags(), [['\\Seen x', { bits: 1, keywords: ['x'] }], ['(\\Seen)', { bits: 1, keywords: [] }], ['\\Seen  ', { bits: 1, keywords: [] }]]],
  sequenceSet: [
    (d) => d.sequenceSet(),
    [
      ['1', [{ from: 1, to: 1 }]],
      ['*', [{ from: 0, to: 0 }]],
      ['4:1,7,9:*,*:2', [{ from: 4, to: 1 }, { from: 7, to: 7 }, { from: 9, to: 0 }, { from: 0, to: 2 }]],
      ['1:4294967295', [{ from: 1, to: 4294967295 }]],
    ],
  ],
  mailbox: [
    (d) => d.mailbox(),
    [
      ['inbox', 'INBOX'], ['Inbox/Sub', 'INBOX/Sub'], ['inboxes', 'inboxes'], ['a/inbox', 'a/inbox'], ['"My box"', 'My box'],
      ['foo/', 'foo'], ['Entw&APw-rfe', 'Entwürfe'], ['a&-b', 'a&b'], ['"a & b"', 'a & b'], ['&2D3eAA-', '😀'], [utf8('"Entwürfe"'), 'Entwürfe'],
      [utf8('{9}\r\nEntwürfe'), 'Entwürfe'], ['&AOkBAQ-', 'éā'], [utf8('"e\u0301"'), 'é'], ['a.b', 'a.b'], ['a]', 'a]'],
    ],
  ],
  reference: [(d) => d.reference(), [['""', ''], ['foo/', 'foo/']]],
  listMailbox: [
    (d) => d.listMailbox(),
    [['*', '*'], ['%', '%'], ['""', ''], ['INBOX/%', 'INBOX/%'], ['"a b*"', 'a b*'], ['Entw&APw-*', 'Entwü*'], ['{2}\r\n%%', '%%']],
  ],
  dateTime: [
    (d) => d.dateTime(),
    [
      ['"17-Jul-1996 02:44:25 -0700"', Date.UTC(1996, 6, 17, 9, 44, 25)],
      ['" 1-Jan-2026 00:00:00 +0530"', Date.UTC(2025, 11, 31, 18, 30)],
      ['"01-feb-2024 23:59:60 +0000"', Date.UTC(2024, 1, 2)],
      ['"29-Feb-2024 00:00:00 +0000"', Date.UTC(2024, 1, 29)],
    ],
  ],
  date: [
    (d) => d.date(),
    [['1-Jan-1970', 0], ['"2-Jan-1970"', 1], ['31-Dec-1969', -1], ['29-feb-2024', 19782], ['1-Jan-0001', -719162]],
  ],
}; // prettier-ignore

const BAD: Record<string, [Read, string[]]> = {
  tag: [(d) => d.tag(), ['', '+', '(', '"x"', '\r']],
  atom: [(d) => d.atom(), ['', '(', '"x"', '{1}\r\nx', '\\Seen', ')', ' ']],
  astring: [
    (d) => d.astring(),
    [
      '', '(', '"', '"x', '"x\\', '"x\\y"', '"a\r\nb"', '"a\0b"', '{3}\r\nab', '{3}', '{}\r\n', '{3}abc', '{-1}\r\n', '{1}\r\n\0', '~{1}\r\nx',
      '{99999999999999999999}\r\nx', '%',
    ],
  ],
  nstring: [(d) => d.nstring(), ['NILS', '', 'x', '(']],
  number: [(d) => d.number(), ['', 'x', '-1', '4294967296', '99999999999999999999']],
  nzNumber: [(d) => d.nzNumber(), ['0', '']],
  number64: [(d) => d.number64(), ['9007199254740993', '']],
  list: [(d) => d.list((d) => d.atom()), ['', '(', '(a', '(a  b)', '( a)', '(a )', 'a', '(a(b))']],
  flag: [(d) => d.flag(), ['', '\\', '\\*', '"x"', 'x'.repeat(256)]],
  flagList: [(d) => d.flagList(), ['(\\Foo)', '(\\*)', '\\Seen', '(\\Seen', '(\\__proto__)']],
  sequenceSet: [(d) => d.sequenceSet(), ['', '0', '1:0', ',1', '1,', '1:', ':1', '1,,2', '4294967296', '-1', '**x'.slice(2)]],
  mailbox: [
    (d) => d.mailbox(),
    ['', '""', '/', '/a', 'a//b', '"a\x01b"', '"a\x7f"', '{3}\r\na\r\n', 'x'.repeat(300), 'a/'.repeat(60), '"&AAo-"', utf8('"a\u0085"')],
  ],
  dateTime: [
    (d) => d.dateTime(),
    [
      '', '17-Jul-1996 02:44:25 -0700', '"17-Jul-1996"', '"32-Jul-1996 02:44:25 +0000"', '"30-Feb-2024 02:44:25 +0000"', '"1-Foo-1996 02:44:25 +0000"',
      '"1-Jul-1996 24:00:00 +0000"', '"1-Jul-1996 00:60:00 +0000"', '"1-Jul-1996 00:00:00 +00"', '"1-Jul-1996 00:00:00 GMT"', '"1-ulA-1996 00:00:00 +0000"',
    ],
  ],
  date: [(d) => d.date(), ['', '0-Jan-1970', '31-Apr-2024', '1-Jan-70', '1-Jan-1970 00:00', 'yesterday', '29-Feb-2023']],
}; // prettier-ignore

describe.each(Object.entries(GOOD))('%s', (_name, [read, cases]) => {
  test.each(cases)('%j', (text, value) => {
    const d = decoder(text);
    expect(read(d)).toEqual(value);
    d.end();
  });
});

describe.each(Object.entries(BAD))('not a %s', (_name, [read, cases]) => {
  test.each(cases)('%j', (text) => {
    expect(() => {
      const d = decoder(text);
      read(d);
      d.end();
    }).toThrow(ImapSyntaxError);
  });
});

describe('the decoder', () => {
  test('reads a command word by word', () => {
    const d = decoder('a1 UID MOVE 1:5,7 {5+}\r\nTrash');
    expect([d.tag(), d.sp().word(), d.sp().word()]).toEqual(['a1', 'UID', 'MOVE']);
    expect(d.sp().sequenceSet()).toHaveLength(2);
    expect(d.sp().mailbox()).toBe('Trash');
    expect(d.done).toBe(true);
    d.end();
  });

  test('looks ahead and takes what is there', () => {
    const d = decoder('return (x)');
    expect(d.ahead('RETURN (')).toBe(true);
    expect(d.maybe('FOO')).toBe(false);
    expect(d.maybe('RETURN ')).toBe(true);
    expect(() => d.expect(')')).toThrow(ImapSyntaxError);
    expect(d.expect('(').atom()).toBe('x');
  });

  test('forgives spaces at the end, and nothing else', () => {
    decoder('  ').end();
    expect(() => decoder(' x').end()).toThrow(ImapSyntaxError);
  });

  test('in UTF-8 mode an ampersand is an ampersand', () => {
    expect(decoder('"a & b"', { utf8: true }).mailbox()).toBe('a & b');
    expect(decoder('"&AOk-"', { utf8: true }).mailbox()).toBe('&AOk-');
    expect(decoder(utf8('"é"'), { utf8: true }).mailbox()).toBe('é');
  });

  test('opens one list at a time before login', () => {
    const nested = (d: Decoder): unknown => d.list((d) => d.list((d) => d.atom()));
    expect(nested(decoder('((a))'))).toEqual([['a']]);
    expect(() => nested(decoder('((a))', { lists: 1 }))).toThrow(ImapSyntaxError);
  });

  test('never says what was sent', () => {
    for (const text of ['"hunter2', '"hunter2\\x"', '{8}\r\nhunter2', '"hunter2\0"']) {
      expect(() => decoder(text).astring()).toThrow(
        expect.not.objectContaining({ reason: expect.stringContaining('hunter2') }),
      );
    }
  });

  test('whatever is sent is read or refused', () => {
    const reads: Read[] = [
      ...Object.values(GOOD).map(([read]) => read),
      (d) => parseFetch(d, false),
      (d) => parseSearch(d),
    ];
    const word = fc.constantFrom(
      'a', ' ', '(', ')', '"', '\\', '{1}\r\n', '{9+}\r\n', '~', '*', ':', ',', '1', '0', '&', 'AOk', '-', '/', '%', '\r\n', '\0', '\xe9', 'BODY', '[', ']',
      '<', '>', '.', 'HEADER.FIELDS', 'MIME', 'NOT ', 'OR ', 'SUBJECT ', 'UID ', 'CHARSET UTF-8 ', 'RETURN (', 'KEYWORD ', '1-Jan-2020', '"17-Jul-1996 02:44:25 -0700"',
    ); // prettier-ignore
    const run = (text: string): void => {
      for (const read of reads) {
        try {
          const d = decoder(text);
          read(d);
          d.end();
        } catch (error) {
          if (!(error instanceof ImapSyntaxError)) throw error;
        }
      }
    };
    fc.assert(
      fc.property(fc.array(word, { maxLength: 25 }), (words) => run(words.join(''))),
      { numRuns: 1500, seed: 3 },
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => run(text)),
      { numRuns: 500, seed: 4 },
    );
  });

  test.each([
    '(',
    '((',
    '"',
    '"\\',
    '\\',
    '1,',
    '1:*,',
    '{1}',
    '&',
    '&AOk-',
    'NOT ',
    'OR ',
    '(OR ',
    'BODY[',
    'x',
    '%',
    '*',
    ' ',
    '"a" ',
  ])('time grows with the length: %s', async (piece) => {
    const readAll = (length: number): void => {
      const bytes = Buffer.from(piece.repeat(length / piece.length), 'latin1');
      for (const read of [
        ...Object.values(GOOD).map(([read]) => read),
        (d: Decoder) => parseFetch(d, false),
        parseSearch,
      ]) {
        expect(() => read(new Decoder(bytes))).toSatisfy((run: () => void) => {
          try {
            run();
          } catch (error) {
            return error instanceof ImapSyntaxError;
          }
          return true;
        });
      }
    };
    expect(await growth(readAll, 200_000)).toBeLessThan(PROPORTIONAL);
  });
});

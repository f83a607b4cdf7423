import { expect, test } from 'vitest';
import { readContent } from '../../../mail/jmap/email/message-content.ts';
import { ReadBudget } from '../../../mail/jmap/email/header-values.ts';
import { readEmailSelection } from '../../../mail/jmap/email/email-selection.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { unpackParts } from '../../../mail/message/parts.ts';
import { readMessage } from '../../../mail/message/readable.ts';
import { headerTexts, partTexts } from '../../../mail/message/search-text.ts';
import { CHARSET_SAMPLES } from '../../support/charset-samples.ts';
import { Random } from '../../support/random.ts';

/** Labels of all that decoders know, by their families. */
const FAMILIES: readonly (readonly [prefix: string, numbers: string])[] = [
  ['iso-8859-', '0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 99'],
  ['windows-', '0 874 932 936 1250 1251 1252 1253 1254 1255 1256 1257 1258 1259 65001'],
  ['ibm', '037 437 500 850 852 855 858 866 1047'],
  ['cp', '437 850 866 932 936 949 950 1250 1251 1252 10000 65000 65001'],
  ['iso-2022-', 'jp jp-1 jp-2 jp-3 jp-ms kr cn cn-ext'],
  ['utf-', '1 5 6 7 7-imap 8 8-mac 9 16 16be 16le 18 32 32be 32le ebcdic'],
  ['cs', 'big5 euckr eucpkdfmtjapanese gb2312 ibm866 iso2022jp iso2022kr iso88596e isolatin1 koi8r shiftjis macintosh'],
  ['l', '1 2 3 4 5 6 9'],
  ['iso_8859-', '1 2 3 4 5 6 7 8 9 10 11 15 1:1987'],
  ['dos-', '437 720 737 775 850 852 855 857 862 866 874'],
  ['mac', 'roman cyrillic greek turkish ce icelandic japanese'],
  ['x-', 'user-defined mac-cyrillic mac-roman sjis gbk euc-jp big5 cp1252 unknown'],
];
const OTHERS =
  'koi8-r koi8-u koi7 big5 big5-hkscs gb2312 gbk gb18030 hz-gb-2312 euc-jp euc-kr euc-tw shift_jis ks_c_5601-1987 ' +
  'tis-620 viscii tcvn macintosh replacement unicode ucs-2 csunicode scsu bocu-1 cesu-8 ansi binary 8bit none null ' +
  "undefined __proto__ constructor toString hasOwnProperty charset=utf-8 utf-8' utf-8;x * ?? = -- 0 \xff \xe4 us-ascii";

const LABELS = [
  ...new Set([
    ...CHARSET_SAMPLES.map(([label]) => label),
    ...FAMILIES.flatMap(([prefix, numbers]) => numbers.split(' ').map((number) => prefix + number)),
    ...OTHERS.split(' '),
    'utf-8 ',
    ' utf-8',
    'UTF_8',
    'utf-8\t',
    'utf8utf8',
    'a'.repeat(70),
    'a'.repeat(5000),
    'utf-8\x00',
    '"utf-8',
    "utf-8''",
  ]),
];

/** Octets that begin things and do not end them, in the ways of several charsets. */
const GARBAGE = [
  '\x1b$B',
  '\x1b(J',
  '\x1b',
  '~{',
  '+',
  '+AOQ',
  '+2D0-',
  '\x81',
  '\xff\xfe',
  '\0',
  '\xf0\x9f',
  '\xed\xa0\x80',
  '\x0e',
  'word',
];

const WANTED = readEmailSelection(
  ['subject', 'from', 'preview', 'headers', 'header:Subject:asText', 'bodyStructure', 'bodyValues'],
  {
    bodyProperties: ['partId', 'name', 'charset', 'type'],
    fetchTextBodyValues: false,
    fetchHTMLBodyValues: false,
    fetchAllBodyValues: true,
    maxBodyValueBytes: 0,
  },
);

/** The garbage in every place that has a charset: the body, words of a header, the name of a file. */
function mail(charset: string, garbage: string): Buffer {
  const percent = Buffer.from(garbage, 'latin1').toString('hex').replace(/../g, '%$&');
  const word = `=?${charset}?B?${Buffer.from(garbage, 'latin1').toString('base64')}?=`;
  const part = `Content-Type: text/plain; charset="${charset}"\r\nContent-Disposition: attachment;\r\n filename*=${charset}''${percent}\r\n\r\n${garbage}\r\n`;
  const head = `From: ${word} <a@far.example>\r\nSubject: ${word} ${garbage}\r\n`;
  const type = `Content-Type: text/html; charset="${charset}"\r\n\r\n${garbage}\r\n`;
  return Buffer.from(
    `${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n${type}--b\r\n${part}--b--\r\n`,
    'latin1',
  );
}

async function everything(bytes: Buffer): Promise<unknown> {
  const { refs, ...index } = indexMessage(bytes);
  const parts = unpackParts(index.parts);
  const read = (at: number, length: number): Buffer => bytes.subarray(at, at + length);
  const source = {
    ...index,
    refs,
    trace: '',
    read: (at: number, n: number) => Promise.resolve(read(at, n)),
    partBlobId: String,
  };
  const jmap = await readContent(source, WANTED, new ReadBudget());
  return { index, jmap, webhook: readMessage(bytes, parts), search: [headerTexts(bytes), partTexts(read, parts)] };
}

test('there are 200 charsets, and names that are none', () => {
  expect(LABELS.length).toBeGreaterThanOrEqual(200);
});

test.each(LABELS.map((label) => [label.slice(0, 40), label]))(
  'garbage in %j is shown as Unicode by every door',
  async (_, label) => {
    const random = new Random(20_261_121);
    for (let round = 0; round < 10; round++) {
      const garbage = Array.from({ length: 1 + random.below(12) }, () =>
        random.chance(0.5) ? random.one(GARBAGE) : String.fromCharCode(32 + random.below(224)),
      ).join('');
      const seen = await everything(mail(label, garbage));
      const json = JSON.stringify(seen);
      // A half of a pair is written as an escape, and is no UTF-8.
      expect([garbage, /\\ud[89a-f]/i.test(json)]).toEqual([garbage, false]);
      expect(Buffer.from(json).toString()).toBe(json);
      expect(JSON.parse(json)).toEqual(seen);
    }
  },
);

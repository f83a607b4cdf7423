import { describe, expect, test } from 'vitest';
import { lackOf } from '../../../mail/imap/search/lacks-texts.ts';
import { bodyFacts, fieldTexts, headerFacts } from '../../../mail/imap/search/message-text.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { casemap } from '../../../mail/message/subject.ts';
import { seeded } from '../../support/imap-fuzz.ts';

const TEXT = casemap('zebrafinch');
const NAMES = ['From', 'To', 'cc', 'Sender', 'Reply-To', 'Subject', 'X-Any', 'From '];
const FIELDS = [...NAMES, 'Content-Type', 'Content-Transfer-Encoding', 'Received'].map((name) =>
  name.trim().toLowerCase(),
);

interface Searched {
  lacks: boolean;
  /** A search that decodes finds one of the texts. */
  found: boolean;
  /** So does one that decodes only headers that may have it. */
  foundInHeader: boolean;
  inHeader: boolean;
}

async function search(message: string, texts: readonly string[]): Promise<Searched> {
  const octets = Buffer.from(message, 'latin1');
  const { headerLength, parts } = indexMessage(octets);
  const lacks = lackOf(texts)?.({ text: message, headerLength }, { parts, traceLength: 0 }) ?? false;
  const header = message.slice(0, headerLength);
  const body = await bodyFacts(octets, { parts, offset: 0, texts });
  const decoded = [...fieldTexts(header, FIELDS).values()].flat();
  const inHeader = texts.some((text) => decoded.some((value) => value.includes(text)));
  const foundInHeader = texts.some((text) => headerFacts(header).anywhere(text));
  return { lacks, found: body.size > 0 || inHeader, foundInHeader, inHeader };
}

describe('a message that is proved to lack a text', () => {
  test.each([
    ['plain text', 'Subject: a\r\n\r\nzebra finch\r\n', true],
    ['a text in its header', 'Subject: a ZebraFinch\r\n\r\nx\r\n', false],
    ['a text in its body', 'Subject: a\r\n\r\nx zebraFINCHes\r\n', false],
    [
      'trace fields with comments',
      'Received: from a (b [192.0.2.1])\r\n by c; x\r\nFrom: "A B" <a@b.test>\r\n\r\nx\r\n',
      true,
    ],
    ['encoded words', 'Subject: =?utf-8?q?zebra?=\r\n =?utf-8?q?finch?=\r\n\r\nx\r\n', false],
    ['comments in an address', 'From: zebra(x)finch@b.test\r\n\r\nx\r\n', false],
    ['blanks in an address', 'From: zebra finch@b.test\r\n\r\nx\r\n', false],
    ['a transfer encoding', 'Content-Transfer-Encoding: quoted-printable\r\n\r\nzebra=\r\nfinch\r\n', false],
    ['HTML', 'Content-Type: text/html\r\n\r\nzebra<b>finch</b>\r\n', false],
    ['a charset of seven bits', 'Content-Type: text/plain; charset=utf-7\r\n\r\nzebra+AGY-inch\r\n', false],
    [
      'a file name in pieces',
      'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: image/png; name*0=zebra;\r\n name*1=finch\r\n\r\nx\r\n--b--\r\n',
      false,
    ],
    [
      'attachments',
      'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b\r\nContent-Type: image/png; name=a.png\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--b--\r\n',
      true,
    ],
  ])('%s', async (_, message, lacks) => {
    expect(await search(message, [TEXT])).toMatchObject({ lacks });
  });

  test('has none of several texts', async () => {
    const message = 'Subject: a\r\n\r\nzebra\r\n';
    expect(await search(message, [TEXT, casemap('finch')])).toMatchObject({ lacks: true });
    expect(await search(message, [TEXT, casemap('zebra')])).toMatchObject({ lacks: false });
  });

  test('has not the begin of a long word, or one of the first words of a long text', async () => {
    const message = `Subject: a\r\n\r\n${'x'.repeat(200)} b c d e\r\n`;
    const long = casemap('x'.repeat(100_000));
    expect(await search(message, [long])).toMatchObject({ lacks: false, found: false });
    expect(await search(message.slice(150), [long])).toMatchObject({ lacks: true });
    expect(await search(message, [casemap('b c d f '.repeat(1_000))])).toMatchObject({ lacks: true });
    expect(await search(message, [casemap('b c d e f')])).toMatchObject({ lacks: false, found: false });
  });

  test('nothing is proved of texts without letters', () => {
    expect(lackOf([casemap('--')])).toBeUndefined();
    expect(lackOf([TEXT, casemap('äß')])).toBeDefined();
    expect(lackOf([])).toBeUndefined();
  });
});

const BLANKS = ['', ' ', '\t', '\r\n ', '\r\n', '\0', '=\r\n', '=20', '=00', '%20', '&shy;', '&#173;'];
const MARKS = '"|""|" "|\\\\|(x)|()| () |<|>|<b>|</b>|<!-- -->|@| @ |.| . |,|;|:|[|]|*0*=|&|+|-|?='.split('|');
const CODES = [
  '=?utf-8?q?',
  '?= =?utf-8?q?',
  '=?utf-8?b?emVicmE=?=',
  '\x1b(B',
  '\x1b$B',
  '+AGY-',
  '~}',
  '<a@b.test>',
  'x',
];
const BETWEEN = [BLANKS, MARKS, CODES].flat();
const TYPES = [
  'text/plain',
  'text/html',
  'text/enriched',
  'message/rfc822',
  'message/delivery-status',
  'image/png',
  'multipart/mixed; boundary=b',
];
const CHARSETS = [
  '',
  '; charset=utf-8',
  '; charset=utf-7',
  '; charset=iso-2022-jp',
  '; charset=utf-16',
  '; charset=hz-gb-2312',
  '; charset=x-none',
];
const ENCODINGS = ['7bit', '8bit', 'binary', 'quoted-printable', 'base64', 'x-none'];

/** A message of halves of the text, and of what can stand between them. */
function oddMessage(random: (below: number) => number): string {
  const one = (from: readonly string[]): string => from[random(from.length)] ?? '';
  const words = (): string =>
    Array.from({ length: 1 + random(4) }, () => one(['zebra', 'finch']) + one(BETWEEN)).join('');
  const type = (): string => {
    const name = random(3) === 0 ? `;\r\n name${one(['', '*', '*0', '*0*'])}="${words()}"; name*1=${words()}` : '';
    return `Content-Type: ${one(TYPES)}${one(CHARSETS)}${name}\r\nContent-Transfer-Encoding: ${one(ENCODINGS)}\r\n`;
  };
  const fields = (): string => Array.from({ length: random(3) }, () => `${one(NAMES)}: ${words()}\r\n`).join('');
  const part = (): string => `--b\r\n${fields()}${random(2) === 0 ? type() : ''}\r\n${words()}\r\n`;
  const body = random(2) === 0 ? `${words()}\r\n` : `${part()}${part()}--b--\r\n`;
  return `${fields()}${random(3) > 0 ? type() : ''}\r\n${body}`;
}

test('what is proved to lack a text does not contain it when it is decoded', async () => {
  const random = seeded(20_261_201);
  const wrong: string[] = [];
  const counts = { lacks: 0, joined: 0 };
  for (let n = 0; n < 6_000; n++) {
    const message = oddMessage(random);
    const { lacks, found, foundInHeader, inHeader } = await search(message, [TEXT]);
    if ((lacks && found) || foundInHeader !== inHeader) wrong.push(message);
    counts.lacks += Number(lacks);
    counts.joined += Number(found && !message.toUpperCase().includes(TEXT));
  }
  expect(wrong).toEqual([]);
  expect(counts.lacks).toBeGreaterThan(300);
  expect(counts.joined).toBeGreaterThan(150);
});

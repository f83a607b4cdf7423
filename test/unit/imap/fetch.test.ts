import { describe, expect, test } from 'vitest';
import { indexMessage } from '../../../mail/message/indexer.ts';
import type { FetchRequest } from '../../../mail/imap/fetch/items.ts';
import { parseFetch, withItems } from '../../../mail/imap/fetch/parse.ts';
import { renderFetch, renderLine, type FetchedMessage } from '../../../mail/imap/fetch/render.ts';
import { Decoder } from '../../../mail/imap/wire/decoder.ts';
import { ImapSyntaxError } from '../../../mail/imap/wire/syntax-error.ts';

function parse(text: string, uid = false): FetchRequest {
  const d = new Decoder(Buffer.from(text, 'latin1'));
  const request = parseFetch(d, uid);
  d.end();
  return request;
}

const names = (request: FetchRequest): string[] =>
  request.items.map((item) => (item.kind === 'section' ? `${item.peek ? 'peek ' : ''}${item.name}` : item.kind));

describe('the items of FETCH', () => {
  test.each([
    ['FLAGS', ['flags'], 'view'],
    ['uid', ['uid'], 'view'],
    ['(FLAGS UID)', ['uid', 'flags'], 'view'],
    ['(FLAGS flags FLAGS)', ['flags'], 'view'],
    ['FAST', ['flags', 'internaldate', 'size'], 'row'],
    ['ALL', ['flags', 'internaldate', 'size', 'envelope'], 'structure'],
    ['full', ['flags', 'internaldate', 'size', 'envelope', 'body'], 'structure'],
    ['BODYSTRUCTURE', ['bodystructure'], 'structure'],
    ['BODY', ['body'], 'structure'],
    ['BODY[]', ['BODY[]'], 'content'],
    ['body.peek[]', ['peek BODY[]'], 'content'],
    ['RFC822', ['RFC822'], 'content'],
    ['RFC822.HEADER', ['peek RFC822.HEADER'], 'content'],
    ['RFC822.TEXT', ['RFC822.TEXT'], 'content'],
    ['BODY[1.2.mime]', ['BODY[1.2.MIME]'], 'content'],
    ['BODY[3]', ['BODY[3]'], 'content'],
    ['BODY[TEXT]<5.10>', ['BODY[TEXT]<5>'], 'content'],
    ['(BODY[]<0.5> BODY[]<0.5> BODY[]<0.6>)', ['BODY[]<0>', 'BODY[]<0>'], 'content'],
    ['BODY.PEEK[header.fields (From "To" {2+}\r\nCc)]', ['peek BODY[HEADER.FIELDS (From To Cc)]'], 'content'],
    ['BODY[1.HEADER.FIELDS.NOT ("X-A%")]', ['BODY[1.HEADER.FIELDS.NOT ("X-A%")]'], 'content'],
  ] as Array<[string, string[], string]>)('%s', (text, items, reads) => {
    const request = parse(text);
    expect(names(request)).toEqual(items);
    expect(request.reads).toBe(reads);
  });

  test.each([
    '', '()', '(ALL)', '(FLAGS FAST)', 'FOO', 'BODY.PEEK', 'BODY[', 'BODY[]]', 'BODY[]<0.0>', 'BODY[]<1>', 'BODY[]<-1.2>', 'BODY[0]',
    'BODY[01]', 'BODY[1.]', 'BODY[.1]', 'BODY[1..2]', 'BODY[MIME]', 'BODY[HEADER.1]', 'BODY[1.FOO]', 'BODY[HEADER.FIELDS]',
    'BODY[HEADER.FIELDS ()]', 'BODY[HEADER.FIELDS ("a b")]', 'BODY[HEADER.FIELDS ("a\u00e9")]', 'BODY[constructor]', '(FLAGS UID', 'FLAGS UID',
    'toString', 'RFC822.PEEK', 'BODYSTRUCTURE[]', 'BODY[]<0.99999999999>', 'BODY[99999999999]', '(FLAGS  UID)',])('refused: %s', (text) => {
    expect(() => parse(text)).toThrow(ImapSyntaxError);
  }); // prettier-ignore

  test('an unreasonable number of items is refused', () => {
    const many = Array.from({ length: 300 }, (_, i) => `BODY[]<${i}.1>`).join(' ');
    expect(() => parse(`(${many})`)).toThrow(ImapSyntaxError);
  });

  test.each([
    ['BODY[]', true],
    ['RFC822', true],
    ['RFC822.TEXT', true],
    ['(BODY.PEEK[] BODY[1])', true],
    ['BODY.PEEK[]', false],
    ['RFC822.HEADER', false],
    ['BODY', false],
    ['FULL', false],
  ])('%s sets \\Seen: %s', (text, sets) => {
    expect(parse(text).setsSeen).toBe(sets);
  });

  test('UID FETCH answers the UID first, whether asked for or not', () => {
    expect(names(parse('(FLAGS BODY[])', true))).toEqual(['uid', 'flags', 'BODY[]']);
    expect(names(parse('(FLAGS UID)', true))).toEqual(['uid', 'flags']);
    expect(names(withItems(parse('BODY[]', true), 'flags'))).toEqual(['uid', 'BODY[]', 'flags']);
  });
});

const TRACE = 'Return-Path: <a@b.example>\r\n';
const MAIL = Buffer.from(
  [
    'From: A <a@b.example>', 'Subject: One', ' two', 'Content-Type: multipart/mixed; boundary=x', '', 'prolog', '--x',
    'Content-Type: text/plain', '', 'hello', '--x', 'Content-Type: message/rfc822', '', 'Subject: inner', '', 'inside', '--x--', '',
  ].join('\r\n'),
); // prettier-ignore

function message(mail: Buffer = MAIL, stored: Buffer = mail): FetchedMessage {
  const { envelope, bodyStructure, parts, headerLength } = indexMessage(mail);
  const octets = Buffer.concat([Buffer.from(TRACE, 'latin1'), stored]);
  return {
    head: '* 3 FETCH (',
    modseq: 9,
    uid: 7,
    flags: '(\\Seen work)',
    row: {
      uid: 7,
      emailId: 1,
      threadId: 1,
      size: TRACE.length + mail.length,
      receivedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
      savedAt: null,
      structure: { envelope, bodyStructure, parts, headerLength },
      content: { trace: TRACE, blob: 1, length: mail.length, redactedFrom: null },
    },
    bytes: (start, length) => Promise.resolve(octets.subarray(start, start + length)),
  };
}

async function render(items: string, of: FetchedMessage, uid = false): Promise<string> {
  let text = '';
  for await (const piece of renderFetch(parse(items, uid), of)) {
    expect(piece.length).toBeLessThanOrEqual(256 * 1024);
    text += typeof piece === 'string' ? piece : piece.toString('latin1');
  }
  return text;
}

const lit = (text: string): string => `{${text.length}}\r\n${text}`;
const HEADER = 'From: A <a@b.example>\r\nSubject: One\r\n two\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n';

describe('the answer to FETCH', () => {
  test.each([
    ['(UID FLAGS)', 'UID 7 FLAGS (\\Seen work)'],
    ['FAST', `FLAGS (\\Seen work) INTERNALDATE " 2-Jan-2026 03:04:05 +0000" RFC822.SIZE ${TRACE.length + MAIL.length}`],
  ])('%s in one line', (items, answer) => {
    expect(renderLine(parse(items), message())).toBe(`* 3 FETCH (${answer})\r\n`);
  });

  test('structure comes as it is stored', () => {
    const of = message();
    const { envelope, bodyStructure } = of.row?.structure ?? { envelope: '', bodyStructure: '' };
    const line = renderLine(parse('(ENVELOPE BODYSTRUCTURE BODY)'), of);
    expect(line).toContain(`ENVELOPE ${envelope} BODYSTRUCTURE ${bodyStructure} BODY ((`);
    expect(line).not.toContain('""');
  });

  test.each([
    ['BODY[]', lit(TRACE + MAIL.toString('latin1'))],
    ['BODY[HEADER]', lit(TRACE + HEADER)],
    ['RFC822.HEADER', lit(TRACE + HEADER)],
    ['BODY[TEXT]', lit(MAIL.toString('latin1').slice(HEADER.length))],
    ['BODY[HEADER.FIELDS (subject Return-Path X)]', lit(`${TRACE}Subject: One\r\n two\r\n\r\n`)],
    ['BODY[HEADER.FIELDS.NOT (Return-Path subject Content-Type)]', lit('From: A <a@b.example>\r\n\r\n')],
    ['BODY[HEADER.FIELDS (X)]', lit('\r\n')],
    ['BODY[HEADER.FIELDS (X)]<2.5>', '""'],
    ['BODY[1]', lit('hello')],
    ['BODY[1.MIME]', lit('Content-Type: text/plain\r\n\r\n')],
    ['BODY[1.TEXT]', 'NIL'],
    ['BODY[1.HEADER]', 'NIL'],
    ['BODY[2]', lit('Subject: inner\r\n\r\ninside')],
    ['BODY[2.HEADER]', lit('Subject: inner\r\n\r\n')],
    ['BODY[2.HEADER.FIELDS (SUBJECT)]', lit('Subject: inner\r\n\r\n')],
    ['BODY[2.TEXT]', lit('inside')],
    ['BODY[2.1]', lit('inside')],
    ['BODY[9]', 'NIL'],
    ['BODY[9]<0.5>', 'NIL'],
    ['BODY[]<0.7>', lit('Return-')],
    ['BODY[]<26.4>', lit('\r\nFr')],
    ['BODY[TEXT]<0.6>', lit('prolog')],
    ['BODY[1]<3.100>', lit('lo')],
    ['BODY[1]<5.1>', '""'],
    ['BODY[]<4294967295.4294967295>', '""'],
  ])('%s', async (items, answer) => {
    const name = items.replace(/\.\d+>$/, '>');
    expect(await render(items, message())).toBe(`* 3 FETCH (${name} ${answer})\r\n`);
  });

  test('several items, the UID first', async () => {
    expect(await render('(BODY.PEEK[1] FLAGS)', message(), true)).toBe(
      `* 3 FETCH (UID 7 BODY[1] ${lit('hello')} FLAGS (\\Seen work))\r\n`,
    );
  });

  test('a message of one part', async () => {
    const mail = Buffer.from('Subject: x\r\n\r\nhello\r\n');
    expect(await render('BODY[1]', message(mail))).toContain(lit('hello\r\n'));
    expect(await render('BODY[1.MIME]', message(mail))).toContain(lit('Subject: x\r\n\r\n'));
    expect(await render('BODY[2]', message(mail))).toContain('NIL');
  });

  test('nothing but a header, and nothing at all', async () => {
    expect(await render('BODY[TEXT]', message(Buffer.from('Subject: x\r\n')))).toContain('BODY[TEXT] ""');
    expect(await render('BODY[1]', message(Buffer.alloc(0)))).toMatch(/BODY\[1\] (""|NIL)\)/);
    expect(await render('BODY[]', message(Buffer.alloc(0)))).toContain(lit(TRACE));
  });

  test('what is in the message cannot end the literal', async () => {
    const mail = Buffer.from('Subject: x\r\n\r\n)\r\na1 OK done\r\n* 1 EXISTS\r\n');
    expect(await render('(BODY[] UID)', message(mail))).toBe(
      `* 3 FETCH (UID 7 BODY[] ${lit(TRACE + mail.toString())})\r\n`,
    );
  });

  test('a large message comes in pieces', async () => {
    const mail = Buffer.concat([Buffer.from('Subject: x\r\n\r\n'), Buffer.alloc(1_000_000, 'y')]);
    const text = await render('BODY[]', message(mail));
    expect(text).toBe(`* 3 FETCH (BODY[] ${lit(TRACE + mail.toString('latin1'))})\r\n`);
  });

  test.each([
    ['its end is seen at once: what is there is announced', 20_000, 10_000, TRACE.length + 10_000],
    ['its end is seen too late: filled up', 600_000, 300_000, TRACE.length + 600_000],
    ['nothing is left of it', 600_000, 0, TRACE.length],
  ])('a damaged blob, %s', async (_what, promised, there, announced) => {
    const mail = Buffer.concat([Buffer.from('Subject: x\r\n\r\n'), Buffer.alloc(promised - 14, 'y')]);
    const short: number[] = [];
    const of = { ...message(mail, mail.subarray(0, there)), onShort: (a: number, b: number) => short.push(a - b) };
    const text = await render('(BODY[] FLAGS)', of);
    expect(text.slice(0, 60)).toContain(`{${announced}}\r\n`);
    expect(text.slice(text.indexOf('\r\n') + 2 + announced)).toBe(' FLAGS (\\Seen work))\r\n');
    expect(short).toEqual([promised - there]);
  });

  test('more octets than asked for are not let through', async () => {
    const of = { ...message(), bytes: (start: number) => Promise.resolve(Buffer.from(TRACE).subarray(start)) };
    expect(await render('BODY[]<0.3>', of)).toBe('* 3 FETCH (BODY[]<0> {3}\r\nRet)\r\n');
  });
});

import { expect, test } from 'vitest';
import { LineCleaner } from '../../../mail/relay/line-cleaner.ts';
import { prepareMessage, type PreparedMessage } from '../../../mail/relay/prepare-message.ts';
import { testKeys, verifyAll } from '../../support/dkim.ts';
import * as fc from '../../support/fast-check.ts';

function source(chunks: readonly string[]): () => AsyncIterable<Buffer> {
  return async function* () {
    for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk, 'latin1'));
  };
}

async function read(prepared: PreparedMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of prepared.chunks()) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

const HEADER = 'From: me@box.test\r\nSubject: x\r\n';

test.each([
  ['usual', [`${HEADER}\r\nHello\r\n`], HEADER],
  ['cut at the end of the header', [`${HEADER}\r`, '\nHello\r\n'], HEADER],
  ['octet by octet', `${HEADER}\r\nHello\r\n`.split(''), HEADER],
  ['a header alone', [HEADER], HEADER],
  ['a header and its empty line', [`${HEADER}\r\n`], HEADER],
  ['a body alone', ['\r\nHello\r\n'], ''],
  ['a body alone, in pieces', ['\r', '\n', 'Hello\r\n'], ''],
  ['nothing', [], ''],
  ['empty chunks', ['', HEADER, '', '\r\nHello\r\n', ''], HEADER],
  ['no line end at all', ['From: me@box.test'], 'From: me@box.test'],
  ['bare line ends', ['From: me@box.test\nSubject: x\r\rHel\0lo\n'], HEADER],
  ['a large body', [`${HEADER}\r\n`, ...Array<string>(100).fill('x'.repeat(6000))], HEADER],
])('%s', async (_name, chunks, header) => {
  const prepared = await prepareMessage(source(chunks), testKeys, false, 0);
  const message = await read(prepared);
  expect(prepared.header.toString('latin1')).toBe(header);
  expect(message).toHaveLength(prepared.size);
  expect(message.toString('latin1')).not.toMatch(/\r(?!\n)|(?<!\r)\n|\0/);
  if (header.endsWith('\n')) expect(verifyAll(message, testKeys)).toEqual(['pass', 'pass']);
});

test('however the message comes in pieces, what leaves is the same and verifies', async () => {
  const piece = fc.constantFrom(
    'From: a@box.test\r\n',
    '\r\n',
    '\r',
    '\n',
    'x',
    '.',
    ' \t',
    '\0',
    'To: b\r\n',
    'y'.repeat(999),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 12 }),
      fc.array(fc.nat(60), { maxLength: 6 }),
      async (pieces, cuts) => {
        const text = `From: me@box.test\r\n${pieces.join('')}`;
        const at = [0, ...cuts.sort((a, b) => a - b), text.length];
        const chunks = at.slice(1).map((end, n) => text.slice(at[n], end));
        const [one, many] = await Promise.all(
          [[text], chunks].map((c) => prepareMessage(source(c), testKeys.slice(1), false, 0)),
        );
        const message = await read(many as PreparedMessage);
        expect(message.equals(await read(one as PreparedMessage))).toBe(true);
        if (message.includes('\r\n\r\n')) expect(verifyAll(message, testKeys.slice(1))).toEqual(['pass']);
      },
    ),
    { numRuns: 200, seed: 11 },
  );
});

test.each([
  ['plain', 'x', false, false, false],
  ['8-bit body', '\xff', false, true, false],
  ['8-bit body of a UTF-8 sender', '\xff', true, true, false],
])('%s', async (_name, body, utf8, eightBit, utf8Header) => {
  expect(await prepareMessage(source([`${HEADER}\r\n${body}\r\n`]), [], utf8, 0)).toMatchObject({
    eightBit,
    utf8Header,
  });
});

test('a UTF-8 header needs SMTPUTF8 only where the sender asked for it', async () => {
  const chunks = ['Subject: \xc3\xa4\r\n\r\nx\r\n'];
  expect(await prepareMessage(source(chunks), [], true, 0)).toMatchObject({ utf8Header: true });
  expect(await prepareMessage(source(chunks), [], false, 0)).toMatchObject({ utf8Header: false, eightBit: true });
});

test('a header without end is not taken for one', async () => {
  const chunks = ['From: me@box.test\r\n', ...Array<string>(200).fill(`X: ${'y'.repeat(9000)}\r\n`)];
  const prepared = await prepareMessage(source(chunks), testKeys, false, 0);
  expect(prepared.header).toHaveLength(1024 * 1024);
  expect(prepared.size).toBe(chunks.join('').length);
});

test('a message that cannot be read rejects', async () => {
  const broken = async function* (): AsyncIterable<Buffer> {
    yield await Promise.resolve(Buffer.from(HEADER));
    throw new Error('disk');
  };
  await expect(prepareMessage(broken, testKeys, false, 0)).rejects.toThrow('disk');
});

test.each([
  [['a\r\nb\r\n'], 'a\r\nb\r\n'],
  [['a\nb\r'], 'a\r\nb\r\n'],
  [['a\r', '\nb'], 'a\r\nb'],
  [['a\r', 'b'], 'a\r\nb'],
  [['a\r\r\nb'], 'a\r\n\r\nb'],
  [['\n.\n'], '\r\n.\r\n'],
  [['a\0b'], 'a b'],
])('%j is cleaned to %j', (chunks, expected) => {
  const cleaner = new LineCleaner();
  const out = [...chunks.map((chunk) => cleaner.push(Buffer.from(chunk)).toString()), cleaner.end().toString()];
  expect(out.join('')).toBe(expected);
});

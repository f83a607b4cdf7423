import { describe, expect, test } from 'vitest';
import { parseFetch } from '../../../mail/imap/fetch/parse.ts';
import { writeRead } from '../../../mail/imap/fetch/render-read.ts';
import { renderFetch, type FetchedMessage } from '../../../mail/imap/fetch/render.ts';
import { searchMailbox } from '../../../mail/imap/search/evaluate.ts';
import { parseSearch } from '../../../mail/imap/search/parse.ts';
import { Decoder } from '../../../mail/imap/wire/decoder.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { corpus, type Sample } from '../../support/corpus.ts';
import * as fc from '../../support/fast-check.ts';

const TRACE = Buffer.from('Return-Path: <a@b.example>\r\n');
const SAMPLES = corpus();

/** Requests that a message in memory answers. */
const READ_AHEAD = [
  '(UID FLAGS BODY.PEEK[])',
  '(BODY.PEEK[HEADER] BODY.PEEK[TEXT])',
  'BODY.PEEK[HEADER.FIELDS (SUBJECT FROM)]',
  'BODY.PEEK[HEADER.FIELDS.NOT (RECEIVED)]<5.300>',
  '(ENVELOPE BODY.PEEK[1] BODY.PEEK[1.MIME] BODY.PEEK[2.1])',
  '(BODY.PEEK[]<0.10> BODY.PEEK[]<20.50> BODY.PEEK[]<100000000.1>)',
  'RFC822',
];

function message({ bytes }: Sample): FetchedMessage {
  const { envelope, bodyStructure, parts, headerLength } = indexMessage(bytes);
  const whole = Buffer.concat([TRACE, bytes]);
  return {
    head: '* 1 FETCH (',
    modseq: 1,
    uid: 1,
    flags: '()',
    row: {
      uid: 1,
      emailId: 1,
      threadId: 1,
      size: whole.length,
      receivedAt: 0,
      savedAt: null,
      structure: { envelope, bodyStructure, parts, headerLength },
      content: { trace: TRACE.toString('latin1'), blob: 1, length: bytes.length, redactedFrom: null },
    },
    bytes: (start, length) => Promise.resolve(whole.subarray(start, start + length)),
  };
}

async function render(items: string, of: FetchedMessage): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of renderFetch(parseFetch(new Decoder(Buffer.from(items)), false), of)) {
    pieces.push(typeof piece === 'string' ? piece : piece.toString('latin1'));
  }
  return pieces.join('');
}

/** The response of a message whose first octets were read before; undefined: they do not suffice. */
function renderRead(items: string, of: FetchedMessage, blob: Buffer): string | undefined {
  const pieces: string[] = [];
  const request = parseFetch(new Decoder(Buffer.from(items)), false);
  const isWritten = writeRead({ request, message: of }, blob, (piece) => {
    pieces.push(typeof piece === 'string' ? piece : piece.toString('latin1'));
  });
  expect(isWritten || pieces.length === 0).toBe(true);
  return isWritten ? pieces.join('') : undefined;
}

/** Octets of the one literal or empty string in an answer. */
function content(answer: string): string {
  const [, size = '0'] = /^\* 1 FETCH \([^\n]*\{(\d+)\}\r\n/.exec(answer) ?? [];
  const start = answer.indexOf('\r\n') + 2;
  return answer.slice(start, start + Number(size));
}

describe('real-world messages', () => {
  test.each(SAMPLES.map((sample) => [sample.name, sample] as const))('%s comes back whole', async (_name, sample) => {
    const of = message(sample);
    const whole = TRACE.toString('latin1') + sample.bytes.toString('latin1');
    const body = await render('BODY.PEEK[]', of);
    expect(body).toBe(`* 1 FETCH (BODY[] {${whole.length}}\r\n${whole})\r\n`);
    const header = content(await render('BODY.PEEK[HEADER]', of));
    expect(header + content(await render('BODY.PEEK[TEXT]', of))).toBe(whole);
    const every = content(await render('BODY.PEEK[HEADER.FIELDS.NOT (X-NOT-THERE)]', of));
    expect(every.startsWith(TRACE.toString('latin1'))).toBe(true);
    expect(every.endsWith('\r\n')).toBe(true);
  });

  test.each(SAMPLES.map((sample) => [sample.name, sample] as const))(
    '%s is the same when it was read ahead',
    async (_name, sample) => {
      const of = message(sample);
      for (const items of READ_AHEAD) expect(renderRead(items, of, sample.bytes)).toBe(await render(items, of));
      const { headerLength } = indexMessage(sample.bytes);
      const header = sample.bytes.subarray(0, headerLength);
      expect(renderRead('BODY.PEEK[HEADER]', of, header)).toBe(await render('BODY.PEEK[HEADER]', of));
      if (sample.bytes.length > 0)
        expect(renderRead('(UID BODY.PEEK[])', of, sample.bytes.subarray(0, -1))).toBe(undefined);
    },
  );

  test.each(SAMPLES.map((sample) => [sample.name, sample] as const))('%s can be searched', async (_name, sample) => {
    const { sentDay, parts, size } = indexMessage(sample.bytes);
    const row = { uid: 1, size, receivedAt: 0, sentDay, parts, traceLength: 0 };
    const view = { uids: Uint32Array.of(1), length: 1, bits: () => 0, flagNames: () => [] };
    const source = {
      facts: () => [row],
      rows: () => [row],
      header: () => sample.bytes.toString('latin1'),
      whole: () => sample.bytes,
    };
    const run = async (text: string): Promise<unknown> => {
      const command = parseSearch(new Decoder(Buffer.from(text)));
      return command.kind === 'search' && searchMailbox(command.program, view, source);
    };
    expect(await run('OR TEXT zqxjzqxj NOT TEXT zqxjzqxj')).toEqual({ kind: 'found', uids: Uint32Array.of(1) });
  });

  test('any piece of any section is that piece', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...SAMPLES),
        fc.constantFrom('', 'HEADER', 'TEXT', '1', '1.MIME', '2', '1.1', 'HEADER.FIELDS (SUBJECT)'),
        fc.nat({ max: 3000 }),
        fc.integer({ min: 1, max: 3000 }),
        async (sample, section, offset, length) => {
          const of = message(sample);
          const whole = await render(`BODY.PEEK[${section}]`, of);
          const piece = await render(`BODY.PEEK[${section}]<${offset}.${length}>`, of);
          expect(content(piece)).toBe(content(whole).slice(offset, offset + length));
          expect(piece).toContain(`BODY[${section}]<${offset}> `);
          expect(piece.endsWith(whole.endsWith('NIL)\r\n') ? 'NIL)\r\n' : ')\r\n')).toBe(true);
        },
      ),
      { numRuns: 400, seed: 5 },
    );
  });
});

import { describe, expect, test } from 'vitest';
import { MAX_DECODED_AT_ONCE } from '../../../mail/imap/fetch/binary.ts';
import { parseFetch } from '../../../mail/imap/fetch/parse.ts';
import { renderFetch, type FetchedMessage } from '../../../mail/imap/fetch/render.ts';
import { Decoder } from '../../../mail/imap/wire/decoder.ts';
import { decodeTransfer } from '../../../mail/message/decode.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { unpackParts } from '../../../mail/message/parts.ts';
import { corpus } from '../../support/corpus.ts';
import * as fc from '../../support/fast-check.ts';

const TRACE = 'Return-Path: <a@b.example>\r\n';

/** `parts`: the stored part table, if it is not the one of the indexer. */
function message(mail: Buffer, { parts = indexMessage(mail).parts, stored = mail } = {}): FetchedMessage {
  const { envelope, bodyStructure, headerLength } = indexMessage(mail);
  const octets = Buffer.concat([Buffer.from(TRACE), stored]);
  return {
    head: '* 1 FETCH (',
    modseq: 1,
    uid: 1,
    flags: '()',
    row: {
      uid: 1,
      emailId: 1,
      threadId: 1,
      size: TRACE.length + mail.length,
      receivedAt: 0,
      savedAt: null,
      structure: { envelope, bodyStructure, parts, headerLength },
      content: { trace: TRACE, blob: 1, length: mail.length, redactedFrom: null },
    },
    bytes: (start, length) => Promise.resolve(octets.subarray(start, start + length)),
  };
}

async function render(items: string, of: FetchedMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of renderFetch(parseFetch(new Decoder(Buffer.from(items)), false), of)) {
    expect(piece.length).toBeLessThanOrEqual(MAX_DECODED_AT_ONCE);
    pieces.push(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece);
  }
  return Buffer.concat(pieces);
}

/** The literal8 or empty string of a response with one item, of which every octet is accounted for. */
function literal8(response: Buffer): Buffer {
  const head = /^\* 1 FETCH \([^ ]+ (?:""|~\{(\d+)\}\r\n)/.exec(response.toString('latin1', 0, 200));
  if (head === null) throw new Error(`no literal8: ${response.toString('latin1', 0, 200)}`);
  const end = head[0].length + Number(head[1] ?? 0);
  expect(response.toString('latin1', end)).toBe(')\r\n');
  return response.subarray(head[0].length, end);
}

const base64Mail = (octets: Buffer): Buffer =>
  Buffer.from(
    `Content-Type: image/x\r\nContent-Transfer-Encoding: base64\r\n\r\n${octets.toString('base64').replace(/.{76}/g, '$&\r\n')}\r\n`,
  );

describe('FETCH BINARY', () => {
  const large = Buffer.alloc(2 * MAX_DECODED_AT_ONCE + 5, 'abc\0defg');

  test('a large part is decoded as a stream, whole and in ranges', async () => {
    const of = message(base64Mail(large));
    expect(literal8(await render('BINARY.PEEK[1]', of)).equals(large)).toBe(true);
    for (const [offset, length] of [[0, 1], [7, 300_000], [1_500_000, 10], [large.length - 3, 100], [large.length, 5]] as const) {
      const range = literal8(await render(`BINARY.PEEK[1]<${offset}.${length}>`, of));
      expect(range.equals(large.subarray(offset, offset + length))).toBe(true);
    }
    expect((await render('BINARY.SIZE[1]', of)).toString()).toBe(`* 1 FETCH (BINARY.SIZE[1] ${large.length})\r\n`);
  }); // prettier-ignore

  test('the size of a part that was only estimated when it was stored is counted', async () => {
    const mail = base64Mail(large);
    const rows = JSON.parse(indexMessage(mail).parts) as unknown[][];
    const of = message(mail, { parts: JSON.stringify(rows.map((row) => row.slice(0, 12))) });
    expect((await render('BINARY.SIZE[1]', of)).toString()).toBe(`* 1 FETCH (BINARY.SIZE[1] ${large.length})\r\n`);
    expect(literal8(await render('BINARY.PEEK[1]', of)).equals(large)).toBe(true);
  });

  test('a damaged large part keeps its announced length', async () => {
    const mail = base64Mail(large);
    const of = message(mail, { stored: mail.subarray(0, mail.length / 2) });
    let short = 0;
    of.onShort = () => (short += 1);
    const octets = literal8(await render('BINARY.PEEK[1]', of));
    expect(octets.length).toBe(large.length);
    expect(short).toBe(1);
  });

  test('each part of each message of the corpus is its decoded octets, and BINARY.SIZE their number', async () => {
    for (const { bytes } of corpus()) {
      const of = message(bytes);
      for (const part of unpackParts(of.row?.structure?.parts ?? '[]').slice(0, 20)) {
        if (!/^\d+(?:\.\d+)*$/.test(part.path)) continue;
        const encoded = bytes.subarray(part.bodyOffset, part.bodyOffset + part.bodyLength);
        const decoded = /^(?:base64|quoted-printable)$/.test(part.encoding)
          ? decodeTransfer(encoded, part.encoding)
          : encoded;
        if (!/^(?:base64|quoted-printable|7bit|8bit|binary)$/.test(part.encoding)) continue;
        expect(literal8(await render(`BINARY.PEEK[${part.path}]`, of)).equals(decoded)).toBe(true);
        expect((await render(`BINARY.SIZE[${part.path}]`, of)).toString()).toContain(`] ${decoded.length})`);
      }
    }
  });

  test('a range is that range of the whole', async () => {
    const text = fc.uint8Array({ maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(text, fc.nat(320), fc.integer({ min: 1, max: 320 }), async (octets, offset, length) => {
        const of = message(base64Mail(Buffer.from(octets)));
        const range = literal8(await render(`BINARY.PEEK[1]<${offset}.${length}>`, of));
        expect(range.equals(Buffer.from(octets).subarray(offset, offset + length))).toBe(true);
      }),
    );
  });
});

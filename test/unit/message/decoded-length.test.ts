import { describe, expect, test } from 'vitest';
import { decodeTransfer } from '../../../mail/message/decode.ts';
import { indexMessage, MessageIndexer } from '../../../mail/message/indexer.ts';
import { unpackParts } from '../../../mail/message/parts.ts';
import { corpus } from '../../support/corpus.ts';

const random = (seed: number) => (): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
};

function chunked(bytes: Buffer, next: () => number): string {
  const indexer = new MessageIndexer();
  for (let at = 0; at < bytes.length;) {
    const size = 1 + Math.floor(next() * 9);
    indexer.push(bytes.subarray(at, at + size));
    at += size;
  }
  return indexer.end().parts;
}

function check(bytes: Buffer, why: string): void {
  for (const part of unpackParts(indexMessage(bytes).parts)) {
    if (part.type === 'multipart') continue;
    const body = bytes.subarray(part.bodyOffset, part.bodyOffset + part.bodyLength);
    expect(part.decodedLength, `${why} ${part.path}`).toBe(decodeTransfer(body, part.encoding).length);
  }
}

describe('the decoded length of a part is what decoding it gives', () => {
  test('in messages of every kind', () => {
    for (const { name, bytes } of corpus()) check(bytes, name);
  });

  const letters = { base64: 'QUJDZA==+/ \r\n-_=', 'quoted-printable': '=4A=\r\n \t=aFx= Z\r\n=3' } as const;

  test.each(Object.entries(letters))('in broken %s, wherever chunks are cut', (encoding, alphabet) => {
    const next = random(7);
    for (let round = 0; round < 3000; round++) {
      let body = '';
      for (let i = Math.floor(next() * 24); i > 0; i--) body += alphabet[Math.floor(next() * alphabet.length)] ?? '';
      const header = `Content-Transfer-Encoding: ${encoding}\r\n\r\n`;
      const whole = Buffer.from(
        round % 2 === 0
          ? header + body
          : `Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n${header}${body}\r\n--b\r\n${header}${body}\r\n--b--\r\n`,
      );
      check(whole, JSON.stringify(body));
      expect(chunked(whole, next), JSON.stringify(body)).toBe(indexMessage(whole).parts);
    }
  });
});

test('rows of before lengths were counted are near enough', () => {
  const row = ['1', 'image', 'png', '', 'base64', 0, 10, 78 + 78 + 10, 3, '', '', ''];
  expect(unpackParts(JSON.stringify([row]))[0]?.decodedLength).toBe(120);
});

import { expect, test } from 'vitest';
import { decodeTransfer } from '../../../mail/message/decode.ts';
import { encodeQuotedPrintable } from '../../../mail/message/quoted-printable.ts';
import { decodeStream } from '../../../mail/message/transfer-stream.ts';

async function* pieces(bytes: Buffer, size: number): AsyncIterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

async function decoded(bytes: Buffer, encoding: string, size: number): Promise<Buffer> {
  const out: Buffer[] = [];
  for await (const piece of decodeStream(pieces(bytes, size), encoding)) out.push(piece);
  return Buffer.concat(out);
}

const random = Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * i * 31 + 7 * i) % 256));

test.each([
  ['base64', (random.toString('base64').match(/.{1,76}/g) ?? []).join('\r\n')],
  ['base64', `${Buffer.from('one').toString('base64')}\r\n${Buffer.from('four').toString('base64')}\r\nYQ==YWI=YWJj`],
  ['base64', 'not base64 at all! =\r\n===\r\nQUJD'],
  ['base64', 'QUI'],
  ['quoted-printable', encodeQuotedPrintable(random)],
  ['quoted-printable', 'a =20 b  \r\nsoft=\r\nend=  \r\n=4g =4 =\n blank \t\n\n=3D'],
  ['quoted-printable', `${'= '.repeat(200)}\r\n${'=41'.repeat(500)}`],
  ['7bit', 'as it is =41\r\n'],
  ['x-unknown', 'QUJD'],
])('%s in pieces of any size is what it is as a whole', async (encoding, text) => {
  const bytes = Buffer.from(text, 'latin1');
  const whole = decodeTransfer(bytes, encoding).toString('latin1');
  for (const size of [1, 2, 3, 5, 64, 77, 1000, 100_000]) {
    expect((await decoded(bytes, encoding, size)).toString('latin1'), `pieces of ${size}`).toBe(whole);
  }
});

test('a line without end is cut where no escape is', async () => {
  const bytes = Buffer.from(`${'a=41 b'.repeat(60_000)}=`, 'latin1');
  const whole = decodeTransfer(bytes, 'quoted-printable');
  expect((await decoded(bytes, 'quoted-printable', 8192)).equals(whole)).toBe(true);
});

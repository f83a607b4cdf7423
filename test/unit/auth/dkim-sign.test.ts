import { createHash, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { bodyHasher } from '../../../mail/auth/dkim-body.ts';
import { dkimRecord, makeDkimKey, readDkimKey } from '../../../mail/auth/dkim-key.ts';
import { signHeaders } from '../../../mail/auth/dkim-sign.ts';
import { testKeys, verifyAll } from '../../support/dkim.ts';
import * as fc from '../../support/fast-check.ts';

const NOW = Date.UTC(2026, 10, 21);

async function signed(header: string, body: string, keys = testKeys): Promise<Buffer> {
  const hasher = bodyHasher();
  hasher.update(Buffer.from(body, 'latin1'));
  const message = `${header}\r\n${body}`;
  const fields = await signHeaders(Buffer.from(header, 'latin1'), hasher.digest(), keys, NOW);
  return Buffer.concat([fields, Buffer.from(message, 'latin1')]);
}

/** The canonical body of RFC 6376 3.4.4, seen through its hash. */
function hashOf(chunks: readonly string[]): string {
  const hasher = bodyHasher();
  for (const chunk of chunks) hasher.update(Buffer.from(chunk, 'latin1'));
  return hasher.digest().toString('base64');
}

function sha256(text: string): string {
  return createHash('sha256').update(text, 'latin1').digest('base64');
}

const BODIES: [string, string, string][] = [
  ['empty', '', ''],
  ['one empty line', '\r\n', ''],
  ['many empty lines', '\r\n'.repeat(10_000), ''],
  ['blank lines only', ' \t\r\n \r\n\t', ''],
  ['plain', 'a\r\nb\r\n', 'a\r\nb\r\n'],
  ['no final line end', 'a\r\nb', 'a\r\nb\r\n'],
  ['trailing empty lines', 'a\r\n\r\n\r\n \r\n', 'a\r\n'],
  ['empty lines inside', 'a\r\n\r\n\r\nb\r\n', 'a\r\n\r\n\r\nb\r\n'],
  ['very many empty lines inside', `a${'\r\n'.repeat(9999)}b`, `a${'\r\n'.repeat(9999)}b\r\n`],
  ['empty lines first', '\r\n\r\na\r\n', '\r\n\r\na\r\n'],
  ['trailing blanks', 'a \t \r\nb\t\r\n', 'a\r\nb\r\n'],
  ['blanks inside', 'a \t  b\tc\r\n', 'a b c\r\n'],
  ['blanks first', '  a\r\n\tb\r\n', ' a\r\n b\r\n'],
  ['trailing blanks at the end', 'a\r\nb  ', 'a\r\nb\r\n'],
  ['the example of RFC 6376 3.4.5', ' C \r\nD \t E\r\n\r\n\r\n', ' C\r\nD E\r\n'],
  ['8-bit', 'h\xc3\xa4\xff\x80\r\n', 'h\xc3\xa4\xff\x80\r\n'],
  ['control characters are no white space', 'a\x0b\x0c\x00 \r\n', 'a\x0b\x0c\x00\r\n'],
  ['a bare CR is an octet like any', 'a\rb\r\r\n', 'a\rb\r\r\n'],
  ['a bare CR at the end', 'a\r', 'a\r\r\n'],
  ['a bare LF is an octet like any', 'a\nb \n\r\n', 'a\nb \n\r\n'],
];

describe('the body', () => {
  test.each(BODIES)('%s', (_name, body, canonical) => {
    expect(hashOf([body])).toBe(sha256(canonical));
    expect(hashOf(body.split(''))).toBe(sha256(canonical));
  });

  test.each(BODIES.filter(([, body]) => body.length < 40))(
    '%s, cut in two at every octet',
    (_name, body, canonical) => {
      for (let at = 0; at <= body.length; at += 1)
        expect(hashOf([body.slice(0, at), body.slice(at)]), `cut at ${at}`).toBe(sha256(canonical));
    },
  );

  test('however it is cut, the hash is that of the plainest reading', () => {
    const piece = fc.constantFrom('a', ' ', '\t', '\r\n', '\r', '\n', 'bc', '\r\n\r\n', 'x'.repeat(20_000));
    fc.assert(
      fc.property(fc.array(fc.array(piece, { maxLength: 8 }), { maxLength: 8 }), (parts) => {
        const chunks = parts.map((part) => part.join(''));
        const lines = chunks.join('').split('\r\n');
        const relaxed = lines.map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''));
        while (relaxed.at(-1) === '') relaxed.pop();
        expect(hashOf(chunks)).toBe(sha256(relaxed.map((line) => `${line}\r\n`).join('')));
      }),
      { numRuns: 400, seed: 7 },
    );
  });
});

const HEADER =
  'Received: from a by b; Sat, 21 Nov 2026 00:00:00 +0000\r\n' +
  'From: Me <me@box.test>\r\nTo: you@remote.test\r\nSubject: Hello\r\nDate: Sat, 21 Nov 2026 00:00:00 +0000\r\n' +
  'Message-ID: <1@box.test>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n';

describe('the signature', () => {
  test.each([
    ['plain', HEADER],
    ['folded fields', HEADER.replace('Hello', 'Hello\r\n  there\r\n\tagain')],
    ['folded with blank lines between', HEADER.replace('Hello', 'Hello\r\n \r\n there')],
    ['tabs and trailing blanks', HEADER.replace('Hello', '\t Hello \t there \t')],
    ['a blank before the colon', HEADER.replace('Subject:', 'Subject \t:')],
    ['odd case', HEADER.replace('Subject:', 'sUBJECT:').replace('From:', 'FROM:')],
    ['the same field twice', `${HEADER}Subject: Second\r\nTo: other@remote.test\r\nTo: third@remote.test\r\n`],
    ['8-bit', HEADER.replace('Hello', 'H\xc3\xa4ll\xff')],
    ['8-bit at the end that looks like a blank', HEADER.replace('Hello', 'voil\xc3\xa0')],
    ['an empty field', HEADER.replace(' Hello', '')],
    ['lines that are no fields', `${HEADER}no field at all\r\n: empty name\r\n`],
    [
      'list fields',
      `${HEADER}List-Id: <l.box.test>\r\nList-Unsubscribe: <https://box.test/u>\r\nSender: l@box.test\r\n`,
    ],
    ['no From', HEADER.replace('From:', 'X-From:')],
    ['no field at all', ''],
    ['a very long field', HEADER.replace('Hello', `Hello ${'word '.repeat(10_000)}`)],
  ])('%s: both verify', async (_name, header) => {
    expect(verifyAll(await signed(header, 'Hello  \r\n\r\n'), testKeys)).toEqual(['pass', 'pass']);
  });

  test('says what it must and nothing that harms', async () => {
    const text = (await signed(HEADER, 'x\r\n')).toString('latin1');
    const fields = text.slice(0, text.indexOf('Received:'));
    expect(fields.match(/^DKIM-Signature: /gm)).toHaveLength(2);
    expect(fields).toContain(`t=${NOW / 1000}; x=${NOW / 1000 + 7 * 86_400};`);
    expect(fields).not.toMatch(/\bl=/);
    expect(fields.split('\r\n').filter((line) => line.length > 78)).toEqual([]);
    expect(fields).toMatch(/a=rsa-sha256;[^]*a=ed25519-sha256;/);
  });

  test.each([
    ['a second From in front', (m: string) => m.replace('Received:', 'From: evil@remote.test\r\nReceived:')],
    ['a second From behind', (m: string) => m.replace('\r\n\r\n', '\r\nFrom: evil@remote.test\r\n\r\n')],
    ['a second Subject', (m: string) => m.replace('Received:', 'Subject: evil\r\nReceived:')],
    ['a second To', (m: string) => m.replace('Received:', 'To: evil@remote.test\r\nReceived:')],
    ['a Cc', (m: string) => m.replace('Received:', 'Cc: evil@remote.test\r\nReceived:')],
    ['a Reply-To', (m: string) => m.replace('Received:', 'Reply-To: evil@remote.test\r\nReceived:')],
    ['a second Date', (m: string) => m.replace('Received:', 'Date: Sat, 21 Nov 2020 00:00:00 +0000\r\nReceived:')],
    ['a second Message-ID', (m: string) => m.replace('Received:', 'Message-ID: <2@box.test>\r\nReceived:')],
    ['a second Content-Type', (m: string) => m.replace('Received:', 'Content-Type: text/html\r\nReceived:')],
    ['a second MIME-Version', (m: string) => m.replace('Received:', 'MIME-Version: 1.1\r\nReceived:')],
    [
      'a Content-Transfer-Encoding',
      (m: string) => m.replace('Received:', 'Content-Transfer-Encoding: base64\r\nReceived:'),
    ],
    ['a changed Subject', (m: string) => m.replace('Hello', 'Hallo')],
    ['an appended body', (m: string) => `${m}more\r\n`],
    ['a changed body', (m: string) => m.replace('body', 'Body')],
  ])('%s breaks it', async (_name, change) => {
    const message = (await signed(HEADER, 'the body\r\n')).toString('latin1');
    const changed = change(message);
    expect(changed).not.toBe(message);
    for (const result of verifyAll(Buffer.from(changed, 'latin1'), testKeys)) expect(result).toMatch(/differs$/);
  });

  test('no key, no field', async () => {
    expect(await signHeaders(Buffer.from(HEADER), bodyHasher().digest(), [], NOW)).toHaveLength(0);
  });

  test('a key that cannot sign rejects', async () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const bad = [{ domain: 'box.test', selector: 's', algorithm: 'ed25519-sha256' as const, key: publicKey }];
    await expect(signHeaders(Buffer.from(HEADER), bodyHasher().digest(), bad, NOW)).rejects.toThrow();
  });
});

describe('keys', () => {
  test.each([
    ['rsa-sha256' as const, /^v=DKIM1; k=rsa; p=[A-Za-z0-9+/]{380,}={0,2}$/],
    ['ed25519-sha256' as const, /^v=DKIM1; k=ed25519; p=[A-Za-z0-9+/]{43}=$/],
  ])('%s', async (algorithm, record) => {
    const key = readDkimKey(await makeDkimKey(algorithm));
    expect(dkimRecord(key)).toMatch(record);
    const keys = [{ domain: 'box.test', selector: 'new', algorithm, key }];
    expect(verifyAll(await signed(HEADER, 'x\r\n', keys), keys)).toEqual(['pass']);
  });
});

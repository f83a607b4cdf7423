import { describe, expect, test } from 'vitest';
import { sampleFrom, zipOf } from '../../support/sample.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

const both = `From: =?utf-8?Q?Ann_B=C3=A4r?= <Ann@Sender.example>
To: me@box.test
Subject: =?utf-8?B?TWl0dGFnZXNzZW4=?=
Date: Sat, 21 Nov 2026 10:00:00 +0000
Content-Type: multipart/mixed; boundary=outer

--outer
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/plain; charset=utf-8

Look at https://one.example/plain, please.
--inner
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

<p>Look <a href=3D"https://two.example/?a=3D1&amp;b=3D2">at <b>this</b></a></p>
--inner--
--outer
Content-Type: application/octet-stream
Content-Disposition: attachment; filename="tool.exe"
Content-Transfer-Encoding: base64

TVqQAAMAAAAEAAAA
--outer
Content-Type: message/rfc822

From: other@else.example
Subject: inside
Content-Type: multipart/mixed; boundary=deep

--deep

What the attached message says
--deep
Content-Type: application/pdf; name=in.pdf

%PDF-1.7
--deep--
--outer--
`;

test.each([
  ['Ann <Ann@Sender.example>', 'ann@sender.example'],
  ['"a b"@evil.example', 'a b@evil.example'],
  ['Boss <"a b"@evil.example>', 'a b@evil.example'],
  ['a@one.example <b@two.example>', ''],
  ['Mail Delivery Subsystem <MAILER-DAEMON>', ''],
])('the author of %s is the one that DMARC asks about', async (value, author) => {
  expect((await sampleFrom(`From: ${value}\n\nx\n`)).author).toBe(author);
  expect((await sampleFrom(`${'X: y\n'.repeat(2000)}From: ${value}\n\nx\n`)).author).toBe(author);
});

test('a message is taken apart: author, subject, texts, links and parts', async () => {
  const sample = await sampleFrom(both);
  expect(sample.author).toBe('ann@sender.example');
  expect(sample.subject).toBe('Mittagessen');
  expect(sample.text).toContain('https://one.example/plain');
  expect(sample.text).toMatch(/Look +at +this/);
  expect(sample.text).not.toContain('attached message');
  expect(sample.html).toContain('<b>this</b>');
  expect(sample.links).toEqual([
    { url: 'https://two.example/?a=1&b=2', text: 'at this' },
    { url: 'https://one.example/plain', text: '' },
  ]);
  expect(sample.parts.map(({ type, name, size }) => ({ type, name, size }))).toEqual([
    { type: 'application/octet-stream', name: 'tool.exe', size: 12 },
    { type: 'message/rfc822', name: '', size: expect.any(Number) as number },
    { type: 'text/plain', name: '', size: 30 },
    { type: 'application/pdf', name: 'in.pdf', size: 8 },
  ]);
  expect(sample.parts[0]?.head.toString('latin1', 0, 2)).toBe('MZ');
});

test.each([
  ['From: a@one.example\n', 'a@one.example'],
  ['From: "b@two.example" <a@one.example>\n', 'a@one.example'],
  ['From: a@one.example, b@two.example\n', ''],
  ['From: a@one.example\nFrom: a@one.example\n', ''],
  ['From: nobody\n', ''],
  ['Subject: nobody\n', ''],
])('%j has the author %j', async (header, author) => {
  expect((await sampleFrom(`${header}\nHi\n`)).author).toBe(author);
});

const attached = (octets: Buffer, name: string, encoding = 'base64'): Promise<Buffer> =>
  Promise.resolve(
    Buffer.concat([
      Buffer.from(
        `From: a@one.example\r\nMIME-Version: 1.0\r\nContent-Type: application/x; name="${name}"\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`,
      ),
      encoding === 'base64' ? Buffer.from(octets.toString('base64').replace(/.{76}/g, '$&\r\n')) : octets,
    ]),
  );

describe('archives are read by their directory', () => {
  const compound = (...names: string[]): Buffer => {
    const file = Buffer.alloc(400 * 1024, 'x');
    Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(file);
    for (const [i, name] of names.entries()) Buffer.from(`${name}\0`, 'utf16le').copy(file, 196_608 + i * 128);
    return file;
  };

  test.each([
    [
      'names',
      zipOf(['a.txt', 'deep/b.exe']),
      'a.zip',
      { names: ['a.txt', 'deep/b.exe'], locked: false, macros: false },
    ],
    ['passwords', zipOf(['a.exe'], { locked: true }), 'a', { names: ['a.exe'], locked: true, macros: false }],
    ['a long comment', zipOf(['a'], { comment: 65_000 }), 'a.zip', { names: ['a'], locked: false, macros: false }],
    [
      'what stands before',
      Buffer.concat([Buffer.alloc(3000), zipOf(['a'])]),
      'a.zip',
      { names: ['a'], locked: false, macros: false },
    ],
    [
      'macros',
      zipOf(['word/vbaProject.bin']),
      'a.docm',
      { names: ['word/vbaProject.bin'], locked: false, macros: true },
    ],
    ['macros of before', compound('Root Entry', '_VBA_PROJECT'), 'a.doc', { names: [], locked: false, macros: true }],
    ['a locked document', compound('EncryptedPackage'), 'a.docx', { names: [], locked: true, macros: false }],
    ['a document', compound('WordDocument'), 'a.doc', { names: [], locked: false, macros: false }],
  ])('%s', async (_what, octets, name, inside) => {
    for (const encoding of ['base64', 'binary']) {
      const { parts } = await sampleFrom(await attached(octets, name, encoding));
      expect(parts[0]?.contents, encoding).toEqual(inside);
    }
  });

  test('what only looks like one has none', async () => {
    for (const octets of [Buffer.from('PK\x03\x04 and nothing more'), Buffer.from('PK\x05\x06'), Buffer.alloc(100)]) {
      const { parts } = await sampleFrom(await attached(octets, 'a.zip'));
      expect(parts[0]).not.toHaveProperty('inside');
    }
  });

  test('a directory with more names than are read, and lengths that lie, ends', async () => {
    const many = await sampleFrom(await attached(zipOf(Array.from({ length: 900 }, (_, i) => `f${i}`)), 'a.zip'));
    expect(many.parts[0]?.contents?.names).toHaveLength(200);
    const lying = zipOf(['a', 'b']);
    lying.writeUInt16LE(65_535, lying.indexOf('PK\x01\x02') + 28);
    expect((await sampleFrom(await attached(lying, 'a.zip'))).parts[0]?.contents?.names).toHaveLength(1);
  });
});

describe('a message of 25 MB is cut', () => {
  const size = 25 * 1024 * 1024;
  const big = (header: string, line: string): Buffer => {
    const octets = Buffer.alloc(size, line);
    octets.write(header, 'latin1');
    return octets;
  };
  const head = 'From: a@one.example\r\nContent-Type: ';

  test.each([
    ['one line of text', big(`${head}text/plain\r\n\r\n`, 'x')],
    ['quoted-printable', big(`${head}text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n`, '= = =\r\n')],
    ['links', big(`${head}text/html\r\n\r\n`, '<a href="https://a.example/">x<a href=')],
    ['open tags', big(`${head}text/html\r\n\r\n`, '<a "')],
    [
      'a zip without an end',
      big(
        `${head}application/zip; name=a.zip\r\nContent-Transfer-Encoding: base64\r\n\r\n`,
        `${Buffer.from('PK\x01\x02').toString('base64').repeat(9)}\r\n`,
      ),
    ],
    [
      'many parts',
      big(
        `${head}multipart/mixed; boundary=b\r\n\r\n`,
        `--b\r\nContent-Type: application/zip\r\nContent-Transfer-Encoding: base64\r\n\r\nUEsDBA==${'A'.repeat(3000)}\r\n`,
      ),
    ],
  ])('%s', async (_what, octets) => {
    const sample = await sampleFrom(octets);
    expect(sample.text.length).toBeLessThanOrEqual(256 * 1024);
    expect(sample.html.length).toBeLessThanOrEqual(256 * 1024);
    expect(sample.links.length).toBeLessThanOrEqual(200);
    expect(sample.parts.length).toBeLessThanOrEqual(100);
    // Row E10.
    expect(await growth((size) => sampleFrom(octets.subarray(0, size)), 2_500_000)).toBeLessThan(PROPORTIONAL);
  });
});

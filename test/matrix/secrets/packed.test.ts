import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { ReadDocument } from '../../../mail/agents/gate/types.ts';
import { tarOf, zipOf } from '../../support/archives.ts';
import { pdf } from '../../support/pdf.ts';
import { lookedThrough, SECRETS } from '../../support/secret-mail.ts';
import { cpuOf } from '../../support/cost.ts';

const FROM = 'From: me@box.test\r\nTo: you@else.test\r\nSubject: Hello\r\nMIME-Version: 1.0\r\n';
const wrapped = (octets: Buffer): string => octets.toString('base64').replace(/.{76}/g, '$&\r\n');

/** A mail with a file of no telling name or type. */
function withFile(octets: Buffer, type = 'application/octet-stream'): Buffer {
  const head = `${FROM}Content-Type: multipart/mixed; boundary=cut\r\n\r\n--cut\r\n\r\nHello,\r\n--cut\r\n`;
  const file = `Content-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\n\r\n${wrapped(octets)}`;
  return Buffer.from(`${head}${file}\r\n--cut--\r\n`);
}

const text = (secret: string): Buffer => Buffer.from(`As you asked: ${secret}\n`);
const run = (secret: string): string =>
  `<w:r><w:t>${secret.slice(0, 5)}</w:t></w:r><w:r><w:t>${secret.slice(5)}</w:t></w:r>`;
const drawn = (drawing: string, filter = '/FlateDecode', data = deflateSync(drawing)): Buffer =>
  pdf(['', 'Hello'], { data, filter });

/** Files in which a text can be packed. */
const PACKED: Record<string, (secret: string) => Buffer> = {
  'a stored zip': (secret) => zipOf([{ name: 'a.txt', data: text(secret), method: 0 }]),
  'a zip': (secret) => zipOf([{ name: 'a.txt', data: text(secret) }]),
  'a zip whose directory does not name it': (secret) => zipOf([{ name: 'a.txt', data: text(secret), unlisted: true }]),
  'a zip without sizes': (secret) => zipOf([{ name: 'a.txt', data: text(secret), streamed: true }]),
  'a zip whose header has another size': (secret) => {
    const zip = zipOf([{ name: 'a.txt', data: text(secret) }]);
    zip.writeUInt32LE(3, 18);
    return zip;
  },
  'a stored zip whose header has another size': (secret) => {
    const zip = zipOf([{ name: 'a.txt', data: text(secret), method: 0 }]);
    zip.writeUInt32LE(3, 18);
    return zip;
  },
  'a zip with the mark of an end in a file': (secret) => {
    const data = Buffer.concat([Buffer.from(`PK\x07\x08${'\0'.repeat(12)}PK\x01\x02`, 'latin1'), text(secret)]);
    return zipOf([{ name: 'a.txt', data, packed: deflateRawSync(data, { level: 0 }), streamed: true }]);
  },
  'a name in a zip': (secret) => zipOf([{ name: `${secret}.txt`, data: text('nothing') }]),
  'a zip in a zip': (secret) => zipOf([{ name: 'b.zip', data: zipOf([{ name: 'a.txt', data: text(secret) }]) }]),
  'a zip in a stored zip': (secret) =>
    zipOf([{ name: 'b.zip', data: zipOf([{ name: 'a.txt', data: text(secret) }]), method: 0 }]),
  'a zip behind a picture': (secret) =>
    Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'), zipOf([{ name: 'a', data: text(secret) }])]),
  'a document of words': (secret) =>
    zipOf([
      { name: '[Content_Types].xml', data: Buffer.from('<Types/>') },
      { name: 'word/document.xml', data: Buffer.from(`<w:document><w:p>${run(secret)}</w:p></w:document>`) },
    ]),
  'a table': (secret) =>
    zipOf([{ name: 'xl/sharedStrings.xml', data: Buffer.from(`<sst><si><t>${secret}</t></si></sst>`) }]),
  gzip: (secret) => gzipSync(text(secret)),
  'a compressed tar': (secret) => gzipSync(tarOf([{ name: 'a.txt', data: text(secret) }])),
  tar: (secret) =>
    tarOf([
      { name: 'b.txt', data: text('nothing') },
      { name: 'a.txt', data: text(secret) },
    ]),
  'a name in a tar': (secret) => tarOf([{ name: secret, data: text('nothing') }]),
  'a PDF': (secret) => drawn(`BT (${secret}) Tj ET`),
  'a PDF with letters set apart': (secret) => drawn(`BT [${Array.from(secret, (c) => `(${c}) -20`).join(' ')}] TJ ET`),
  'a PDF in hexadecimal': (secret) => drawn(`BT <${Buffer.from(secret).toString('hex')}> Tj ET`),
  'a PDF with escapes': (secret) =>
    drawn(`BT (${Array.from(secret, (c) => `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`).join('')}) Tj ET`),
  'a PDF whose drawing is written down': (secret) =>
    drawn('', '/ASCIIHexDecode', Buffer.from(`${Buffer.from(`BT (${secret}) Tj ET`).toString('hex')}>`)),
  'a PDF that says elsewhere how it is packed': (secret) => drawn(`BT (${secret}) Tj ET`, '9 0 R'),
  'a PDF that says in numbers how it is written down': (secret) =>
    drawn(
      '',
      '/ASCIIHex#44ecode',
      Buffer.from(`${Buffer.from(`BT (${secret}) Tj ET`).toString('hex').replace(/../g, '$& \n')}>`),
    ),
  'a PDF in a zip': (secret) => zipOf([{ name: 'a.pdf', data: drawn(`BT (${secret}) Tj ET`) }]),
  'an old document': (secret) =>
    Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600), Buffer.from(secret, 'utf16le')]),
  'words in a picture': (secret) =>
    Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\x10tEXtComment\0', 'latin1'), Buffer.from(secret)]),
  'base64 in a zip': (secret) => zipOf([{ name: 'a', data: Buffer.from(text(secret).toString('base64')) }]),
};

const all = SECRETS.flatMap((secret) => Object.keys(PACKED).map((packed) => ({ ...secret, packed })));
// A slash splits a file name into several names, and with it a secret that contains a slash.
const can = all.filter(
  ({ packed, kind }) => !(packed.startsWith('a name') && (kind === 'link' || kind === 'webhook_secret')),
);

test.each(can)('$name is found in $packed', async ({ text: secret, kind, packed }) => {
  const { secrets } = await lookedThrough(withFile(PACKED[packed]?.(secret) ?? Buffer.alloc(0)));
  expect(secrets).toContain(kind);
});

test.each(SECRETS)('$name is found in an archive that stands in a text', async ({ text: secret, kind }) => {
  const zip = zipOf([{ name: 'a.txt', data: text(secret) }]).toString('base64');
  const { secrets } = await lookedThrough(Buffer.from(`${FROM}\r\nHello,\r\n${zip.replace(/.{60}/g, '$&\r\n')}\r\n`));
  expect(secrets).toContain(kind);
});

test('a document is read as its reader reads it', async () => {
  const glyphs = drawn('BT <00010002> Tj ET');
  const read: ReadDocument = (octets) => Promise.resolve(octets.equals(glyphs) ? `mst_${'0a'.repeat(24)}` : '');
  expect(await lookedThrough(withFile(glyphs), [], read)).toEqual({ secrets: ['token'], unscanned: [] });
  expect(await lookedThrough(withFile(glyphs), [], () => Promise.resolve(undefined))).toMatchObject({
    unscanned: ['packed'],
  });
});

const noise = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, i) => (i * 7919 * (i >> 3)) & 0xff));
const deep = (levels: number): Buffer =>
  levels === 0 ? text('nothing') : zipOf([{ name: 'a', data: deep(levels - 1) }]);

test.each([
  ['a zip with a password', zipOf([{ name: 'a', data: text('nothing'), locked: true }]), 'locked'],
  ['a zip of another method', zipOf([{ name: 'a', data: text('nothing'), method: 14 }]), 'packed'],
  ['a zip that is broken', zipOf([{ name: 'a', data: noise(4000) }]).fill(0xff, 60, 90), 'packed'],
  ['archives in archives in archives', deep(4), 'packed'],
  ['7z', Buffer.from('377abcaf271c0004', 'hex'), 'packed'],
  ['rar', Buffer.from('Rar!\x1a\x07\x01\0', 'latin1'), 'packed'],
  ['OpenPGP', Buffer.from('-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----\n'), 'packed'],
  ['a locked PDF', Buffer.concat([pdf(['Hello']), Buffer.from('trailer << /Encrypt 9 0 R >>')]), 'locked'],
  ['a PDF in runs', drawn('', '/RunLengthDecode', Buffer.from('\x04BT ET\x80', 'latin1')), 'packed'],
  ['a PDF with many digits', drawn('', '/ASCII85Decode', Buffer.alloc(3e6, '9jqo^')), 'packed'],
  ['octets of no kind', Buffer.concat([Buffer.alloc(8), noise(9000)]), 'unknown'],
  ['what unfolds without end', gzipSync(Buffer.alloc(40 * 1024 ** 2, 'a')), 'packed'],
  ['a text that is long', Buffer.from('Some words of no weight.\n'.repeat(20_000)), 'long'],
])('%s is said not to be looked through', async (_name, octets, why) => {
  const { secrets, unscanned: unread } = await lookedThrough(withFile(octets));
  expect({ secrets, unread }).toEqual({ secrets: [], unread: expect.arrayContaining([why]) as unknown });
});

test.each([
  ['a document of words', PACKED['a document of words']],
  ['a PDF', PACKED['a PDF']],
  ['a compressed tar', PACKED['a compressed tar']],
  ['a picture', () => Buffer.concat([Buffer.from('\xff\xd8\xff\xe0', 'latin1'), noise(20_000)])],
  ['archives in an archive', () => deep(3)],
])('%s without secrets is looked through whole', async (_name, make) => {
  const found = await lookedThrough(withFile(make?.('nothing') ?? Buffer.alloc(0)));
  expect(found).toEqual({ secrets: [], unscanned: [] });
});

test('a binary signature cannot be looked into, as it may hold anything', async () => {
  const found = await lookedThrough(withFile(Buffer.concat([Buffer.from('3082', 'hex'), noise(4000)])));
  expect(found).toEqual({ secrets: [], unscanned: ['unknown'] });
});

test('what is made to take long takes not much longer than other mail', { timeout: 240_000 }, async () => {
  const words = Buffer.from('Some words, 1234 of them: a%20b =20 &amp; \\u0041 QUJDREVGRw==\r\n'.repeat(70_000));
  const usual = await cpuOf(() => lookedThrough(withFile(words)), 1);
  const header = Buffer.from('PK\x03\x04\x14\0\0\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0', 'latin1');
  const empty = Buffer.from([0, 0, 0, 0xff, 0xff]);
  const much = Buffer.concat([header, deflateRawSync(Buffer.alloc(1e6))]);
  const bad = {
    'headers of files that are none': Buffer.concat(Array.from({ length: 100_000 }, () => header)),
    'files that say nothing at length': Buffer.concat([
      ...Array.from({ length: 50 }, () => header),
      Buffer.alloc(2e6, empty),
    ]),
    'files that unfold to much': Buffer.concat(Array.from({ length: 500 }, () => much)),
    'drawings without end': Buffer.concat([Buffer.from('%PDF-1.4\n'), Buffer.alloc(3e6, 'stream\n(<[')]),
    'letters of no one form': Buffer.from('\u00e4\u200b\ufb01 '.repeat(350_000)),
  };
  for (const [name, octets] of Object.entries(bad)) {
    expect(await cpuOf(() => lookedThrough(withFile(octets)), 1), name).toBeLessThan(10 * usual);
  }
});

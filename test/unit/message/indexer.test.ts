import { expect, test } from 'vitest';
import { indexMessage, MessageIndexer } from '../../../mail/message/indexer.ts';
import { LIMITS } from '../../../mail/message/limits.ts';
import { unpackParts } from '../../../mail/message/parts.ts';

const message = (text: string): Buffer => Buffer.from(text.replace(/\n/g, '\r\n'), 'latin1');
const index = (text: string): ReturnType<typeof indexMessage> => indexMessage(message(text));

/** `path type lines "body"` a part. */
function outline(text: string): string[] {
  const bytes = message(text);
  return unpackParts(indexMessage(bytes).parts).map(({ path, type, subtype, lines, bodyOffset, bodyLength }) => {
    const body = bytes.toString('latin1', bodyOffset, bodyOffset + bodyLength);
    return `${path} ${type}/${subtype} ${lines} ${JSON.stringify(body.length > 30 ? '...' : body)}`;
  });
}

const MIXED = 'Content-Type: multipart/mixed; boundary=b\n\n';

const STRUCTURES: [name: string, text: string, parts: string[]][] = [
  ['a plain message', 'Subject: x\n\none\ntwo', ['1 text/plain 1 "one\\r\\ntwo"']],
  ['an empty message', '', ['1 text/plain 0 ""']],
  ['a header without an end', 'Subject: x\nTo: y', ['1 text/plain 0 ""']],
  [
    'two parts: the line end before a delimiter belongs to it',
    `${MIXED}--b\n\none\n\n--b\n\ntwo\n--b--\n`,
    [' multipart/mixed 8 "..."', '1 text/plain 1 "one\\r\\n"', '2 text/plain 0 "two"'],
  ],
  [
    'a part without body, ended at once',
    `${MIXED}--b\n\n--b\nContent-Type: text/html\n--b--\n`,
    [' multipart/mixed 5 "..."', '1 text/plain 0 ""', '2 text/html 0 ""'],
  ],
  [
    'no closing delimiter: the last part has all that is left',
    `${MIXED}--b\n\none\n`,
    [' multipart/mixed 3 "--b\\r\\n\\r\\none\\r\\n"', '1 text/plain 1 "one\\r\\n"'],
  ],
  ['no delimiter at all: shown as text', `${MIXED}none\n`, ['1 text/plain 1 "none\\r\\n"']],
  [
    'numbers inside an attached message',
    `${MIXED}--b\n\nx\n--b\nContent-Type: message/rfc822\n\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\ny\n--c--\n--b--\n`,
    [
      ' multipart/mixed 13 "..."',
      '1 text/plain 0 "x"',
      '2 message/rfc822 5 "..."',
      '2. multipart/mixed 3 "--c\\r\\n\\r\\ny\\r\\n--c--"',
      '2.1 text/plain 0 "y"',
    ],
  ],
  [
    'numbers of a message in a message at the top',
    'Content-Type: message/rfc822\n\nContent-Type: message/rfc822\n\nSubject: x\n\ny',
    ['1 message/rfc822 4 "..."', '1.1 message/rfc822 2 "Subject: x\\r\\n\\r\\ny"', '1.1.1 text/plain 0 "y"'],
  ],
  [
    'a closing delimiter that ends the message without a line end',
    `${MIXED}--b\n\none\ntwo\n--b--`,
    [' multipart/mixed 4 "--b\\r\\n\\r\\none\\r\\ntwo\\r\\n--b--"', '1 text/plain 1 "one\\r\\ntwo"'],
  ],
  [
    'a delimiter that ends the message begins an empty part',
    `${MIXED}--b\n\none\n--b`,
    [' multipart/mixed 3 "--b\\r\\n\\r\\none\\r\\n--b"', '1 text/plain 0 "one"', '2 text/plain 0 ""'],
  ],
  [
    'a closing delimiter without a line end after a header without an end',
    `${MIXED}--b\nContent-Type: text/html\n--b--`,
    [' multipart/mixed 2 "..."', '1 text/html 0 ""'],
  ],
  [
    'closing delimiters of a message inside a message, the last without a line end',
    `${MIXED}--b\nContent-Type: message/rfc822\n\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\ny\n--c--\n--b--`,
    [
      ' multipart/mixed 9 "..."',
      '1 message/rfc822 5 "..."',
      '1. multipart/mixed 3 "--c\\r\\n\\r\\ny\\r\\n--c--"',
      '1.1 text/plain 0 "y"',
    ],
  ],
  [
    'a last line that only begins like a delimiter',
    `${MIXED}--b\n\none\n--bc`,
    [' multipart/mixed 3 "--b\\r\\n\\r\\none\\r\\n--bc"', '1 text/plain 1 "one\\r\\n--bc"'],
  ],
  [
    'one boundary for two levels: the inner one is meant first',
    `${MIXED}--b\n${MIXED}--b\n\nin\n--b--\n--b\n\nout\n--b--\n`,
    [
      ' multipart/mixed 11 "..."',
      '1 multipart/mixed 3 "--b\\r\\n\\r\\nin\\r\\n--b--"',
      '1.1 text/plain 0 "in"',
      '2 text/plain 0 "out"',
    ],
  ],
  [
    'a boundary that begins with another',
    `${MIXED}--b\nContent-Type: multipart/mixed; boundary=bb\n\n--bb\n\nin\n--bb--\n--b--\n`,
    [' multipart/mixed 8 "..."', '1 multipart/mixed 3 "--bb\\r\\n\\r\\nin\\r\\n--bb--"', '1.1 text/plain 0 "in"'],
  ],
];

test.each(STRUCTURES)('structure: %s', (_, text, parts) => {
  expect(outline(text)).toEqual(parts);
});

test.each(STRUCTURES)('octet by octet: %s', (_, text) => {
  const indexer = new MessageIndexer();
  for (const octet of message(text)) indexer.push(Uint8Array.of(octet));
  expect(indexer.end()).toEqual(index(text));
});

test.each([
  ['base64', 'aGVsbG8='],
  ['quoted-printable', 'hell=6F'],
])('a closing delimiter without a line end is outside a %s body and the preview', (encoding, body) => {
  const found = index(`${MIXED}--b\nContent-Transfer-Encoding: ${encoding}\n\n${body}\n--b--`);
  expect(found.preview).toBe('hello');
  expect(unpackParts(found.parts)[1]).toMatchObject({ bodyLength: body.length, decodedLength: 5 });
});

test.each([71, 251, 998, LIMITS.boundary])('a boundary of %d characters is seen', (length) => {
  const boundary = 'b'.repeat(length);
  const type = `Content-Type: multipart/mixed; boundary="${boundary}"`;
  const text = `${type}\n\n--${boundary}\n\none\n--${boundary}\n\ntwo\n--${boundary}--\n`;
  const bodies = outline(text).slice(1);
  expect(bodies).toEqual(['1 text/plain 0 "one"', '2 text/plain 0 "two"']);
  const indexer = new MessageIndexer();
  for (let at = 0, bytes = message(text); at < bytes.length; at += 7) indexer.push(bytes.subarray(at, at + 7));
  expect(indexer.end()).toEqual(index(text));
});

test('what the index says of an ordinary reply', () => {
  const found = index(
    'Received: a\nReceived: b\nDate: Fri, 20 Nov 2026 23:30:00 -0500\nFrom: =?utf-8?Q?J=C3=B6rg?= <j@x.example>\n' +
      'To: "Bob" <bob@box.test>, c@d\nCc: e@f\nSubject: Re: [list] Hello\nMessage-ID: <c@x>\nIn-Reply-To: <b@x>\nReferences: <a@x> <b@x>\n\nHi  there\n\nBob\n',
  );
  expect(found).toMatchObject({
    subject: 'Re: [list] Hello',
    baseSubject: 'HELLO',
    messageId: '<c@x>',
    sentAt: Date.UTC(2026, 10, 21, 4, 30),
    sentDay: Date.UTC(2026, 10, 20) / 86_400_000,
    fromKey: 'J',
    toKey: 'BOB',
    ccKey: 'E',
    fromDisplay: 'JO\u0308RG',
    toDisplay: 'BOB',
    preview: 'Hi there Bob',
    hasAttachment: false,
    received: 2,
    flattened: false,
  });
  expect(found.refs).toHaveLength(3);
});

test('threading hashes: own id first, 0n when there is none', () => {
  const reply = index('Message-ID: <b@x>\nIn-Reply-To: <a@x>\n\n');
  expect(index('Message-ID: <a@x>\n\n').refs).toEqual([reply.refs[1]]);
  expect(index('References: <a@x>\n\n').refs).toEqual([0n, reply.refs[1]]);
  const many = Array.from({ length: 200 }, (_, i) => `<${i}@x>`);
  const { refs } = index(`References: ${many.join('\n ')}\n\n`);
  expect(refs).toHaveLength(LIMITS.refs);
  expect(refs[1]).toBe(index('Message-ID: <0@x>\n\n').refs[0]);
  expect(refs.at(-1)).toBe(index('Message-ID: <199@x>\n\n').refs[0]);
});

test('the index crosses a thread unchanged', () => {
  const found = index('Subject: x\n\ny');
  expect(structuredClone(found)).toEqual(found);
});

const deep = (levels: number): string => {
  let text = '';
  for (let i = 0; i < levels; i++) text += `Content-Type: multipart/mixed; boundary=b${i}\n\n--b${i}\n`;
  return `${text}\nbottom\n`;
};

const LIMIT_CASES: [name: string, text: string, expected: { flattened: boolean; parts: number }][] = [
  ['depth at the limit', deep(LIMITS.depth), { flattened: false, parts: LIMITS.depth + 1 }],
  ['depth over it', deep(LIMITS.depth + 1), { flattened: true, parts: LIMITS.depth + 1 }],
  ['parts at the limit', MIXED + '--b\n\n'.repeat(LIMITS.parts - 1), { flattened: false, parts: LIMITS.parts }],
  ['parts over it', MIXED + '--b\n\n'.repeat(LIMITS.parts), { flattened: true, parts: LIMITS.parts }],
  ['fields at the limit', `${'a: b\n'.repeat(LIMITS.fields - 1)}${MIXED}--b\n\n`, { flattened: false, parts: 2 }],
  ['fields over it', `${'a: b\n'.repeat(LIMITS.fields)}${MIXED}--b\n\n`, { flattened: true, parts: 1 }],
  ['header over its limit', `${`a: ${'b'.repeat(50_000)}\n`.repeat(6)}${MIXED}--b\n\n`, { flattened: true, parts: 1 }],
  [
    'part header over its limit',
    `${MIXED}--b\n${`a: ${'b'.repeat(50_000)}\n`.repeat(6)}\nx\n`,
    { flattened: true, parts: 1 },
  ],
  ['a field over its limit', `X: ${'b'.repeat(LIMITS.field + 1)}\n${MIXED}--b\n\n`, { flattened: true, parts: 2 }],
  [
    'a boundary over its limit',
    `Content-Type: multipart/mixed; boundary=${'b'.repeat(LIMITS.boundary + 1)}\n\nx\n`,
    { flattened: true, parts: 1 },
  ],
  ['addresses at the limit', `To: ${'a@b,'.repeat(LIMITS.addresses)}\n\n`, { flattened: false, parts: 1 }],
  ['addresses over it', `To: ${'a@b,'.repeat(LIMITS.addresses + 1)}\n\n`, { flattened: true, parts: 1 }],
];

test.each(LIMIT_CASES)('limit: %s', (_, text, { flattened, parts }) => {
  const bytes = message(text);
  const found = indexMessage(bytes);
  expect(found).toMatchObject({ size: bytes.length, flattened });
  expect(unpackParts(found.parts)).toHaveLength(parts);
  const empty = bytes.indexOf('\r\n\r\n');
  expect(found.headerLength).toBe(empty + 4);
});

test('a message of more parts keeps the first ones, and ends the last of them where the next begins', () => {
  const each = Array.from({ length: LIMITS.parts + 50 }, (_, n) => `--b\n\npart ${n + 1}\n`).join('');
  const bytes = message(`${MIXED}${each}--b--\n`);
  const [root, ...parts] = unpackParts(indexMessage(bytes).parts);
  expect(root).toMatchObject({ type: 'multipart', bodyLength: bytes.length - (root?.bodyOffset ?? 0) });
  expect(parts.length).toBe(LIMITS.parts - 1);
  const texts = parts.map(({ bodyOffset, bodyLength }) =>
    bytes.toString('latin1', bodyOffset, bodyOffset + bodyLength),
  );
  expect(texts).toEqual(texts.map((_, n) => `part ${n + 1}`));
});

test('a message attached behind the last part is not opened', () => {
  const attached = `--b\nContent-Type: message/rfc822\n\n${MIXED}--c\n\nx\n`;
  const parts = unpackParts(index(`${MIXED}${'--b\n\n'.repeat(LIMITS.parts - 2)}${attached}--b--\n`).parts);
  expect(parts.length).toBe(LIMITS.parts);
  expect(parts.at(-1)).toMatchObject({ type: 'application', subtype: 'octet-stream' });
});

test('a flattened message is one text part over the whole body', () => {
  const long = `Content-Type: multipart/mixed; boundary=${'b'.repeat(LIMITS.boundary + 1)}\n\n`;
  const bytes = message(`Subject: kept\nContent-Transfer-Encoding: 8bit\n${long}one\n`);
  const found = indexMessage(bytes);
  const [part] = unpackParts(found.parts);
  expect(part).toMatchObject({
    path: '1',
    type: 'text',
    subtype: 'plain',
    encoding: '8bit',
    bodyOffset: found.headerLength,
  });
  expect(part!.bodyOffset + part!.bodyLength).toBe(bytes.length);
  expect(found.subject).toBe('kept');
});

test('what is too deep is left closed, and the rest stays as it is', () => {
  const parts = unpackParts(index(deep(500)).parts);
  expect(parts.at(-2)).toMatchObject({ type: 'multipart' });
  expect(parts.at(-1)).toMatchObject({ type: 'text', subtype: 'plain', path: '1.'.repeat(LIMITS.depth).slice(0, -1) });
  const chain = index('Content-Type: message/rfc822\n\n'.repeat(500));
  expect(unpackParts(chain.parts).at(-1)).toMatchObject({ type: 'application', subtype: 'octet-stream' });
});

const ATTACHMENTS: [has: boolean, name: string, fields: string][] = [
  [false, 'a text', 'Content-Type: text/plain'],
  [true, 'a text that is to be saved', 'Content-Type: text/plain\nContent-Disposition: attachment'],
  [true, 'a document', 'Content-Type: application/pdf'],
  [
    true,
    'a document marked as inline with a name',
    'Content-Type: application/pdf\nContent-Disposition: inline; filename=a.pdf',
  ],
  [false, 'an inline picture', 'Content-Type: image/png\nContent-Disposition: inline; filename=a.png'],
  [false, 'a picture with a Content-ID', 'Content-Type: image/png; name=a.png\nContent-ID: <a@b>'],
  [true, 'a picture', 'Content-Type: image/png; name=a.png'],
  [false, 'a signature', 'Content-Type: application/pgp-signature; name=s.asc\nContent-Disposition: attachment'],
  [false, 'a delivery status', 'Content-Type: message/delivery-status'],
  [true, 'an attached message', 'Content-Type: message/rfc822'],
];

test.each(ATTACHMENTS)('hasAttachment is %s for %s', (has, _, fields) => {
  expect(index(`${MIXED}--b\n\ntext\n--b\n${fields}\n\nx\n--b--\n`).hasAttachment).toBe(has);
});

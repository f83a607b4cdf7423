import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jmapId } from '../../../mail/jmap/core/ids.ts';
import { createMailbox } from '../../../mail/store/mailbox/mailbox.ts';
import {
  createAndParse,
  create,
  octetsOf,
  parseTestMessage,
  createRefused,
  seenByImap,
  upload,
} from '../../support/jmap-emails.ts';
import { type JmapFixture, createJmapFixture } from '../../support/jmap-fixture.ts';

let fixture: JmapFixture;
let pdf: string;
beforeAll(async () => {
  fixture = await createJmapFixture();
  pdf = await upload(fixture, Buffer.from([0, 1, 2, 255, 13, 10, 46]), 'application/pdf');
});
afterAll(() => fixture[Symbol.asyncDispose]());

const TEXT = { textBody: [{ partId: 't' }], bodyValues: { t: { value: 'Hello.' } } };
const types = (parts: readonly { path: string; type: string; subtype: string }[]): string[] =>
  parts.map(({ path, type, subtype }) => `${path} ${type}/${subtype}`);

/** Checks that lines are valid for SMTP: CRLF, 7-bit, at most 998 characters. */
function checkLines(octets: Buffer): void {
  const text = octets.toString('latin1');
  expect(text).not.toMatch(/[^\r]\n|\r[^\n]|[^\x00-\x7f]/);
  expect(Math.max(...text.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
  expect(text.endsWith('\r\n')).toBe(true);
}

describe('a draft', () => {
  test('gets Date, Message-ID and MIME-Version, and its ids are returned', async () => {
    const { header, made, octets } = await createAndParse(fixture, { ...TEXT, subject: 'Hi' });
    expect(header).toMatch(/^Date: /m);
    expect(header).toMatch(/^Message-ID: <[0-9a-f]{32}@mail\.box\.test>\r$/m);
    expect(header).toMatch(/^MIME-Version: 1\.0\r$/m);
    expect(header).not.toMatch(/^From:/m);
    expect(made).toEqual({
      id: expect.stringMatching(/^m/),
      blobId: made.id,
      threadId: expect.stringMatching(/^t/),
      size: octets.length,
    });
  });

  test('has every property of the object in its header', async () => {
    const { header, octets } = await createAndParse(fixture, {
      ...TEXT,
      from: [{ name: 'Jörg "J" Müller', email: 'j@box.test' }],
      sender: [{ name: null, email: 's@box.test' }],
      replyTo: [{ email: 'r@box.test' }],
      to: [
        { name: 'A, B', email: 'a@example.com' },
        { name: '', email: 'typing' },
      ],
      cc: [{ name: '=?utf-8?Q?trap?=', email: 'c@example.com' }],
      bcc: [{ name: null, email: 'secret@example.com' }],
      subject: 'Grüße',
      messageId: ['x@box.test'],
      inReplyTo: ['a@b'],
      references: ['a@b', 'c@d'],
      sentAt: '2026-11-21T10:00:00+05:30',
      'header:X-Raw': ' as it is',
      'header:X-Text:asText': 'ünï',
      'header:List-Unsubscribe:asURLs': ['https://a.test/u', 'mailto:x@y.test'],
      'header:X-Many:asText:all': ['one', 'two'],
      'header:X-People:asGroupedAddresses': [
        { name: 'Team', addresses: [{ name: null, email: 'a@b.test' }] },
        { name: null, addresses: [{ name: 'Z', email: 'z@b.test' }] },
      ],
    });
    checkLines(octets);
    const unfolded = header.replace(/\r\n(?=[ \t])/g, '').split('\r\n');
    expect(unfolded).toEqual(
      expect.arrayContaining([
        `From: =?utf-8?B?${Buffer.from('Jörg "J" Müller').toString('base64')}?= <j@box.test>`,
        'Sender: s@box.test',
        'Reply-To: r@box.test',
        'To: "A, B" <a@example.com>, typing',
        `Cc: =?utf-8?B?${Buffer.from('=?utf-8?Q?trap?=').toString('base64')}?= <c@example.com>`,
        'Bcc: secret@example.com',
        `Subject: =?utf-8?B?${Buffer.from('Grüße').toString('base64')}?=`,
        'Message-ID: <x@box.test>',
        'In-Reply-To: <a@b>',
        'References: <a@b> <c@d>',
        'Date: Sat, 21 Nov 2026 10:00:00 +0530',
        'X-Raw: as it is',
        `X-Text: =?utf-8?B?${Buffer.from('ünï').toString('base64')}?=`,
        'List-Unsubscribe: <https://a.test/u>, <mailto:x@y.test>',
        'X-Many: one',
        'X-Many: two',
        'X-People: "Team": a@b.test;, "Z" <z@b.test>',
      ]),
    );
  });

  test('treats a null property as missing', async () => {
    const { header } = await createAndParse(fixture, {
      ...TEXT,
      from: null,
      to: [],
      'header:X-A:asText': null,
      subject: '',
    });
    expect(header).not.toMatch(/^(?:From|To|X-A):/m);
    expect(header).toMatch(/^Subject: \r$/m);
  });

  test('treats an empty list as missing', async () => {
    const { header } = await createAndParse(fixture, {
      ...TEXT,
      'header:Date:asDate:all': [],
      'header:Message-ID:asMessageIds': [],
    });
    expect(header).toMatch(/^Date: /m);
    expect(header).toMatch(/^Message-ID: </m);
  });

  test('is in all of its mailboxes with its keywords, as IMAP shows', async () => {
    const made = await fixture.box.store.write(createMailbox, { account: fixture.account, name: 'Work', role: null });
    const work = made.kind === 'created' ? made.id : 0;
    const mailboxIds = { [jmapId('mailbox', fixture.inbox)]: true, [jmapId('mailbox', work)]: true };
    const { id } = await create(fixture, { ...TEXT, mailboxIds, keywords: { $draft: true, $Seen: true, Later: true } });
    const flags = ['\\Draft', '\\Seen', 'later'];
    expect((await seenByImap(fixture)).get(id)).toEqual(
      new Map([
        [jmapId('mailbox', fixture.inbox), flags],
        [jmapId('mailbox', work), flags],
      ]),
    );
  });
});

test('the properties that Email/get returns create the same draft again', async () => {
  const properties = [
    'from',
    'to',
    'cc',
    'bcc',
    'subject',
    'sentAt',
    'messageId',
    'references',
    'keywords',
    'mailboxIds',
  ];
  const bodyProperties = ['partId', 'blobId', 'type', 'name', 'disposition', 'cid', 'language'];
  const get = async (id: string): Promise<Record<string, unknown>> => {
    const { list } = await fixture.call('Email/get', {
      ids: [id],
      properties: [...properties, 'header:X-Team:asGroupedAddresses', 'bodyStructure', 'bodyValues'],
      bodyProperties: [...bodyProperties, 'subParts'],
      fetchAllBodyValues: true,
    });
    return (list as Record<string, unknown>[])[0] ?? {};
  };
  const email = {
    from: [{ name: 'Jörg', email: 'j@box.test' }],
    to: [
      { name: 'A, "B"', email: 'a@example.com' },
      { name: null, email: '"odd local"@example.com' },
    ],
    bcc: [{ name: null, email: 'secret@example.com' }],
    subject: 'Grüße  und mehr',
    sentAt: '2026-11-21T10:00:00+05:30',
    messageId: ['one@box.test'],
    references: ['a@b', 'c@d'],
    keywords: { $draft: true, later: true },
    'header:X-Team:asGroupedAddresses': [{ name: 'Team', addresses: [{ name: null, email: 'a@b.test' }] }],
  };
  const first = await create(fixture, {
    ...email,
    textBody: [{ partId: 't' }],
    htmlBody: [{ partId: 'h' }],
    bodyValues: { t: { value: 'Schöne Grüße' }, h: { value: '<b>Schöne</b>\n' } },
    attachments: [
      { blobId: pdf, name: 'Übersicht.pdf' },
      { blobId: pdf, cid: 'p', disposition: 'inline' },
    ],
  });
  const got = await get(first.id);
  expect(got).toMatchObject(email);
  // "blobId" with "partId" is refused, so clients leave it out.
  const writable = (part: Record<string, unknown>): object => {
    const { partId, blobId, subParts, ...rest } = part;
    if (subParts !== null && subParts !== undefined)
      return { ...rest, subParts: (subParts as (typeof part)[]).map(writable) };
    const isText = Object.hasOwn(got['bodyValues'] as object, partId as string);
    return { ...rest, ...(isText ? { partId } : { blobId }) };
  };
  const { id, bodyStructure, ...rest } = got;
  expect(id).toBe(first.id);
  const second = await create(fixture, { ...rest, bodyStructure: writable(bodyStructure as Record<string, unknown>) });
  const again = await get(second.id);
  const told = (one: Record<string, unknown>): string =>
    JSON.stringify({ ...one, id: 0 }).replaceAll(/"blobId":"m[^"]*"/g, '""');
  expect(told(again)).toBe(told(got));
});

describe('bodies', () => {
  test('a missing body becomes an empty text', async () => {
    const { parts, octets } = await createAndParse(fixture, { subject: 'x' });
    expect(types(parts)).toEqual(['1 text/plain']);
    checkLines(octets);
  });

  test.each([
    ['text', { textBody: [{ partId: 't' }] }, ['1 text/plain']],
    ['html', { htmlBody: [{ partId: 'h' }] }, ['1 text/html']],
    [
      'both',
      { textBody: [{ partId: 't' }], htmlBody: [{ partId: 'h' }] },
      [' multipart/alternative', '1 text/plain', '2 text/html'],
    ],
  ])('%s', async (_what, body, expected) => {
    const bodyValues = { t: { value: 'Text' }, h: { value: '<p>Ünï</p>' } };
    const { parts, octets } = await createAndParse(fixture, { ...body, bodyValues });
    expect(types(parts)).toEqual(expected);
    checkLines(octets);
  });

  test('text, HTML, an inline image and an attachment', async () => {
    const { parts, octets, body } = await createAndParse(fixture, {
      textBody: [{ partId: 't', type: 'text/plain' }],
      htmlBody: [{ partId: 'h', type: 'text/html' }],
      bodyValues: { t: { value: 'T' }, h: { value: '<img src="cid:pic">' } },
      attachments: [
        { blobId: pdf, type: 'image/png', cid: 'pic', disposition: 'inline' },
        { blobId: pdf, name: 'Grüße "1".pdf' },
      ],
    });
    expect(types(parts)).toEqual([
      ' multipart/mixed',
      '1 multipart/related',
      '1.1 multipart/alternative',
      '1.1.1 text/plain',
      '1.1.2 text/html',
      '1.2 image/png',
      '2 application/pdf',
    ]);
    expect(parts[5]).toMatchObject({ contentId: 'pic', disposition: 'inline' });
    expect(parts[6]).toMatchObject({ disposition: 'attachment', filename: 'Grüße "1".pdf' });
    expect(body('2')).toEqual(Buffer.from([0, 1, 2, 255, 13, 10, 46]));
    const word = `name="=?utf-8?B?${Buffer.from('Grüße "1".pdf').toString('base64')}?="`;
    expect(octets.toString()).toContain(word);
    expect(octets.toString()).toContain("filename*0*=utf-8''Gr%C3%BC%C3%9Fe");
    checkLines(octets);
  });

  test('a bodyStructure of the client is stored unchanged', async () => {
    const { parts, octets, header } = await createAndParse(fixture, {
      bodyStructure: {
        type: 'multipart/signed',
        'header:X-Root:asText': 'r',
        subParts: [
          {
            type: 'multipart/mixed',
            subParts: [{ partId: '1' }, { partId: '2', type: 'text/html', language: ['de', 'en'] }],
          },
          {
            blobId: pdf,
            type: 'application/pgp-signature',
            name: 's.asc',
            location: 'https://a.test/s',
            charset: 'x-y',
          },
          { partId: '3', 'header:Content-Type': 'text/calendar; method=REQUEST; charset="utf-8"' },
        ],
      },
      bodyValues: { 1: { value: 'One' }, 2: { value: 'Zwei' }, 3: { value: 'BEGIN:VCALENDAR' } },
    });
    expect(types(parts)).toEqual([
      ' multipart/signed',
      '1 multipart/mixed',
      '1.1 text/plain',
      '1.2 text/html',
      '2 application/pgp-signature',
      '3 text/calendar',
    ]);
    expect(header).toContain('X-Root: r\r\n');
    expect(octets.toString()).toContain('Content-Language: de,\r\n en\r\n');
    expect(octets.toString()).toContain('Content-Location: https://a.test/s\r\n');
    expect(octets.toString()).toContain('Content-Type: text/calendar;\r\n charset="utf-8";\r\n method="REQUEST"\r\n');
  });

  test.each([
    ['plain', 'Hello.\nSecond line.', '7bit'],
    ['no line end', 'no end', '7bit'],
    ['line ends', 'a\n\n\nb\n', '7bit'],
    ['accents', 'Grüße aus Köln, wo es regnet.\n', 'quoted-printable'],
    ['a long line', 'x'.repeat(5_000), 'quoted-printable'],
    ['a dot, From and blanks', '.\nFrom here \n\ttab é ', 'quoted-printable'],
    ['another script', '你好，世界'.repeat(50), 'base64'],
    ['a last line with no room for a soft break', `a\n${'x'.repeat(76)}`, '7bit'],
    ['such a line that ends encoded', `${'x'.repeat(73)}é`, 'quoted-printable'],
    ['nothing', '', '7bit'],
    ['very long', 'line of text\n'.repeat(40_000), 'base64'],
    ['what only octets are', 'a\0b\x07c\u2028d, and more of it', 'quoted-printable'],
  ])('text comes back exactly: %s', async (_what, value, encoding) => {
    const alternative = {
      type: 'multipart/alternative',
      subParts: [{ partId: 't' }, { partId: 'h', type: 'text/html' }],
    };
    const bodyValues = { t: { value }, h: { value } };
    const { parts, text, octets } = await createAndParse(fixture, { bodyStructure: alternative, bodyValues });
    checkLines(octets);
    expect(parts[1]).toMatchObject({ encoding, charset: 'utf-8' });
    expect(text('1').replaceAll('\r\n', '\n')).toBe(value);
    expect(text('2').replaceAll('\r\n', '\n')).toBe(value);
    const alone = parseTestMessage(
      await octetsOf(fixture, (await create(fixture, { textBody: [{ partId: 't' }], bodyValues })).blobId),
    );
    checkLines(alone.octets);
    expect(alone.text('1').replaceAll('\r\n', '\n')).toBe(value);
  });

  test.each([0, 1, 56, 57, 58, 57 * 1024, 57 * 1024 + 1, 300_000, 3_000_000])(
    'a blob of %i octets comes back exactly, alone and among others',
    async (size) => {
      const octets = Buffer.from(Array.from({ length: Math.min(size, 997) }, (_, i) => (i * 7) % 256));
      const blob = Buffer.alloc(size, octets.length === 0 ? 0 : octets);
      const blobId = await upload(fixture, blob, 'image/png; x=y');
      const one = await createAndParse(fixture, { bodyStructure: { blobId } });
      expect(one.parts[0]).toMatchObject({ type: 'image', subtype: 'png' });
      expect(one.body('1').equals(blob)).toBe(true);
      const many = await createAndParse(fixture, { ...TEXT, attachments: [{ blobId }, { blobId, name: 'b' }] });
      expect(many.body('2').equals(blob)).toBe(true);
      expect(many.body('3').equals(blob)).toBe(true);
      checkLines(many.octets);
    },
  );

  test('an attached message is not encoded and can be opened', async () => {
    const message = 'Subject: inner\r\n\r\nGr\u00fc\u00dfe\r\n.\r\n';
    const eight = await upload(fixture, message, 'message/rfc822');
    const seven = await upload(fixture, 'Subject: inner\r\n\r\nHi', 'message/rfc822');
    const wide = await upload(fixture, `Subject: inner\r\n\r\n${'x'.repeat(2_000)}`, 'message/rfc822');
    const attachments = [eight, seven, wide].map((blobId) => ({ blobId }));
    const { parts, body } = await createAndParse(fixture, { ...TEXT, attachments });
    expect(types(parts)).toEqual([
      ' multipart/mixed',
      '1 text/plain',
      '2 message/rfc822',
      '2.1 text/plain',
      '3 message/rfc822',
      '3.1 text/plain',
      '4 application/octet-stream',
    ]);
    expect(['2', '3', '4'].map((path) => parts.find((part) => part.path === path)?.encoding)).toEqual([
      '8bit',
      '7bit',
      'base64',
    ]);
    expect(body('4').length).toBe(2_018);
    expect(body('2').toString()).toBe(message);
  });

  test('a part and a whole message can be attached by their blob ids', async () => {
    const first = await createAndParse(fixture, { ...TEXT, attachments: [{ blobId: pdf, name: 'a.pdf' }] });
    const again = await createAndParse(fixture, {
      ...TEXT,
      attachments: [{ blobId: `${first.made.id}-2`, name: 'b.pdf' }, { blobId: first.made.blobId }],
    });
    expect(again.body('2')).toEqual(first.body('2'));
    expect(again.body('3')).toEqual(first.octets);
  });

  test('a structure of the maximum depth can be read back', async () => {
    const nested = (depth: number): object =>
      depth === 0 ? { partId: 't' } : { type: 'multipart/mixed', subParts: [nested(depth - 1)] };
    const { parts } = await createAndParse(fixture, { bodyStructure: nested(19), bodyValues: TEXT.bodyValues });
    expect(parts.length).toBe(20);
    expect(await createRefused(fixture, { bodyStructure: nested(20), bodyValues: TEXT.bodyValues })).toMatchObject({
      type: 'invalidProperties',
      properties: ['bodyStructure'],
    });
  });
});

const bad = (email: object, properties: string[]): [object, object] => [
  email,
  { type: 'invalidProperties', description: expect.any(String), properties },
];

describe('refused', () => {
  test.each([
    ['headers', ...bad({ headers: [] }, ['headers'])],
    ['what the server sets', ...bad({ size: 5 }, ['size'])],
    ['an unknown property', ...bad({ colour: 'red' }, ['colour'])],
    ['no mailbox', ...bad({ mailboxIds: {} }, ['mailboxIds'])],
    ['mailboxes that are null', ...bad({ mailboxIds: null }, ['mailboxIds'])],
    ['an unknown mailbox', ...bad({ mailboxIds: { fzz: true } }, ['mailboxIds'])],
    ['a creation id that made nothing', ...bad({ mailboxIds: { '#no': true } }, ['mailboxIds'])],
    ['no id', ...bad({ mailboxIds: { 'a b': true } }, ['mailboxIds'])],
    ['false for a mailbox', ...bad({ mailboxIds: { f1: false } }, ['mailboxIds'])],
    ['false for a keyword', ...bad({ keywords: { $seen: false } }, ['keywords'])],
    ['a keyword with a blank', ...bad({ keywords: { 'a b': true } }, ['keywords'])],
    ['a keyword as IMAP writes it', ...bad({ keywords: { '\\Seen': true } }, ['keywords'])],
    ['a time without a zone', ...bad({ receivedAt: '2026-01-01T00:00:00' }, ['receivedAt'])],
    ['two of one field', ...bad({ subject: 'a', 'header:SUBJECT:asText': 'b' }, ['header:SUBJECT:asText'])],
    ['From twice', ...bad({ 'header:From:asRaw:all': ['a@b.test', 'c@d.test'] }, ['header:From:asRaw:all'])],
    [
      'a form that a field has not',
      ...bad({ 'header:Subject:asDate': '2026-01-01T00:00:00Z' }, ['header:Subject:asDate']),
    ],
    ['an unknown form', ...bad({ 'header:X:asJson': 'x' }, ['header:X:asJson'])],
    ['suffixes in the wrong order', ...bad({ 'header:X:all:asText': ['x'] }, ['header:X:all:asText'])],
    ['a field name with a blank', ...bad({ 'header:X Y': 'x' }, ['header:X Y'])],
    ['a content field on top', ...bad({ 'header:Content-Type': 'text/plain' }, ['header:Content-Type'])],
    ['two message ids', ...bad({ messageId: ['a@b', 'c@d'] }, ['messageId'])],
    [
      'two message ids of a field',
      ...bad({ 'header:Message-ID:asMessageIds': ['a@b', 'c@d'] }, ['header:Message-ID:asMessageIds']),
    ],
    [
      'a part with a long header',
      ...bad({ attachments: [{ partId: 't', 'header:X-A:asText': 'word '.repeat(8_000) }] }, ['attachments']),
    ],
    ['a field name that fits on no line', ...bad({ [`header:${'x'.repeat(80)}`]: 'x' }, [`header:${'x'.repeat(80)}`])],
    ['a message id in brackets', ...bad({ messageId: ['<a@b>'] }, ['messageId'])],
    ['an address with a blank', ...bad({ to: [{ email: 'a b@c.test' }] }, ['to'])],
    ['an address that is none', ...bad({ to: [{ email: 'a@@c' }] }, ['to'])],
    ['an address without email', ...bad({ to: [{ name: 'A' }] }, ['to'])],
    ['addresses that are no array', ...bad({ to: { email: 'a@b.test' } }, ['to'])],
    ['a date of no calendar', ...bad({ sentAt: '2026-13-41T00:00:00Z' }, ['sentAt'])],
    ['a body given twice', ...bad({ bodyStructure: { partId: 't' }, textBody: [] }, ['textBody'])],
    ['two text bodies', ...bad({ textBody: [{ partId: 't' }, { partId: 'u' }] }, ['textBody'])],
    ['an empty text body', ...bad({ textBody: [] }, ['textBody'])],
    ['a text body of HTML', ...bad({ textBody: [{ partId: 't', type: 'text/html' }] }, ['textBody'])],
    ['an HTML body of text', ...bad({ htmlBody: [{ partId: 't', type: 'text/plain' }] }, ['htmlBody'])],
    ['a part with nothing in it', ...bad({ attachments: [{ type: 'a/b' }] }, ['attachments'])],
    ['partId and blobId', ...bad({ textBody: [{ partId: 't', blobId: 'u1' }] }, ['textBody'])],
    ['a partId without a value', ...bad({ textBody: [{ partId: 'none' }] }, ['textBody'])],
    [
      'one value in two parts',
      ...bad({ textBody: [{ partId: 't' }], attachments: [{ partId: 't' }] }, ['attachments']),
    ],
    ['a charset with a partId', ...bad({ textBody: [{ partId: 't', charset: 'utf-8' }] }, ['textBody'])],
    ['a size with a partId', ...bad({ textBody: [{ partId: 't', size: 3 }] }, ['textBody'])],
    ['headers of a part', ...bad({ textBody: [{ partId: 't', headers: [] }] }, ['textBody'])],
    [
      'a transfer encoding',
      ...bad({ textBody: [{ partId: 't', 'header:Content-Transfer-Encoding': '8bit' }] }, ['textBody']),
    ],
    [
      'a field and its property',
      ...bad({ textBody: [{ partId: 't', cid: 'a', 'header:Content-ID': '<b>' }] }, ['textBody']),
    ],
    [
      'a field of top and root',
      ...bad({ subject: 'a', bodyStructure: { partId: 't', 'header:Subject:asText': 'b' } }, ['bodyStructure']),
    ],
    [
      'parts of what is no multipart',
      ...bad({ bodyStructure: { type: 'text/plain', subParts: [{ partId: 't' }] } }, ['bodyStructure']),
    ],
    ['a multipart of nothing', ...bad({ bodyStructure: { type: 'multipart/mixed', subParts: [] } }, ['bodyStructure'])],
    ['a multipart with text', ...bad({ bodyStructure: { type: 'multipart/mixed', partId: 't' } }, ['bodyStructure'])],
    ['an attachment with parts', ...bad({ attachments: [{ subParts: [{ partId: 't' }] }] }, ['attachments'])],
    ['a type with a parameter', ...bad({ textBody: [{ partId: 't', type: 'text/plain; x=y' }] }, ['textBody'])],
    ['a text that was cut', ...bad({ bodyValues: { t: { value: 'x', isTruncated: true } } }, ['bodyValues'])],
    ['a text with problems', ...bad({ bodyValues: { t: { value: 'x', isEncodingProblem: true } } }, ['bodyValues'])],
    ['a value that is a number', ...bad({ bodyValues: { t: { value: 5 } } }, ['bodyValues'])],
  ])('%s', async (_what, email, expected) => {
    const bodyValues = { t: { value: 'x' }, u: { value: 'y' } };
    expect(await createRefused(fixture, { bodyValues, ...email })).toEqual(expected);
  });

  test('all missing blobs are reported', async () => {
    const attachments = [{ blobId: 'u999' }, { blobId: pdf }, { blobId: 'nonsense' }, { blobId: 'u999' }];
    expect(await createRefused(fixture, { ...TEXT, attachments })).toEqual({
      type: 'blobNotFound',
      description: expect.any(String),
      notFound: ['u999', 'nonsense'],
    });
  });

  test('too many keywords, too many mailboxes', async () => {
    const many = (count: number, name: (i: number) => string): object =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [name(i), true]));
    expect(await createRefused(fixture, { keywords: many(200, (i) => `k${i}`) })).toMatchObject({
      type: 'tooManyKeywords',
    });
    const mailboxIds = many(201, (i) => `f${(i + 1).toString(36)}`);
    expect(await createRefused(fixture, { mailboxIds })).toMatchObject({ type: 'tooManyMailboxes' });
  });

  test('attachments and texts over the limits', async () => {
    await using small = await createJmapFixture();
    Object.assign(small.context, { maxMessageBytes: 200_000 });
    const blobId = await upload(small, Buffer.alloc(60_000));
    expect(await createRefused(small, { attachments: [{ blobId }, { blobId }] })).toMatchObject({ type: 'tooLarge' });
    const bodyValues = { t: { value: 'é'.repeat(150_000) } };
    expect(await createRefused(small, { ...TEXT, bodyValues })).toMatchObject({ type: 'tooLarge' });
    expect(await createRefused(small, { 'header:X-Long:asText': 'word '.repeat(40_000) })).toMatchObject({
      type: 'tooLarge',
    });
    expect((await seenByImap(small)).size).toBe(0);
  });
});

const HOSTILE = [
  'a\r\nBcc: evil@x.test',
  'a\nBcc: evil@x.test',
  'a\rBcc: evil@x.test',
  'a\0b',
  'a\u2028Bcc: x',
  'a\u2029b',
  'a\x85b',
  'a\x1bb',
  'a\r\n\r\nbody',
];

describe.each(HOSTILE)('%j cannot inject a header field or line', (evil) => {
  test.each([
    ['subject', { subject: evil }, 'subject'],
    ['a name', { to: [{ name: evil, email: 'a@b.test' }] }, 'to'],
    ['an address', { to: [{ name: null, email: `${evil}@b.test` }] }, 'to'],
    ['a group', { 'header:To:asGroupedAddresses': [{ name: evil, addresses: [] }] }, 'header:To:asGroupedAddresses'],
    ['a raw field', { 'header:X-A': evil }, 'header:X-A'],
    ['an id', { inReplyTo: [evil] }, 'inReplyTo'],
    ['a URL', { 'header:List-Post:asURLs': [evil] }, 'header:List-Post:asURLs'],
    ['a date', { sentAt: evil }, 'sentAt'],
    ['a file name', { attachments: [{ partId: 't', name: evil }] }, 'attachments'],
    ['a type', { attachments: [{ partId: 't', type: evil }] }, 'attachments'],
    ['a disposition', { attachments: [{ partId: 't', disposition: evil }] }, 'attachments'],
    ['a content id', { attachments: [{ partId: 't', cid: evil }] }, 'attachments'],
    ['a language', { attachments: [{ partId: 't', language: [evil] }] }, 'attachments'],
    ['a location', { attachments: [{ partId: 't', location: evil }] }, 'attachments'],
    ['a parameter', { attachments: [{ partId: 't', 'header:Content-Type': `a/b; x="${evil}"` }] }, 'attachments'],
    ['a field of a part', { attachments: [{ partId: 't', 'header:X-B:asText': evil }] }, 'attachments'],
  ])('as %s', async (_what, email, property) => {
    const error = await createRefused(fixture, { bodyValues: { t: { value: 'x' } }, ...email });
    expect(error).toMatchObject({ type: 'invalidProperties', properties: [property] });
  });
});

describe('header text round-trips', () => {
  test.each([
    'grün 你好 ünïcödé '.repeat(30).trim(),
    'long '.repeat(300).trim(),
    'x'.repeat(2_000),
    '=?utf-8?Q?trap?=',
    ' blanks at both ends ',
    `two  blanks ${'and a   long line '.repeat(20)}end`,
    '😀'.repeat(200),
  ])('%j', async (subject) => {
    const { octets, subject: read, header } = await createAndParse(fixture, { ...TEXT, subject });
    checkLines(octets);
    expect(read).toBe(subject.trim());
    for (const word of header.match(/=\?utf-8\?[^ \r]*/g) ?? []) expect(word.length).toBeLessThanOrEqual(75);
    expect(header).not.toMatch(/\r\n[ \t]*\r\n[^$]/);
  });

  test('a folded raw value is stored unchanged', async () => {
    const raw = ' one\r\n\ttwo\r\n three';
    const { header } = await createAndParse(fixture, { ...TEXT, 'header:X-Folded': raw });
    expect(header).toContain(`X-Folded:${raw}\r\n`);
    expect(await createRefused(fixture, { 'header:X-Folded': 'a\r\n \r\n b' })).toMatchObject({
      properties: ['header:X-Folded'],
    });
    expect(await createRefused(fixture, { 'header:X-Folded': 'ü' })).toMatchObject({ properties: ['header:X-Folded'] });
  });

  test.each([
    'a.pdf',
    'ünï cödé.pdf',
    '"quoted\\".txt',
    `${'long '.repeat(40)}.txt`,
    '../../etc/passwd',
    '=?utf-8?Q?x?=',

    '你好'.repeat(100),
  ])('a file name: %j', async (name) => {
    const { parts, octets } = await createAndParse(fixture, { ...TEXT, attachments: [{ blobId: pdf, name }] });
    checkLines(octets);
    expect(parts.at(-1)?.filename).toBe(name);
  });
});

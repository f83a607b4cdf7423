import { describe, expect, test } from 'vitest';
import { createMailbox, findMailbox, removeMailbox } from '../../../../mail/store/mailbox/mailbox.ts';
import { copyEntries, storeFlags } from '../../../../mail/store/mailbox/entry-commands.ts';
import { DELETED, DRAFT, FLAGGED, SEEN } from '../../../../mail/store/mailbox/flags.ts';
import { jmapId } from '../../../../mail/jmap/core/ids.ts';
import { receiveMessage, testBackend } from '../../../support/receive-message.ts';
import { getOne, storeTestMessage, octetsOf } from '../../../support/jmap-message.ts';
import { createJmapFixture, type JmapFixture, jmapFixtureOn } from '../../../support/jmap-fixture.ts';
import { testAccount } from '../../../support/store.ts';

const PLAIN = `Return-Path: <ann@example.org>
Received: from a
Received: from b
From: =?utf-8?Q?J=C3=BCrgen?= <juergen@example.org>
To: "Bob B." <bob@box.test>, Team: c@box.test;
Reply-To: other@example.org
Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=
Date: Fri, 20 Nov 2026 09:30:00 +0100
Message-ID: <one@example.org>
In-Reply-To: <zero@example.org>
References: <minus@example.org>
 <zero@example.org>
X-Twice: first
x-twice: second
List-Unsubscribe: <https://example.org/u>, <mailto:u@example.org>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable
Content-Language: de

Hallo =C3=A4
`;

const BOTH = `Subject: both
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=m

--m
Content-Type: multipart/alternative; boundary=a

--a
Content-Type: text/plain; charset=utf-8

plain

--a
Content-Type: text/html; charset=utf-8

<b>html</b>

--a--
--m
Content-Type: application/pdf; name="=?utf-8?Q?=C3=A4?=.pdf"
Content-Transfer-Encoding: base64
Content-Disposition: attachment
Content-ID: <part@example.org>
Content-Location: http://example.org/a.pdf

JVBERg==

--m--
`;

async function otherMailbox(fixture: JmapFixture, name: string): Promise<number> {
  await fixture.box.store.write(createMailbox, { account: fixture.account, name, role: null });
  const found = await fixture.box.store.read(findMailbox, { account: fixture.account, name });
  return found?.id ?? 0;
}

describe('Email/get', () => {
  test('the default properties', async () => {
    await using fixture = await createJmapFixture();
    const id = await storeTestMessage(fixture, PLAIN, { bits: SEEN | FLAGGED, keywords: ['$Forwarded', 'Later'] });
    const { state, list, notFound } = await fixture.call('Email/get', { ids: [id] });
    expect([typeof state, notFound]).toEqual(['string', []]);
    const part = {
      partId: '1',
      blobId: `${id}-1`,
      size: 'Hallo ä\r\n'.length + 1,
      name: null,
      type: 'text/plain',
      charset: 'utf-8',
      disposition: null,
      cid: null,
      language: ['de'],
      location: null,
    };
    expect(list).toEqual([
      {
        id,
        blobId: id,
        threadId: expect.stringMatching(/^t/) as string,
        mailboxIds: { [jmapId('mailbox', fixture.inbox)]: true },
        keywords: { $seen: true, $flagged: true, $forwarded: true, later: true },
        size: octetsOf(PLAIN).length,
        receivedAt: '2026-01-01T00:00:00Z',
        messageId: ['one@example.org'],
        inReplyTo: ['zero@example.org'],
        references: ['minus@example.org', 'zero@example.org'],
        sender: null,
        from: [{ name: 'Jürgen', email: 'juergen@example.org' }],
        to: [
          { name: 'Bob B.', email: 'bob@box.test' },
          { name: null, email: 'c@box.test' },
        ],
        cc: null,
        bcc: null,
        replyTo: [{ name: null, email: 'other@example.org' }],
        subject: 'Grüße',
        sentAt: '2026-11-20T09:30:00+01:00',
        hasAttachment: false,
        preview: 'Hallo ä',
        bodyValues: {},
        textBody: [part],
        htmlBody: [part],
        attachments: [],
      },
    ]);
  });

  test('only requested properties, and the id', async () => {
    await using fixture = await createJmapFixture();
    const id = await storeTestMessage(fixture, PLAIN);
    expect(await getOne(fixture, id, { properties: ['subject', 'subject'] })).toEqual({ id, subject: 'Grüße' });
    expect(await getOne(fixture, id, { properties: [] })).toEqual({ id });
  });

  test('header fields in every form, under the names that the client gave them', async () => {
    await using fixture = await createJmapFixture();
    const id = await storeTestMessage(fixture, PLAIN);
    const fields = {
      'header:X-Twice': ' second',
      'header:x-tWICE:asText': 'second',
      'header:X-Twice:all': [' first', ' second'],
      'header:X-Missing': null,
      'header:X-Missing:all': [],
      'header:X-Missing:asAddresses': null,
      'header:Received:asRaw:all': [' from a', ' from b'],
      'header:To:asGroupedAddresses': [
        { name: null, addresses: [{ name: 'Bob B.', email: 'bob@box.test' }] },
        { name: 'Team', addresses: [{ name: null, email: 'c@box.test' }] },
      ],
      'header:Date:asDate': '2026-11-20T09:30:00+01:00',
      'header:References:asMessageIds': ['minus@example.org', 'zero@example.org'],
      'header:List-Unsubscribe:asURLs': ['https://example.org/u', 'mailto:u@example.org'],
      'header:X-Twice:asDate': null,
      'header:X-Twice:asURLs:all': [null, null],
    };
    expect(await getOne(fixture, id, { properties: Object.keys(fields) })).toEqual({ id, ...fields });
    const { headers } = await getOne(fixture, id, { properties: ['headers'] });
    expect((headers as object[]).slice(0, 2)).toEqual([
      { name: 'Return-Path', value: ' <ann@example.org>' },
      { name: 'Received', value: ' from a' },
    ]);
    expect(headers).toContainEqual({ name: 'References', value: ' <minus@example.org>\r\n <zero@example.org>' });
    expect(headers).toContainEqual({ name: 'x-twice', value: ' second' });
  });

  test('a body with its parts', async () => {
    await using fixture = await createJmapFixture();
    const id = await storeTestMessage(fixture, BOTH);
    const found = await getOne(fixture, id, {
      properties: ['bodyStructure', 'textBody', 'htmlBody', 'attachments', 'hasAttachment'],
      bodyProperties: ['partId', 'blobId', 'type', 'size', 'subParts'],
    });
    const plain = { partId: '1.1', blobId: `${id}-1_1`, type: 'text/plain', size: 7, subParts: null };
    const html = { partId: '1.2', blobId: `${id}-1_2`, type: 'text/html', size: 13, subParts: null };
    const pdf = { partId: '2', blobId: `${id}-2`, type: 'application/pdf', size: 4, subParts: null };
    const none = { partId: null, blobId: null, size: expect.any(Number) as number };
    expect(found).toEqual({
      id,
      bodyStructure: {
        ...none,
        type: 'multipart/mixed',
        subParts: [{ ...none, type: 'multipart/alternative', subParts: [plain, html] }, pdf],
      },
      textBody: [plain],
      htmlBody: [html],
      attachments: [pdf],
      hasAttachment: true,
    });
  });

  test('the properties of a part, its header fields too', async () => {
    await using fixture = await createJmapFixture();
    const id = await storeTestMessage(fixture, BOTH);
    const found = await getOne(fixture, id, {
      properties: ['attachments', 'bodyStructure'],
      bodyProperties: ['name', 'disposition', 'cid', 'charset', 'location', 'header:content-type', 'headers'],
    });
    expect(found['attachments']).toEqual([
      {
        name: 'ä.pdf',
        disposition: 'attachment',
        cid: 'part@example.org',
        charset: null,
        location: 'http://example.org/a.pdf',
        'header:content-type': ' application/pdf; name="=?utf-8?Q?=C3=A4?=.pdf"',
        headers: expect.arrayContaining([{ name: 'Content-Transfer-Encoding', value: ' base64' }]) as object[],
      },
    ]);
    expect(found['bodyStructure']).toMatchObject({
      'header:content-type': ' multipart/mixed; boundary=m',
      headers: expect.arrayContaining([{ name: 'Subject', value: ' both' }]) as object[],
    });
  });

  test('the requested body values', async () => {
    await using fixture = await createJmapFixture();
    const id = await storeTestMessage(fixture, BOTH);
    const cases: [Record<string, unknown>, Record<string, string>][] = [
      [{ fetchTextBodyValues: true }, { '1.1': 'plain\n' }],
      [{ fetchHTMLBodyValues: true }, { '1.2': '<b>html</b>\n' }],
      [{ fetchAllBodyValues: true }, { '1.1': 'plain\n', '1.2': '<b>html</b>\n' }],
      [{ fetchTextBodyValues: true, maxBodyValueBytes: 3 }, { '1.1': 'pla' }],
      [{}, {}],
    ];
    for (const [args, values] of cases) {
      const { bodyValues } = await getOne(fixture, id, { properties: ['bodyValues'], ...args });
      const more = { isTruncated: 'maxBodyValueBytes' in args, isEncodingProblem: false };
      expect(bodyValues).toEqual(
        Object.fromEntries(Object.entries(values).map(([path, value]) => [path, { value, ...more }])),
      );
    }
  });

  test('a value has at most 1 MiB, all values of a message 8 MiB', async () => {
    await using fixture = await createJmapFixture();
    const part = `--m\nContent-Type: text/plain\n\n${'0123456789abcde\n'.repeat(80_000)}\n`;
    const text = `Content-Type: multipart/mixed; boundary=m\n\n${part.repeat(9)}--m--\n`;
    const id = await storeTestMessage(fixture, text);
    const { bodyValues } = await getOne(fixture, id, { properties: ['bodyValues'], fetchAllBodyValues: true });
    const values = Object.values(bodyValues as Record<string, { value: string; isTruncated: boolean }>);
    expect(values.map(({ value }) => value.length)).toEqual([...Array<number>(8).fill(1024 * 1024), 0]);
    expect(values.every(({ isTruncated }) => isTruncated)).toBe(true);
  });

  test('trace fields before the message do not shift part offsets', async () => {
    await using fixture = await createJmapFixture();
    await receiveMessage(testBackend(fixture.box), { from: 'ann@example.org', to: 'me@box.test', body: BOTH });
    const { list } = await fixture.call('Email/get', { ids: null, properties: ['headers', 'size'] });
    const [{ id, headers }] = list as [{ id: string; headers: { name: string }[] }];
    expect(headers.map(({ name }) => name)).toEqual(expect.arrayContaining(['Return-Path', 'Received', 'Subject']));
    const found = await getOne(fixture, id, {
      properties: ['bodyValues', 'attachments'],
      bodyProperties: ['header:Content-Location'],
      fetchAllBodyValues: true,
    });
    expect(found).toMatchObject({
      bodyValues: { '1.1': { value: 'plain\n' }, '1.2': { value: '<b>html</b>\n' } },
      attachments: [{ 'header:Content-Location': ' http://example.org/a.pdf' }],
    });
  });
});

describe('visible messages', () => {
  test('all without ids, unless there are too many', async () => {
    await using fixture = await createJmapFixture('calling thread', { maxObjectsInGet: 2 });
    const ids = [await storeTestMessage(fixture, PLAIN), await storeTestMessage(fixture, BOTH)];
    const { list } = await fixture.call('Email/get', { ids: null, properties: ['id'] });
    expect(list).toEqual(ids.map((id) => ({ id })));
    await storeTestMessage(fixture, PLAIN);
    expect(await fixture.refusal('Email/get', { ids: null })).toMatchObject({ type: 'requestTooLarge' });
    expect(await fixture.refusal('Email/get', { ids: ['m1', 'm2', 'm3'] })).toMatchObject({ type: 'requestTooLarge' });
  });

  test('ids of another account, unknown and invalid ids are all not found', async () => {
    await using fixture = await createJmapFixture();
    await storeTestMessage(fixture, PLAIN);
    const other = await testAccount(fixture.box.store, 'you');
    const yours = jmapFixtureOn(fixture.box, { ...other, address: 'you@box.test' });
    for (let i = 0; i < 3; i++) await storeTestMessage(yours, BOTH);
    const queried = ['m3', 'm99', 'nothing', 'm1'];
    const mine = await fixture.call('Email/get', { ids: queried, properties: ['subject'] });
    expect(mine).toMatchObject({ list: [{ id: 'm1', subject: 'Grüße' }], notFound: ['m3', 'm99', 'nothing'] });
    expect(await fixture.refusal('Email/get', { accountId: yours.accountId, ids: ['m3'] })).toMatchObject({
      type: 'accountNotFound',
    });
  });

  test('mailboxIds omits deleted mailboxes and those where the entry has \\Deleted', async () => {
    await using fixture = await createJmapFixture();
    const id = await storeTestMessage(fixture, PLAIN, { bits: DRAFT, keywords: [] });
    const [kept, gone] = [await otherMailbox(fixture, 'Kept'), await otherMailbox(fixture, 'Gone')];
    const from = { account: fixture.account, mailbox: fixture.inbox, uids: [1] };
    for (const to of [kept, gone]) {
      await fixture.box.store.write(copyEntries, { ...from, to, move: false });
    }
    const where = async (): Promise<unknown> =>
      (await getOne(fixture, id, { properties: ['mailboxIds'] }))['mailboxIds'];
    const named = (...mailboxes: number[]): unknown =>
      Object.fromEntries(mailboxes.map((mailbox) => [jmapId('mailbox', mailbox), true]));
    expect(await where()).toEqual(named(fixture.inbox, kept, gone));
    await fixture.box.store.write(removeMailbox, { account: fixture.account, name: 'Gone' });
    expect(await where()).toEqual(named(fixture.inbox, kept));
    const flags = { how: 'add', flags: { bits: DELETED, keywords: [] }, unchangedSince: null } as const;
    await fixture.box.store.write(storeFlags, { ...from, ...flags });
    expect(await where()).toEqual(named(kept));
    await fixture.box.store.write(storeFlags, { ...from, mailbox: kept, ...flags });
    expect(await fixture.call('Email/get', { ids: [id] })).toMatchObject({ list: [], notFound: [id] });
  });
});

describe('Email/get refuses', () => {
  test('invalid arguments, with the reason', async () => {
    await using fixture = await createJmapFixture();
    const cases: [Record<string, unknown>, string][] = [
      [{ properties: ['nothing'] }, 'nothing'],
      [{ properties: ['mailstead:trace'] }, 'mailstead:trace'],
      [{ properties: ['header:From:asText'] }, 'Addresses'],
      [{ properties: ['header:'] }, 'header:NAME'],
      [{ bodyProperties: ['nothing'] }, 'nothing'],
      [{ bodyProperties: ['header:From:asDate'] }, 'Addresses'],
      [{ maxBodyValueBytes: -1 }, 'maxBodyValueBytes'],
      [{ fetchTextBodyValues: 1 }, 'fetchTextBodyValues'],
      [{ nothing: 1 }, 'nothing'],
      [{ properties: Array.from({ length: 101 }, (_, i) => `header:X-${i}`) }, '100 header fields'],
    ];
    for (const [args, why] of cases) {
      expect(await fixture.refusal('Email/get', { ids: [], ...args })).toEqual({
        type: 'invalidArguments',
        description: expect.stringContaining(why) as string,
        arguments: expect.any(Array) as string[],
      });
    }
  });

  test('requests over the read budget', async () => {
    await using fixture = await createJmapFixture();
    const ids: string[] = [];
    for (let i = 0; i < 8; i++) ids.push(await storeTestMessage(fixture, `X-Long: ${'x'.repeat(90_000)}\n\n`));
    const spellings = Array.from({ length: 32 }, (_, i) =>
      'xlong'
        .split('')
        .map((char, at) => (((i >> at) & 1) === 1 ? char.toUpperCase() : char))
        .join('')
        .replace(/^x/i, '$&-'),
    );
    const properties = spellings.flatMap((name) => [`header:${name}`, `header:${name}:all`]);
    expect(Object.keys(await getOne(fixture, 'm1', { properties }))).toHaveLength(65);
    const [response] = (await fixture.request([['Email/get', { accountId: fixture.accountId, ids, properties }, 'c']]))
      .methodResponses;
    expect(response?.[0]).toBe('error');
    expect(response?.[1]).toMatchObject({ type: 'requestTooLarge' });
  });
});

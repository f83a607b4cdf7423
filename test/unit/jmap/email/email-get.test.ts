import { describe, expect, test } from 'vitest';
import { createMailbox, findMailbox, removeMailbox } from '../../../../mail/store/mailbox.ts';
import { copyEntries, storeFlags } from '../../../../mail/store/entry-commands.ts';
import { DELETED, DRAFT, FLAGGED, SEEN } from '../../../../mail/store/flags.ts';
import { jmapId } from '../../../../mail/jmap/ids.ts';
import { arrive, testIntake } from '../../../support/arrivals.ts';
import { getOne, keep, octetsOf } from '../../../support/jmap-kept.ts';
import { jmapWorld, type JmapWorld, worldOn } from '../../../support/jmap-world.ts';
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

async function otherMailbox(world: JmapWorld, name: string): Promise<number> {
  await world.box.store.write(createMailbox, { account: world.account, name, role: null });
  const found = await world.box.store.read(findMailbox, { account: world.account, name });
  return found?.id ?? 0;
}

describe('Email/get', () => {
  test('the default properties', async () => {
    await using world = await jmapWorld();
    const id = await keep(world, PLAIN, { bits: SEEN | FLAGGED, keywords: ['$Forwarded', 'Later'] });
    const { state, list, notFound } = await world.call('Email/get', { ids: [id] });
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
        mailboxIds: { [jmapId('mailbox', world.inbox)]: true },
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

  test('only what was asked for, and the id', async () => {
    await using world = await jmapWorld();
    const id = await keep(world, PLAIN);
    expect(await getOne(world, id, { properties: ['subject', 'subject'] })).toEqual({ id, subject: 'Grüße' });
    expect(await getOne(world, id, { properties: [] })).toEqual({ id });
  });

  test('header fields in every form, under the names that the client gave them', async () => {
    await using world = await jmapWorld();
    const id = await keep(world, PLAIN);
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
    expect(await getOne(world, id, { properties: Object.keys(fields) })).toEqual({ id, ...fields });
    const { headers } = await getOne(world, id, { properties: ['headers'] });
    expect((headers as object[]).slice(0, 2)).toEqual([
      { name: 'Return-Path', value: ' <ann@example.org>' },
      { name: 'Received', value: ' from a' },
    ]);
    expect(headers).toContainEqual({ name: 'References', value: ' <minus@example.org>\r\n <zero@example.org>' });
    expect(headers).toContainEqual({ name: 'x-twice', value: ' second' });
  });

  test('a body with its parts', async () => {
    await using world = await jmapWorld();
    const id = await keep(world, BOTH);
    const found = await getOne(world, id, {
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

  test('what is known of a part, its header fields too', async () => {
    await using world = await jmapWorld();
    const id = await keep(world, BOTH);
    const found = await getOne(world, id, {
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

  test('values of the texts that were asked for', async () => {
    await using world = await jmapWorld();
    const id = await keep(world, BOTH);
    const cases: [Record<string, unknown>, Record<string, string>][] = [
      [{ fetchTextBodyValues: true }, { '1.1': 'plain\n' }],
      [{ fetchHTMLBodyValues: true }, { '1.2': '<b>html</b>\n' }],
      [{ fetchAllBodyValues: true }, { '1.1': 'plain\n', '1.2': '<b>html</b>\n' }],
      [{ fetchTextBodyValues: true, maxBodyValueBytes: 3 }, { '1.1': 'pla' }],
      [{}, {}],
    ];
    for (const [args, values] of cases) {
      const { bodyValues } = await getOne(world, id, { properties: ['bodyValues'], ...args });
      const more = { isTruncated: 'maxBodyValueBytes' in args, isEncodingProblem: false };
      expect(bodyValues).toEqual(
        Object.fromEntries(Object.entries(values).map(([path, value]) => [path, { value, ...more }])),
      );
    }
  });

  test('a value is a megabyte at most, those of one message eight; whoever wants more has the blob', async () => {
    await using world = await jmapWorld();
    const part = `--m\nContent-Type: text/plain\n\n${'0123456789abcde\n'.repeat(80_000)}\n`;
    const text = `Content-Type: multipart/mixed; boundary=m\n\n${part.repeat(9)}--m--\n`;
    const id = await keep(world, text);
    const { bodyValues } = await getOne(world, id, { properties: ['bodyValues'], fetchAllBodyValues: true });
    const values = Object.values(bodyValues as Record<string, { value: string; isTruncated: boolean }>);
    expect(values.map(({ value }) => value.length)).toEqual([...Array<number>(8).fill(1024 * 1024), 0]);
    expect(values.every(({ isTruncated }) => isTruncated)).toBe(true);
  });

  test('lines that stand before the message for its recipient alone move nothing', async () => {
    await using world = await jmapWorld();
    await arrive(testIntake(world.box), { from: 'ann@example.org', to: 'me@box.test', body: BOTH });
    const { list } = await world.call('Email/get', { ids: null, properties: ['headers', 'size'] });
    const [{ id, headers }] = list as [{ id: string; headers: { name: string }[] }];
    expect(headers.map(({ name }) => name)).toEqual(expect.arrayContaining(['Return-Path', 'Received', 'Subject']));
    const found = await getOne(world, id, {
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

describe('which messages there are', () => {
  test('all of them when no ids are named, unless there are too many', async () => {
    await using world = await jmapWorld('calling thread', { maxObjectsInGet: 2 });
    const ids = [await keep(world, PLAIN), await keep(world, BOTH)];
    const { list } = await world.call('Email/get', { ids: null, properties: ['id'] });
    expect(list).toEqual(ids.map((id) => ({ id })));
    await keep(world, PLAIN);
    expect(await world.refusal('Email/get', { ids: null })).toMatchObject({ type: 'requestTooLarge' });
    expect(await world.refusal('Email/get', { ids: ['m1', 'm2', 'm3'] })).toMatchObject({ type: 'requestTooLarge' });
  });

  test('those of another account, unknown ones and what is no id are equally not there', async () => {
    await using world = await jmapWorld();
    await keep(world, PLAIN);
    const other = await testAccount(world.box.store, 'you');
    const yours = worldOn(world.box, { ...other, address: 'you@box.test' });
    for (let i = 0; i < 3; i++) await keep(yours, BOTH);
    const asked = ['m3', 'm99', 'nothing', 'm1'];
    const mine = await world.call('Email/get', { ids: asked, properties: ['subject'] });
    expect(mine).toMatchObject({ list: [{ id: 'm1', subject: 'Grüße' }], notFound: ['m3', 'm99', 'nothing'] });
    expect(await world.refusal('Email/get', { accountId: yours.accountId, ids: ['m3'] })).toMatchObject({
      type: 'accountNotFound',
    });
  });

  test('in several mailboxes, without those where it is marked as deleted or that are gone', async () => {
    await using world = await jmapWorld();
    const id = await keep(world, PLAIN, { bits: DRAFT, keywords: [] });
    const [kept, gone] = [await otherMailbox(world, 'Kept'), await otherMailbox(world, 'Gone')];
    const from = { account: world.account, mailbox: world.inbox, uids: [1] };
    for (const to of [kept, gone]) {
      await world.box.store.write(copyEntries, { ...from, to, move: false });
    }
    const where = async (): Promise<unknown> => (await getOne(world, id, { properties: ['mailboxIds'] }))['mailboxIds'];
    const named = (...mailboxes: number[]): unknown =>
      Object.fromEntries(mailboxes.map((mailbox) => [jmapId('mailbox', mailbox), true]));
    expect(await where()).toEqual(named(world.inbox, kept, gone));
    await world.box.store.write(removeMailbox, { account: world.account, name: 'Gone' });
    expect(await where()).toEqual(named(world.inbox, kept));
    const flags = { how: 'add', flags: { bits: DELETED, keywords: [] }, unchangedSince: null } as const;
    await world.box.store.write(storeFlags, { ...from, ...flags });
    expect(await where()).toEqual(named(kept));
    await world.box.store.write(storeFlags, { ...from, mailbox: kept, ...flags });
    expect(await world.call('Email/get', { ids: [id] })).toMatchObject({ list: [], notFound: [id] });
  });
});

describe('what Email/get refuses', () => {
  test('arguments that mean nothing, with the reason', async () => {
    await using world = await jmapWorld();
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
      expect(await world.refusal('Email/get', { ids: [], ...args })).toEqual({
        type: 'invalidArguments',
        description: expect.stringContaining(why) as string,
        arguments: expect.any(Array) as string[],
      });
    }
  });

  test('more than one answer should hold, however it is asked for', async () => {
    await using world = await jmapWorld();
    const ids: string[] = [];
    for (let i = 0; i < 8; i++) ids.push(await keep(world, `X-Long: ${'x'.repeat(90_000)}\n\n`));
    const spellings = Array.from({ length: 32 }, (_, i) =>
      'xlong'
        .split('')
        .map((char, at) => (((i >> at) & 1) === 1 ? char.toUpperCase() : char))
        .join('')
        .replace(/^x/i, '$&-'),
    );
    const properties = spellings.flatMap((name) => [`header:${name}`, `header:${name}:all`]);
    expect(Object.keys(await getOne(world, 'm1', { properties }))).toHaveLength(65);
    const [response] = (await world.request([['Email/get', { accountId: world.accountId, ids, properties }, 'c']]))
      .methodResponses;
    expect(response?.[0]).toBe('error');
    expect(response?.[1]).toMatchObject({ type: 'requestTooLarge' });
  });
});

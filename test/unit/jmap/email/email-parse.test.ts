import { describe, expect, test } from 'vitest';
import { blobId } from '../../../../mail/jmap/core/ids.ts';
import { storeUploadStream } from '../../../../mail/jmap/blob/blob-upload.ts';
import { octetsOf as blobOctets } from '../../../support/jmap-emails.ts';
import { storeTestMessage, octetsOf } from '../../../support/jmap-message.ts';
import { createJmapFixture, type JmapFixture, jmapFixtureOn } from '../../../support/jmap-fixture.ts';
import { testAccount } from '../../../support/store.ts';

const INSIDE = `From: Ann <ann@example.org>
Subject: inside
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=i

--i
Content-Type: text/plain

the text
--i
Content-Type: application/pdf
Content-Transfer-Encoding: base64

JVBERg==
--i--
`;

const OUTSIDE = `Subject: outside
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=o

--o
Content-Type: message/rfc822

${INSIDE}
--o
Content-Type: message/rfc822

Subject: simple

plain
--o
Content-Type: application/octet-stream
Content-Transfer-Encoding: base64

${Buffer.from(octetsOf(INSIDE)).toString('base64')}
--o
Content-Type: image/png
Content-Transfer-Encoding: base64

${Buffer.from('\x89PNG\r\n\x1a\n: no mail', 'latin1').toString('base64')}
--o--
`;

async function upload(fixture: JmapFixture, octets: Buffer): Promise<string> {
  const pieces = (async function* (): AsyncGenerator<Buffer> {
    for (let at = 0; at < octets.length; at += 65536) yield await Promise.resolve(octets.subarray(at, at + 65536));
  })();
  const kept = await storeUploadStream(
    fixture.context,
    { account: fixture.account, type: 'message/rfc822' },
    pieces,
    50_000_000,
  );
  if (kept.kind !== 'uploaded') throw new Error(kept.kind);
  return blobId({ kind: 'upload', upload: kept.upload });
}

const BODY = {
  properties: ['subject', 'textBody', 'attachments', 'bodyValues', 'preview'],
  bodyProperties: ['partId', 'blobId', 'size'],
  fetchAllBodyValues: true,
};

const readInside = (idOf: (path: string) => string | null): unknown => ({
  subject: 'inside',
  preview: 'the text',
  textBody: [{ partId: '1', blobId: idOf('1'), size: 8 }],
  attachments: [{ partId: '2', blobId: idOf('2'), size: 4 }],
  bodyValues: { 1: { value: 'the text', isEncodingProblem: false, isTruncated: false } },
});

describe('Email/parse', () => {
  test('a message, attached messages in any encoding, and an upload parse alike', async () => {
    await using fixture = await createJmapFixture();
    const [whole, outer] = [await storeTestMessage(fixture, INSIDE), await storeTestMessage(fixture, OUTSIDE)];
    const uploaded = await upload(fixture, octetsOf(INSIDE));
    const blobIds = [whole, `${outer}-1`, `${outer}-3`, uploaded];
    const { parsed, notFound, notParsable } = await fixture.call('Email/parse', { blobIds, ...BODY });
    expect([notFound, notParsable]).toEqual([null, null]);
    expect(parsed).toEqual({
      [whole]: readInside((path) => `${whole}-${path}`),
      [`${outer}-1`]: readInside((path) => `${outer}-1_${path}`),
      [`${outer}-3`]: readInside((path) => `${outer}-3-${path}`),
      [uploaded]: readInside((path) => `${uploaded}-${path}`),
    });
  });

  test('part ids of an upload and of an encoded message open these parts, two levels down', async () => {
    await using fixture = await createJmapFixture();
    const [outer, inside] = [await storeTestMessage(fixture, OUTSIDE), await upload(fixture, octetsOf(INSIDE))];
    const twice = await upload(fixture, octetsOf(OUTSIDE));
    for (const id of [inside, `${outer}-3`, `${twice}-3`]) {
      expect((await blobOctets(fixture, `${id}-1`)).toString()).toBe('the text');
      expect((await blobOctets(fixture, `${id}-2`)).toString('latin1')).toBe('%PDF');
    }
    expect((await blobOctets(fixture, `${inside}-2`)).length).toBe(4);
    const { parsed } = await fixture.call('Email/parse', { blobIds: [`${twice}-3`], ...BODY });
    expect(parsed).toEqual({ [`${twice}-3`]: readInside((path) => `${twice}-3-${path}`) });
    const { list, notFound } = await fixture.call('Blob/lookup', {
      typeNames: ['Email'],
      ids: [`${outer}-3-2`, `${inside}-2`, `${inside}-9`, `${twice}-3-2-1`],
    });
    expect(list).toEqual([
      { id: `${outer}-3-2`, matchedIds: { Email: [outer] } },
      { id: `${inside}-2`, matchedIds: { Email: [] } },
    ]);
    expect(notFound).toEqual([`${inside}-9`, `${twice}-3-2-1`]);
    const other = jmapFixtureOn(fixture.box, {
      ...(await testAccount(fixture.box.store, 'you')),
      address: 'you@box.test',
    });
    expect(await other.call('Blob/lookup', { typeNames: ['Email'], ids: [`${inside}-2`] })).toMatchObject({ list: [] });
  });

  test('part ids inside an attached message open these parts', async () => {
    await using fixture = await createJmapFixture();
    const outer = await storeTestMessage(fixture, OUTSIDE);
    const { parsed } = await fixture.call('Email/parse', { blobIds: [`${outer}-2`], ...BODY });
    expect(parsed).toMatchObject({ [`${outer}-2`]: { textBody: [{ partId: '1', blobId: `${outer}-2_1` }] } });
  });

  test('properties of stored messages are null', async () => {
    await using fixture = await createJmapFixture();
    const id = await storeTestMessage(fixture, INSIDE);
    const properties = ['id', 'blobId', 'threadId', 'mailboxIds', 'keywords', 'size', 'receivedAt', 'hasAttachment'];
    const { parsed } = await fixture.call('Email/parse', { blobIds: [id], properties });
    const none = { id: null, threadId: null, mailboxIds: null, keywords: null, receivedAt: null };
    expect(parsed).toEqual({ [id]: { ...none, blobId: id, size: octetsOf(INSIDE).length, hasAttachment: true } });
  });

  test('the default properties come from the message itself', async () => {
    await using fixture = await createJmapFixture();
    const id = await storeTestMessage(fixture, INSIDE);
    const { parsed } = await fixture.call('Email/parse', { blobIds: [id] });
    const names = 'messageId inReplyTo references sender from to cc bcc replyTo subject sentAt hasAttachment preview';
    const bodies = 'bodyValues textBody htmlBody attachments';
    expect(Object.keys((parsed as Record<string, object>)[id] ?? {}).sort()).toEqual(
      `${names} ${bodies}`.split(' ').sort(),
    );
  });

  test('a blob that is not a message, and an unknown blob', async () => {
    await using fixture = await createJmapFixture();
    const outer = await storeTestMessage(fixture, OUTSIDE);
    const yours = jmapFixtureOn(fixture.box, {
      ...(await testAccount(fixture.box.store, 'you')),
      address: 'you@box.test',
    });
    const theirs = await upload(yours, octetsOf(INSIDE));
    const text = await upload(fixture, Buffer.from('this is not an email at all, just random text'));
    const empty = await upload(fixture, Buffer.alloc(0));
    const blobIds = [`${outer}-4`, text, empty, theirs, `${outer}-9`, 'm99', 'nothing'];
    expect(await fixture.call('Email/parse', { blobIds })).toEqual({
      accountId: fixture.accountId,
      parsed: null,
      notParsable: [`${outer}-4`, text, empty],
      notFound: [theirs, `${outer}-9`, 'm99', 'nothing'],
    });
  });

  test('a large message is read in chunks', async () => {
    await using fixture = await createJmapFixture();
    const lines = 'a line of text that is not very long, and once more\r\n'.repeat(120_000);
    const id = await upload(fixture, Buffer.concat([octetsOf('Subject: large\n\n'), Buffer.from(lines)]));
    const args = { properties: ['subject', 'bodyValues'], fetchTextBodyValues: true, maxBodyValueBytes: 20 };
    const { parsed } = await fixture.call('Email/parse', { blobIds: [id], ...args });
    const value = { value: 'a line of text that ', isTruncated: true, isEncodingProblem: false };
    expect(parsed).toEqual({ [id]: { subject: 'large', bodyValues: { 1: value } } });
  });

  test('invalid arguments, and too many blobs', async () => {
    await using fixture = await createJmapFixture('calling thread', { maxObjectsInGet: 2 });
    const refused = async (args: Record<string, unknown>): Promise<unknown> =>
      (await fixture.refusal('Email/parse', { blobIds: [], ...args }))['type'];
    expect(await refused({ properties: ['nothing'] })).toBe('invalidArguments');
    expect(await refused({ properties: ['header:To:asText'] })).toBe('invalidArguments');
    expect(await refused({ blobIds: null })).toBe('invalidArguments');
    expect(await refused({ blobIds: ['u1', 'u2', 'u3'] })).toBe('requestTooLarge');
    expect(await refused({ accountId: 'mbx_99' })).toBe('accountNotFound');
    const large = Buffer.concat([octetsOf('Subject: x\n\n'), Buffer.alloc(40_000_000, 'a')]);
    const two = [await upload(fixture, large), await upload(fixture, large)];
    expect(await refused({ blobIds: two, properties: ['subject'] })).toBe('requestTooLarge');
  });
});

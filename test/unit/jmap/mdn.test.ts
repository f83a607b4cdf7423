import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readMdn } from '../../../mail/message/mdn.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { jmapId } from '../../../mail/jmap/core/ids.ts';
import { receiveMessage, testBackend } from '../../support/receive-message.ts';
import { type JmapFixture, jmapFixtureOn } from '../../support/jmap-fixture.ts';
import { testAccount, testStore } from '../../support/store.ts';

let fixture: JmapFixture;
let other: JmapFixture;
let identityId: string;

beforeAll(async () => {
  const box = await testStore();
  fixture = jmapFixtureOn(box, { ...(await testAccount(box.store)), address: 'me@box.test' });
  other = jmapFixtureOn(box, { ...(await testAccount(box.store, 'you')), address: 'you@box.test' });
  const { list } = await fixture.call('Identity/get');
  identityId = (list as { id: string }[])[0]?.id ?? '';
});
afterAll(() => fixture[Symbol.asyncDispose]());

const newest = query('test-newest', async (rx, { account }: { account: number }): Promise<number> => {
  const row = await rx.get<{ id: number }>('SELECT max(id) AS id FROM email WHERE account_id = ?', account);
  return row?.id ?? 0;
});
const left = query('test-left', async (rx): Promise<{ to: string; sender: string; data: Buffer }[]> => {
  const rows = await rx.all<{ to: string; sender: string; data: Uint8Array }>(
    `SELECT q.recipient AS "to", s.sender, b.data FROM queue q JOIN submission s ON s.id = q.submission_id
     JOIN blob b ON b.id = s.blob_id ORDER BY q.id`,
  );
  return rows.map((row) => ({ ...row, data: Buffer.from(row.data) }));
});

const REQUESTING = 'From: Ann <ann@remote.example>\nTo: me@box.test\nSubject: Seen?\nMessage-ID: <q@remote.example>';
const DISPOSITION = { actionMode: 'manual-action', sendingMode: 'mdn-sent-manually', type: 'displayed' };

async function receive(
  header = `${REQUESTING}\nDisposition-Notification-To: ann@remote.example`,
  from = 'ann@remote.example',
) {
  expect(
    await receiveMessage(testBackend(fixture.box), { from, to: 'me@box.test', body: `${header}\n\nHi\n` }),
  ).toMatchObject({
    kind: 'accepted',
  });
  return jmapId('email', await fixture.box.store.read(newest, { account: fixture.account }));
}
const send = (forEmailId: string, more: Record<string, unknown> = {}, rest: Record<string, unknown> = {}) =>
  fixture.call('MDN/send', { identityId, send: { k: { forEmailId, disposition: DISPOSITION, ...more } }, ...rest });
const why = (answer: Record<string, unknown>): unknown => (answer['notSent'] as { k: unknown } | null)?.k;

describe('MDN/send', () => {
  test('an MDN is sent once, to the address that requested it', async () => {
    const email = await receive();
    const { methodResponses } = await fixture.request([
      [
        'MDN/send',
        {
          accountId: fixture.accountId,
          identityId,
          send: { k: { forEmailId: email, subject: 'Read', textBody: 'Yes', disposition: DISPOSITION } },
          onSuccessUpdateEmail: { '#k': { 'keywords/$seen': true } },
        },
        'c',
      ],
    ]);
    expect(methodResponses[0]).toEqual([
      'MDN/send',
      {
        accountId: fixture.accountId,
        sent: {
          k: {
            subject: 'Read',
            originalRecipient: null,
            finalRecipient: 'rfc822; me@box.test',
            originalMessageId: '<q@remote.example>',
          },
        },
        notSent: null,
      },
      'c',
    ]);
    expect(methodResponses[1]).toMatchObject(['Email/set', { updated: { [email]: null } }, 'c']);
    const [receipt] = (await fixture.box.store.read(left, undefined)).slice(-1);
    expect(receipt).toMatchObject({ to: 'ann@remote.example', sender: '' });
    expect(readMdn(receipt?.data ?? Buffer.alloc(0))).toMatchObject({ disposition: DISPOSITION, subject: 'Read' });
    const { list } = await fixture.call('Email/get', { ids: [email], properties: ['keywords'] });
    expect(list).toMatchObject([{ keywords: { $seen: true, $mdnsent: true } }]);
    expect(why(await send(email))).toMatchObject({ type: 'mdnAlreadySent' });
  });

  test.each<[string, () => Promise<Record<string, unknown>>, Record<string, unknown>]>([
    ['no such email', () => send('m999'), { type: 'notFound' }],
    [
      'a receipt, which is answered by none',
      async () =>
        send(
          await receive(
            `${REQUESTING}\nDisposition-Notification-To: ann@remote.example\nContent-Type: multipart/report; boundary=x;\n report-type="Disposition-Notification"`,
          ),
        ),
      { type: 'forbidden' },
    ],
    ['nobody who asked', async () => send(await receive(REQUESTING)), { type: 'invalidProperties' }],
    [
      'a disposition of no kind',
      async () => send(await receive(), { disposition: { ...DISPOSITION, type: 'seen' } }),
      { type: 'invalidProperties', properties: ['disposition'] },
    ],
    [
      'a field that is not its to say',
      async () => send(await receive(), { extensionFields: { Disposition: 'x' } }),
      { type: 'invalidProperties', properties: ['extensionFields'] },
    ],
    ['no such identity', async () => send(await receive(), {}, { identityId: 'i999' }), { type: 'invalidProperties' }],
    [
      'a program that is made to write to somebody else',
      async () =>
        send(await receive(`${REQUESTING}\nDisposition-Notification-To: victim@remote.example`), {
          disposition: { ...DISPOSITION, sendingMode: 'mdn-sent-automatically' },
        }),
      { type: 'forbidden' },
    ],
  ])('%s', async (_what, answer, error) => {
    const before = (await fixture.box.store.read(left, undefined)).length;
    expect(why(await answer())).toMatchObject({ ...error, description: expect.any(String) });
    expect(await fixture.box.store.read(left, undefined)).toHaveLength(before);
  });

  test.each<[string, Record<string, unknown>]>([
    ['all keywords', { keywords: { $seen: true } }],
    ['another spelling', { 'keywords/$MDNSent': null }],
    ['nothing that is possible', { mailboxIds: {} }],
  ])('it goes once when the client sets %s afterwards', async (_what, patch) => {
    const email = await receive();
    const before = (await fixture.box.store.read(left, undefined)).length;
    expect(await send(email, {}, { onSuccessUpdateEmail: { '#k': patch } })).toMatchObject({ notSent: null });
    expect(why(await send(email))).toMatchObject({ type: 'mdnAlreadySent' });
    expect(await fixture.box.store.read(left, undefined)).toHaveLength(before + 1);
  });

  test('two concurrent requests send one MDN', async () => {
    const email = await receive();
    const before = (await fixture.box.store.read(left, undefined)).length;
    const answers = await Promise.all([send(email), send(email), send(email)]);
    expect(answers.filter((answer) => answer['sent'] !== null)).toHaveLength(1);
    expect(await fixture.box.store.read(left, undefined)).toHaveLength(before + 1);
  });

  test('two entries in one call send one MDN', async () => {
    const email = await receive();
    const one = { forEmailId: email, disposition: DISPOSITION };
    const answer = await fixture.call('MDN/send', { identityId, send: { a: one, b: one } });
    expect(answer).toMatchObject({ sent: { a: {} }, notSent: { b: { type: 'mdnAlreadySent' } } });
  });
});

describe('MDN/parse', () => {
  const RECEIPT = `From: ann@remote.example\nTo: me@box.test\nSubject: Read: hello\nContent-Type: multipart/report; report-type=disposition-notification; boundary=x\n\n--x\nContent-Type: text/plain\n\nI read it.\n--x\nContent-Type: message/disposition-notification\n\nReporting-UA: pc; X\nFinal-Recipient: rfc822; ann@remote.example\nOriginal-Message-ID: <a@box.test>\nDisposition: manual-action/MDN-sent-manually; displayed\n--x--`;

  test('MDNs, other messages and unknown blobs are reported separately', async () => {
    const receipt = await receive(RECEIPT, '');
    const plain = await receive();
    expect(await fixture.call('MDN/parse', { blobIds: [receipt, plain, 'm999', '__proto__'] })).toEqual({
      accountId: fixture.accountId,
      parsed: {
        [receipt]: {
          forEmailId: null,
          subject: 'Read: hello',
          textBody: 'I read it.',
          includeOriginalMessage: false,
          reportingUA: 'pc; X',
          disposition: DISPOSITION,
          mdnGateway: null,
          originalRecipient: null,
          finalRecipient: 'rfc822; ann@remote.example',
          originalMessageId: '<a@box.test>',
          error: null,
          extensionFields: null,
        },
      },
      notParsable: [plain],
      notFound: ['m999', '__proto__'],
    });
    expect(await other.call('MDN/parse', { blobIds: [receipt] })).toMatchObject({ parsed: null, notFound: [receipt] });
  });
});

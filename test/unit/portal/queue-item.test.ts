import { afterEach, beforeEach, expect, test } from 'vitest';
import { sendMessage } from '../../../mail/delivery/outgoing.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { command } from '../../../mail/store/engine/types.ts';
import { operatorCaller } from '../../../src/core/caller.ts';
import { findOperation } from '../../../src/operations/catalogue.ts';
import { perform } from '../../../src/operations/perform.ts';
import { letterTo } from '../../support/people.ts';
import { testWorld, type TestWorld } from '../../support/world.ts';

const queueMail = command(
  'test-send',
  async (tx, input: { tenant: number; data: Uint8Array; prefix?: string }, stamp): Promise<void> => {
    const { prefix, ...mail } = input;
    const outgoing = { ...letterTo('to@remote.example'), ...mail, index: indexMessage(input.data) };
    if (prefix === undefined) return void (await sendMessage(tx, outgoing, stamp));
    const [row] = outgoing.elsewhere;
    if (row === undefined) throw new Error('nobody gets it');
    const copy = { tenant: input.tenant, sender: '', signAs: [], prefix, smtputf8: false, row };
    await sendMessage(tx, { ...outgoing, elsewhere: [], onward: [copy] }, stamp);
  },
);

let box: TestWorld;
beforeEach(async () => {
  box = await testWorld({}, [queueMail]);
});
afterEach(() => box[Symbol.asyncDispose]());

async function read(lines: readonly string[], tenant = 1, forward: { prefix?: string } = {}) {
  const data = Uint8Array.from(Buffer.from(lines.join('\r\n')));
  await box.world.store.write(queueMail, { tenant, data, ...forward });
  const operation = findOperation('get_queue_item') ?? expect.fail();
  return perform(box.world, operation, operatorCaller(), { queueId: 'que_1' });
}

function messageOf(done: Awaited<ReturnType<typeof read>>): Record<string, unknown> {
  if (done.kind !== 'done') return expect.fail(done.refusal.message);
  const { truncated, untrusted } = done.result['message'] as { truncated: boolean; untrusted: object };
  return { ...untrusted, truncated };
}

test('plain text is shown before HTML, decoded, with the header as people read it', async () => {
  const done = await read([
    'From: =?utf-8?q?J=C3=BCrgen?= <a@box.test>',
    'To: to@remote.example',
    'Subject: =?utf-8?b?R3LDvMOfZQ==?=',
    'Content-Type: multipart/mixed; boundary=m',
    '',
    '--m',
    'Content-Type: multipart/alternative; boundary=a',
    '',
    '--a',
    'Content-Type: text/html',
    '',
    '<p>rich</p>',
    '--a',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Hall=C3=B6=',
    ' Welt',
    '--a--',
    '--m',
    'Content-Type: application/pdf; name="plan.pdf"',
    'Content-Disposition: attachment',
    '',
    'x',
    '--m--',
    '',
  ]);
  expect(messageOf(done)).toMatchObject({
    from: 'Jürgen <a@box.test>',
    subject: 'Grüße',
    text: 'Hallö Welt',
    truncated: false,
    attachments: [{ filename: 'plan.pdf', contentType: 'application/pdf' }],
  });
});

test('HTML alone is shown without its markup, and a long text is cut and says so', async () => {
  const done = await read(['Content-Type: text/html', '', `<style>p{}</style><p>a &amp; b</p>${'x'.repeat(30_000)}`]);
  const { text, truncated } = messageOf(done);
  expect([String(text).slice(0, 8).trim(), String(text).length, truncated]).toEqual(['a & b xx', 20_000, true]);
});

test('a forwarded copy is whole, whatever is put in front of it on its way', async () => {
  const prefix = 'X-Forwarded-To: to@remote.example\r\n'.repeat(10);
  expect(messageOf(await read(['Subject: x', '', 'hello'], 1, { prefix }))).toMatchObject({ truncated: false });
});

test.each([
  [512 * 1024, false],
  [512 * 1024 + 1, true],
])('of %d octets it is known whether all were looked at', async (octets, truncated) => {
  const head = 'Content-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\n\r\nshort\r\n--m\r\n\r\n';
  const done = await read([head + 'x'.repeat(octets - head.length)]);
  expect(messageOf(done)).toMatchObject({ text: 'short', truncated });
});

test('the mail of another organization is not there', async () => {
  expect(await read(['Subject: secret', '', 'secret'], 2)).toMatchObject({
    kind: 'refused',
    refusal: { error: 'not_found', resource: 'queue item' },
  });
});

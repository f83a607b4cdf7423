import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { publicMessageId, publicThreadId } from '../../../src/core/message-ids.ts';
import { firstField, readFields, unfold } from '../../../mail/message/header.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { addAlias } from '../../../mail/store/address/alias.ts';
import { command, query } from '../../../mail/store/engine/types.ts';
import { appendMessage } from '../../../mail/store/mailbox/entry-commands.ts';
import { DELETED, DRAFT } from '../../../mail/store/mailbox/flags.ts';
import { findMailbox } from '../../../mail/store/mailbox/mailbox.ts';
import { provisionAccount } from '../../../src/mailboxes/provision.ts';
import { SendWorld } from '../../support/send-world.ts';

const newest = query('test-newest', (rx, account: number) =>
  rx.get<{ id: number; thread: number; blob: number; size: number }>(
    'SELECT id, thread_id AS thread, blob_id AS blob, size FROM email WHERE account_id = ? ORDER BY id DESC LIMIT 1',
    account,
  ),
);

/** As if the mailbox had been made in another domain. */
const moveTo = command('test-move', async (tx, input: { account: number; address: string }): Promise<void> => {
  await tx.run('UPDATE account SET address = ? WHERE id = ?', input.address, input.account);
});

let box: SendWorld;
let me: number;
beforeEach(async () => {
  box = await SendWorld.open({}, [moveTo]);
  me = await box.account('me@a.test');
});
afterEach(() => box[Symbol.asyncDispose]());

const reply = { from: 'me@a.test', subject: 'Re: Plans', saveToSent: true };

/** Puts a message into a mailbox of this box. Answers its ids. */
async function arrives(fields: string, { at = 1_000, bits = 0, account = me } = {}) {
  const data = Buffer.from(`From: you@x.example\r\nSubject: Plans\r\n${fields}\r\n\r\nHello\r\n`);
  const inbox = await box.world.store.read(findMailbox, { account, name: 'INBOX' });
  await box.world.store.write(appendMessage, {
    account,
    mailbox: inbox?.id ?? 0,
    flags: { bits, keywords: [] },
    receivedAt: at,
    file: null,
    data,
    index: indexMessage(data),
  });
  const { id, thread } = await last(account);
  return { email: publicMessageId(id), thread: publicThreadId(thread), row: `msg_${id}` };
}

async function last(account: number) {
  const row = await box.world.store.read(newest, account);
  if (row === undefined) throw new Error('the mailbox is empty');
  return row;
}

/** In-Reply-To and References of the copy in Sent. */
async function named(): Promise<(string | undefined)[]> {
  const { blob, size } = await last(me);
  const fields = readFields((await box.world.store.blob(blob, 0, size)).toString('latin1'));
  return ['in-reply-to', 'references'].map((name) => {
    const value = firstField(fields, name);
    return value === undefined ? undefined : unfold(value);
  });
}

describe('a reply to a thread', () => {
  test('references its newest message and the previous ones, and joins it', async () => {
    const { thread } = await arrives('Message-ID: <one@x>');
    await arrives('Message-ID: <three@x>\r\nReferences: <one@x>\r\n <two@x>', { at: 3_000 });
    await arrives('Message-ID: <two@x>\r\nIn-Reply-To: <one@x>', { at: 2_000 });
    const sent = await box.send({ ...reply, threadId: thread });
    expect(await named()).toEqual(['<three@x>', '<one@x> <two@x> <three@x>']);
    expect(sent.threadId).toBe(thread);
    expect(publicThreadId((await last(me)).thread)).toBe(thread);
  });

  test('does not reference drafts, deleted messages, or messages without Message-ID', async () => {
    const { thread } = await arrives('Message-ID: <one@x>');
    await arrives('Message-ID: <draft@x>\r\nIn-Reply-To: <one@x>', { at: 2_000, bits: DRAFT });
    await arrives('Message-ID: <gone@x>\r\nIn-Reply-To: <one@x>', { at: 3_000, bits: DELETED });
    await arrives('In-Reply-To: <one@x>', { at: 4_000 });
    await box.send({ ...reply, threadId: thread });
    expect((await named())[0]).toBe('<one@x>');
  });

  test('returns the thread also without a copy, in a dry run, and when repeated', async () => {
    const { thread } = await arrives('Message-ID: <one@x>');
    const plain = { ...reply, saveToSent: false, threadId: thread };
    expect(await box.send(plain)).toMatchObject({ threadId: thread });
    expect(await box.send({ ...plain, dryRun: true })).toMatchObject({ threadId: thread });
    const first = await box.send({ ...reply, threadId: thread }, 'k');
    expect(await box.send({ ...reply, threadId: thread }, 'k')).toEqual({ ...first, duplicateOf: first.id });
  });

  test('under another subject begins a new thread and returns its id', async () => {
    const { thread } = await arrives('Message-ID: <one@x>');
    const sent = await box.send({ ...reply, subject: 'Something else', threadId: thread });
    expect(sent.threadId).toBe(publicThreadId((await last(me)).thread));
    expect(sent.threadId).not.toBe(thread);
  });

  test('from an address with +detail uses the mailbox of the address', async () => {
    const { thread } = await arrives('Message-ID: <one@x>');
    expect(await box.send({ ...reply, from: 'me+shop@a.test', threadId: thread })).toMatchObject({ threadId: thread });
  });
});

describe('a message from an alias', () => {
  const alias = (accounts: number[]) =>
    box.world.store.write(addAlias, {
      tenant: 1,
      domain: box.domain,
      key: 'sales@a.test',
      accounts,
      note: '',
      expiresAt: null,
      most: null,
    });

  test('uses the mailboxes that may send as it, also for a program', async () => {
    const address = { local: 'other', domain: 'a.test' };
    await provisionAccount(box.world, { tenant: 1, domainId: box.domain, address });
    const other = await box.account('other@a.test');
    await alias([me, other]);
    for (let i = 0; i < 3; i++) await arrives(`Message-ID: <${i}@x>`, { account: other });
    const { thread, row } = await arrives('Message-ID: <one@x>', { account: other });
    const from = 'sales@a.test';
    expect(await box.send({ ...reply, from, threadId: thread })).toMatchObject({ threadId: thread });
    // No mailbox keeps a copy of it, so it stands in no thread.
    expect(await box.send({ ...reply, from, inReplyTo: row })).toMatchObject({ status: 'queued', threadId: null });
  });

  test('does not use a mailbox in a domain that the key may not use', async () => {
    await alias([me]);
    const { thread } = await arrives('Message-ID: <one@x>');
    const queried = { ...reply, from: 'sales@a.test', threadId: thread };
    expect(await box.try(queried, undefined, { allowedDomains: ['a.test'] })).toMatchObject({ threadId: thread });
    await box.world.store.write(moveTo, { account: me, address: 'me@elsewhere.test' });
    expect(await box.try(queried, undefined, { allowedDomains: ['a.test'] })).toMatchObject({ error: 'not_found' });
  });
});

describe('a reply to a message', () => {
  test('accepts every id of the message', async () => {
    const { email, row, thread } = await arrives('Message-ID: <one@x>\r\nReferences: <zero@x>');
    for (const inReplyTo of [email, row]) {
      expect(await box.send({ ...reply, inReplyTo })).toMatchObject({ threadId: thread });
      expect(await named()).toEqual(['<one@x>', '<zero@x> <one@x>']);
    }
    await box.send({ ...reply, inReplyTo: '<any@where>' });
    expect(await named()).toEqual(['<any@where>', '<any@where>']);
    const first = await box.send({ ...reply, subject: 'First' });
    await box.send({ ...reply, subject: 'Re: First', inReplyTo: first.id });
    expect((await named())[0]).toBe(first.rfc822MessageId);
  });

  test('to a bare Message-ID has no thread', async () => {
    expect(await box.send({ inReplyTo: '<any@where>' })).toMatchObject({ threadId: null });
  });
});

describe('a message missing in the mailbox at from', () => {
  test('gets the same error, whether in another mailbox, deleted, or never existing', async () => {
    await provisionAccount(box.world, {
      tenant: 1,
      domainId: box.domain,
      address: { local: 'other', domain: 'a.test' },
    });
    const other = await box.account('other@a.test');
    for (let i = 0; i < 3; i++) await arrives(`Message-ID: <${i}@x>`, { account: other });
    const foreign = await arrives('Message-ID: <one@x>', { account: other });
    const gone = await arrives('Message-ID: <two@x>', { bits: DELETED });
    const sent = await box.send({ from: 'other@a.test' });
    const queried = [
      { threadId: foreign.thread },
      { threadId: gone.thread },
      { threadId: 'tzzzzz' },
      { from: 'shop@a.test', threadId: gone.thread },
    ];
    const threads = await Promise.all(queried.map((one) => box.try({ ...reply, ...one })));
    expect(threads[0]).toMatchObject({ error: 'not_found', message: expect.stringContaining('threadId') as string });
    expect(new Set(threads.map((one) => JSON.stringify(one))).size).toBe(1);
    const ids = [foreign.email, foreign.row, gone.email, sent.id, 'eml_999', 'msg_999', 'mzzzzz'];
    const messages = await Promise.all(ids.map((inReplyTo) => box.try({ ...reply, inReplyTo })));
    expect(messages[0]).toMatchObject({ error: 'not_found', message: expect.stringContaining('inReplyTo') as string });
    expect(new Set(messages.map((one) => JSON.stringify(one))).size).toBe(1);
  });

  test.each([{ threadId: 'm1a' }, { threadId: "t1'" }, { inReplyTo: 't1a' }, { inReplyTo: '<a@x>', threadId: 't1' }])(
    'or is no id at all, is refused by name: %j',
    async (wrong) => {
      expect(await box.try({ ...reply, ...wrong })).toMatchObject({
        error: 'invalid_arguments',
        issues: [{ path: Object.keys(wrong).at(-1) }],
      });
    },
  );
});

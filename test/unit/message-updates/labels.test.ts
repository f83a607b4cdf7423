import { afterAll, beforeAll, expect, test } from 'vitest';
import { findMailbox } from '../../../mail/store/mailbox/mailbox.ts';
import { rowId } from '../../../src/core/ids.ts';
import { putMail } from '../../support/put-mail.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

let tenants: Tenants;
let mailbox: string;
let account: number;
beforeAll(async () => {
  tenants = await twoTenants();
  mailbox = tenants.a.side.mailboxId;
  account = rowId('mailbox', mailbox) ?? 0;
});
afterAll(() => tenants[Symbol.asyncDispose]());

const put = (keywords: readonly string[]): Promise<string> =>
  putMail(
    tenants.world.store,
    { account, receivedAt: tenants.clock.now, keywords },
    'From: <x@y.example>\nSubject: one\n\nhello\n',
  );
const labels = async (): Promise<Record<string, number>> => {
  const { labels: all } = await tenants.do('list_labels', { mailbox });
  return Object.fromEntries((all as { name: string; messages: number }[]).map((one) => [one.name, one.messages]));
};

test('a label is there without a message, on messages, and after they lost it; what programs say is none', async () => {
  const own = { 'alpha-side-label': 0 };
  await tenants.do('create_label', { mailbox, name: 'Bills' });
  expect(await labels()).toEqual({ ...own, bills: 0 });
  const id = await put(['Work', '$Junk', '$label1']);
  await tenants.do('update_message', { mailbox, messageIds: [id], addLabels: ['bills'] });
  expect(await labels()).toEqual({ ...own, bills: 1, work: 1, $label1: 1 });
  await tenants.do('update_message', { mailbox, messageIds: [id], removeLabels: ['bills', 'work', '$label1'] });
  expect(await labels()).toEqual({ ...own, bills: 0 });
  expect(await tenants.do('create_label', { mailbox, name: 'bills' })).toMatchObject({ labels: expect.anything() });
});

test('mail programs see the same word, and list it before a message has it', async () => {
  const { store } = tenants.world;
  await tenants.do('create_label', { mailbox, name: 'seen-by-all' });
  const inbox = (await store.read(findMailbox, { account, name: 'INBOX' }))?.id ?? 0;
  const view = await store.view(account, inbox);
  expect(view.keywords).toContain('seen-by-all');
});

test('a deleted label is off all messages, beyond the slots of an account too, and the messages stay', async () => {
  for (let i = 0; i < 30; i++) await put([`many${i}`]);
  const ids = [];
  for (let i = 0; i < 30; i++) ids.push(await put(['last-of-all', `many${i}`]));
  expect((await labels())['last-of-all']).toBe(30);
  expect(await tenants.do('delete_label', { mailbox, name: 'last-of-all' })).toEqual({ deleted: true, messages: 30 });
  expect(await labels()).not.toHaveProperty('last-of-all');
  expect(await labels()).toMatchObject({ many29: 2 });
  for (const id of ids) await tenants.do('get_message', { mailbox, messageId: id });
  expect(await tenants.try('delete_label', { mailbox, name: 'last-of-all' })).toMatchObject({
    refusal: { error: 'not_found', resource: 'label' },
  });
});

test.each(['two words', '$seen', '$answered', 'a(b', ''])('%j is no name of a label', async (name) => {
  expect(await tenants.try('create_label', { mailbox, name })).toMatchObject({
    refusal: { error: 'invalid_arguments', issues: [{ path: 'name' }] },
  });
});

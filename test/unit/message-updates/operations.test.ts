import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publicMessageId, rowIn } from '../../../src/core/message-ids.ts';
import { copyEntries } from '../../../mail/store/mailbox/entry-commands.ts';
import { messageRows } from '../../../mail/store/blob/content.ts';
import { nextTrainingSamples } from '../../../mail/store/filter/training-sample.ts';
import { findMailbox } from '../../../mail/store/mailbox/mailbox.ts';
import { mailboxTree, addChildMailbox } from '../../../mail/store/mailbox/mailbox-tree.ts';
import { loadMessages } from '../../../src/reading/summary.ts';
import { rowId } from '../../../src/core/ids.ts';
import { putMail } from '../../support/put-mail.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

let tenants: Tenants;
let mailbox: string;
let account: number;
let at: number;
beforeAll(async () => {
  tenants = await twoTenants();
  mailbox = tenants.a.main.mailboxId;
  account = rowId('mailbox', mailbox) ?? 0;
  at = tenants.clock.now;
  await folderNamed('Work');
});
afterAll(() => tenants[Symbol.asyncDispose]());

async function folderNamed(name: string): Promise<void> {
  const facts = { parent: 0, name, role: null, sortOrder: 0, subscribed: true };
  await tenants.world.store.write(addChildMailbox, { account, facts, ifState: null });
}

const put = (more: Partial<Parameters<typeof putMail>[1]> = {}): Promise<string> =>
  putMail(
    tenants.world.store,
    { account, receivedAt: (at += 1000), ...more },
    'From: <x@y.example>\nSubject: one\n\nhello\n',
  );
const rowOf = (id: string): number => rowIn('email', account, id) ?? 0;

/** Names of the folders in which a message is. */
async function foldersOf(id: string): Promise<string[]> {
  const { store } = tenants.world;
  const [known] = (await loadMessages(store, { id: account, address: '' }, [rowOf(id)])) ?? [];
  const { nodes } = await store.read(mailboxTree, { account, ids: null });
  return nodes.filter((one) => known?.row.mailboxes.includes(one.id) === true).map((one) => one.name);
}

const summary = async (id: string): Promise<Record<string, unknown>> =>
  (await tenants.do('get_message', { mailbox, messageId: id }))['message'] as Record<string, unknown>;
const update = (messageIds: string[], more: object): Promise<Record<string, unknown>> =>
  tenants.do('update_message', { mailbox, messageIds, ...more });

/** Lists the training samples that wait for the filter of the mailbox. */
const trainings = async (): Promise<string[]> => {
  const found = await tenants.world.store.read(nextTrainingSamples, { after: account - 1, limit: 100 });
  return (found?.account === account ? found.samples : []).map(
    ({ email, category: says }) => `${publicMessageId(email)} ${says}`,
  );
};

describe('update_message', () => {
  test('teaches the filter what a move into Junk and out of it says', async () => {
    const id = await put();
    expect(await trainings()).not.toContain(`${id} junk`);
    await update([id], { folder: 'junk' });
    expect(await trainings()).toContain(`${id} junk`);
    await update([id], { folder: 'inbox' });
    expect(await trainings()).toContain(`${id} good`);
  });

  test('labels, marks and moves several at once, and says what is not there', async () => {
    const [one, two] = [await put(), await put({ keywords: ['old'] })];
    const done = await update([one, two, 'mzzzz'], {
      addLabels: ['Invoice', '$answered'],
      removeLabels: ['old'],
      unread: false,
      starred: true,
      folder: 'work',
    });
    expect(done).toEqual({ updated: 2, failed: [{ messageId: 'mzzzz', error: 'not_found' }] });
    for (const id of [one, two]) {
      expect(await summary(id)).toMatchObject({ labels: ['$answered', 'invoice'], unread: false, starred: true });
      expect(await foldersOf(id)).toEqual(['Work']);
    }
    await update([one], { unread: true, starred: false, removeLabels: ['$answered', 'invoice'] });
    expect(await summary(one)).toMatchObject({ labels: [], unread: true, starred: false });
    expect(await foldersOf(one)).toEqual(['Work']);
  });

  test('twice is as good as once, and a change of nothing is answered with what there is to change', async () => {
    const id = await put();
    await update([id], { addLabels: ['twice'] });
    expect(await update([id, id], { addLabels: ['twice'] })).toEqual({ updated: 1, failed: [] });
    expect(await tenants.try('update_message', { mailbox, messageIds: [id] })).toMatchObject({
      refusal: { error: 'invalid_arguments', message: expect.stringContaining('starred') },
    });
  });

  test('a hundred messages, in as many commits as it takes, each with its audit row', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 60; i++) ids.push(await put());
    expect(await update(ids, { starred: true })).toEqual({ updated: 60, failed: [] });
    const { events } = await tenants.do('list_audit_events', { limit: 100 });
    const rows = (events as { operation: string; detail: Record<string, unknown> }[]).filter(
      ({ operation, detail }) => operation === 'update_message' && detail['starred'] === true && !detail['folder'],
    );
    expect(rows.flatMap(({ detail }) => detail['messages'] as string[]).toSorted()).toEqual(ids.toSorted());
  });

  test.each([
    [{ addLabels: ['$junk'] }, 'reserved for programs'],
    [{ addLabels: ['$seen'] }, 'reserved for programs'],
    [{ addLabels: ['two words'] }, 'without blanks'],
    [{ addLabels: [String.raw`\deleted`] }, 'without blanks'],
  ])('%j is no label', async (more, why) => {
    expect(await tenants.try('update_message', { mailbox, messageIds: [await put()], ...more })).toMatchObject({
      refusal: { error: 'invalid_arguments', message: expect.stringContaining(why) },
    });
  });

  test('is not for tokens that only read, and not for other mailboxes', async () => {
    const id = await put();
    const reader = await tenants.caller({ actions: ['read'] });
    expect(await tenants.try('update_message', { mailbox, messageIds: [id], starred: true }, reader)).toMatchObject({
      refusal: { error: 'action_not_allowed', requiredAction: 'organize' },
    });
    const other = await tenants.caller({ actions: ['manage'], mailboxIds: [tenants.a.side.mailboxId] });
    const global = `msg_${rowOf(id)}`;
    expect(await tenants.try('trash_message', { messageIds: [global] }, other)).toMatchObject({
      refusal: { error: 'not_found' },
    });
    expect(await tenants.try('trash_message', { messageIds: [global] }, tenants.b.caller)).toMatchObject({
      refusal: { error: 'not_found' },
    });
    expect(await foldersOf(id)).toEqual(['INBOX']);
  });
});

describe('trash_message and restore_message', () => {
  const trash = (...messageIds: string[]): Promise<unknown> => tenants.do('trash_message', { mailbox, messageIds });
  const restore = (...messageIds: string[]): Promise<unknown> => tenants.do('restore_message', { mailbox, messageIds });

  test('a message comes back to where it was, however it moved before', async () => {
    const id = await put();
    await update([id], { folder: 'archive' });
    await update([id], { folder: 'Work' });
    tenants.clock.now += 1000;
    expect(await trash(id)).toEqual({ moved: 1, failed: [] });
    expect(await foldersOf(id)).toEqual(['Trash']);
    expect(await trash(id)).toEqual({ moved: 1, failed: [] });
    expect(await restore(id)).toEqual({ moved: 1, failed: [] });
    expect(await foldersOf(id)).toEqual(['Work']);
    expect(await restore(id)).toEqual({ moved: 0, failed: [{ messageId: id, error: 'not_in_trash' }] });
  });

  test('also where a person trashed it in a mail program', async () => {
    const id = await put({ folder: 'Archive' });
    const { store } = tenants.world;
    const archive = await store.read(findMailbox, { account, name: 'Archive' });
    const [from, uids] = [archive?.id ?? 0, [(archive?.uidNext ?? 0) - 1]];
    const to = (await store.read(findMailbox, { account, name: 'Trash' }))?.id ?? 0;
    const rows = await store.read(messageRows, { account, mailbox: from, uids, structure: false });
    expect(rows.map((row) => row.emailId)).toEqual([rowOf(id)]);
    await store.write(copyEntries, { account, mailbox: from, uids, to, move: true });
    expect(await foldersOf(id)).toEqual(['Trash']);
    await restore(id);
    expect(await foldersOf(id)).toEqual(['Archive']);
  });

  test('into the inbox where nothing is known, drafts into Drafts', async () => {
    const [mail, draft] = [await put({ folder: 'Trash' }), await put({ folder: 'Trash', bits: 8 })];
    expect(await restore(mail, draft)).toEqual({ moved: 2, failed: [] });
    expect([await foldersOf(mail), await foldersOf(draft)]).toEqual([['INBOX'], ['Drafts']]);
  });

  test('what does not exist is refused', async () => {
    for (const name of ['trash_message', 'restore_message']) {
      expect(await tenants.try(name, { mailbox, messageIds: ['mzzzz'] })).toMatchObject({
        refusal: { error: 'not_found', resource: 'message' },
      });
    }
  });
});

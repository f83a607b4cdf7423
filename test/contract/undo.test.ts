import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rowIn } from '../../src/core/message-ids.ts';
import { emailStateOf, CHANGE_RETENTION_MS, purgeAgentChanges } from '../../mail/agents/undo/email-changes.ts';
import { changeEmails, destroyEmails, type EmailChange } from '../../mail/store/message/email-change-commands.ts';
import { query } from '../../mail/store/engine/types.ts';
import { expunge, storeFlags } from '../../mail/store/mailbox/entry-commands.ts';
import { createMailbox, findMailbox, removeMailbox } from '../../mail/store/mailbox/mailbox.ts';
import { accountsChangedBy, undoAgentChanges, type UndoResult } from '../../mail/agents/undo/email-undo.ts';
import { mailboxTree } from '../../mail/store/mailbox/mailbox-tree.ts';
import { setQuota } from '../../mail/store/account/account.ts';
import { putMail } from '../support/put-mail.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const AGENT = 'tok_7';
const OTHER = 'tok_8';

let box: TestStore;
let account: number;
let inbox: number;
let trash: number;
let work: number;

const folder = async (name: string): Promise<number> => (await box.store.read(findMailbox, { account, name }))?.id ?? 0;
const mail = async (subject = 'x', keywords: string[] = []): Promise<number> => {
  const id = await putMail(
    box.store,
    { account, receivedAt: box.clock.now, keywords },
    `Subject: ${subject}\n\nhello\n`,
  );
  return rowIn('email', account, id) ?? 0;
};
const change = async (email: number, what: Partial<EmailChange>, by: string | null = AGENT): Promise<void> => {
  const changes = [{ email, keywords: null, mailboxes: null, ...what }];
  const done = await box.store.write(changeEmails, { account, by, changes, ifState: null });
  expect(done).toMatchObject({ outcomes: [{ kind: 'changed' }] });
};
const move = (email: number, to: number, by: string | null = AGENT) =>
  change(email, { mailboxes: { kind: 'replace', all: [to] } }, by);
const mark = (email: number, add: string[], remove: string[] = [], by: string | null = AGENT) =>
  change(
    email,
    {
      keywords: {
        kind: 'patch',
        add: { bits: add.includes('$flagged') ? 4 : 0, keywords: add.filter((one) => one !== '$flagged') },
        remove: { bits: remove.includes('$seen') ? 1 : 0, keywords: remove.filter((one) => one !== '$seen') },
      },
    },
    by,
  );
const undo = (
  over: Partial<{ who: string; since: number; after: number; account: number }> = {},
): Promise<UndoResult> => box.store.write(undoAgentChanges, { account, who: AGENT, since: 0, after: 0, ...over });

const face = query('test-face', (rx, input: { account: number; email: number }) =>
  emailStateOf(rx, input.account, input.email),
);
const shown = async (email: number): Promise<{ positions: readonly number[]; labels: string[]; flagged: boolean }> => {
  const now = await box.store.read(face, { account, email });
  const { slots } = await box.store.read(slotNames, { account });
  const labels = slots.filter(({ slot }) => (now.bits & (1 << slot)) !== 0).map(({ lname }) => lname);
  return { positions: now.mailboxes, labels: [...labels, ...now.kw].toSorted(), flagged: (now.bits & 4) !== 0 };
};
const slotNames = query('test-slots', async (rx, input: { account: number }) => ({
  slots: await rx.all<{ slot: number; lname: string }>(
    'SELECT slot, lname FROM keyword WHERE account_id = ?',
    input.account,
  ),
}));

beforeEach(async () => {
  box = await testStore();
  ({ account, inbox } = await testAccount(box.store));
  const made = await box.store.write(createMailbox, { account, name: 'Work', role: null });
  work = made.kind === 'created' ? made.id : 0;
  trash = await folder('Trash');
});
afterEach(() => box[Symbol.asyncDispose]());

describe('what an agent did is undone', () => {
  test('moves, flags and labels, as if it had never been there', async () => {
    const email = await mail('x', ['mine']);
    await mark(email, ['$flagged', 'agent-label'], ['mine']);
    await move(email, work);
    await move(email, trash);
    expect(await shown(email)).toEqual({ positions: [trash], labels: ['agent-label'], flagged: true });
    expect(await undo()).toEqual({ undone: 1, kept: [], next: null });
    expect(await shown(email)).toEqual({ positions: [inbox], labels: ['mine'], flagged: false });
  });

  test('what it destroyed comes back with what it carried, and counts again', async () => {
    const email = await mail('x', ['mine']);
    const before = await box.store.read(mailboxTree, { account, ids: null });
    await box.store.write(destroyEmails, { account, by: AGENT, emails: [email], ifState: null });
    expect(await shown(email)).toMatchObject({ positions: [] });
    expect(await undo()).toEqual({ undone: 1, kept: [], next: null });
    expect(await shown(email)).toEqual({ positions: [inbox], labels: ['mine'], flagged: false });
    const after = await box.store.read(mailboxTree, { account, ids: null });
    const counts = ({ nodes }: typeof before) => nodes.map(({ id, total, unread }) => ({ id, total, unread }));
    expect(counts(after)).toEqual(counts(before));
    const use = query('test-use', (rx) =>
      rx.get<{ used_count: number; used_bytes: number }>(
        'SELECT used_count, used_bytes FROM account WHERE id = ?',
        account,
      ),
    );
    expect(await box.store.read(use, undefined)).toMatchObject({ used_count: 1 });
  });

  test('in several folders at once', async () => {
    const email = await mail();
    await change(email, { mailboxes: { kind: 'patch', add: [work, trash], remove: [inbox] } });
    expect((await shown(email)).positions).toEqual([work, trash].toSorted((a, b) => a - b));
    await undo();
    expect((await shown(email)).positions).toEqual([inbox]);
  });

  test('twice is as good as once, and a slice at a time', async () => {
    const emails: number[] = [];
    for (let i = 0; i < 30; i++) emails.push(await mail(`n${i}`));
    for (const email of emails) await move(email, work);
    const first = await undo();
    expect(first).toMatchObject({ undone: 25, next: emails[24] });
    expect(await undo({ after: first.next ?? 0 })).toEqual({ undone: 5, kept: [], next: null });
    expect(await undo()).toEqual({ undone: 0, kept: [], next: null });
    for (const email of emails) expect((await shown(email)).positions).toEqual([inbox]);
  });
});

describe('what others did stays', () => {
  test('a person who moved it on is right', async () => {
    const email = await mail();
    await move(email, work);
    await mark(email, ['agent-label']);
    await move(email, trash, null);
    expect(await undo()).toEqual({ undone: 0, kept: [{ email, why: 'moved' }], next: null });
    // Its label was the agent's alone.
    expect(await shown(email)).toEqual({ positions: [trash], labels: [], flagged: false });
  });

  test('also where the agent moved it again: it is where the person had put it', async () => {
    const email = await mail();
    await move(email, trash);
    await move(email, work, null);
    await move(email, trash);
    const undone = { undone: 0, kept: [{ email, why: 'moved' }], next: null };
    expect(await undo()).toEqual(undone);
    expect((await shown(email)).positions).toEqual([work]);
    expect(await undo()).toEqual(undone);
    expect((await shown(email)).positions).toEqual([work]);
  });

  test('also where the agent destroyed it, in several steps', async () => {
    const email = await mail();
    await move(email, trash);
    await move(email, work, null);
    await move(email, trash);
    await box.store.write(destroyEmails, { account, by: AGENT, emails: [email], ifState: null });
    expect(await undo()).toMatchObject({ kept: [{ email, why: 'moved' }] });
    expect((await shown(email)).positions).toEqual([work]);
  });

  test('who put it back was heard: then nothing is kept', async () => {
    const email = await mail();
    await move(email, trash);
    await move(email, inbox, null);
    await move(email, trash);
    expect(await undo()).toEqual({ undone: 1, kept: [], next: null });
    expect((await shown(email)).positions).toEqual([inbox]);
  });

  test('a flag or a label of a person that the agent took away comes back', async () => {
    const email = await mail();
    await mark(email, ['first']);
    await mark(email, ['$flagged', 'theirs'], [], null);
    await mark(email, ['second'], ['theirs']);
    await change(email, {
      keywords: { kind: 'patch', add: { bits: 0, keywords: [] }, remove: { bits: 4, keywords: ['first'] } },
    });
    expect(await shown(email)).toMatchObject({ labels: ['second'], flagged: false });
    expect(await undo()).toEqual({ undone: 1, kept: [], next: null });
    expect(await shown(email)).toMatchObject({ labels: ['theirs'], flagged: true });
  });

  test('a label that a person took away or gave again is as the person left it', async () => {
    const email = await mail();
    await mark(email, ['$flagged', 'agent-label']);
    await mark(email, ['own'], ['agent-label'], null);
    expect(await undo()).toMatchObject({ undone: 1 });
    expect(await shown(email)).toEqual({ positions: [inbox], labels: ['own'], flagged: false });
  });

  test('what a person emptied out of the trash is not brought back', async () => {
    const email = await mail();
    await move(email, trash);
    await box.store.write(storeFlags, {
      account,
      mailbox: trash,
      uids: [1],
      how: 'add',
      flags: { bits: 16, keywords: [] },
      unchangedSince: null,
    });
    await box.store.write(expunge, { account, mailbox: trash, uids: [1] });
    expect(await undo()).toEqual({ undone: 0, kept: [{ email, why: 'gone' }], next: null });
    expect((await shown(email)).positions).toEqual([]);
  });

  test('another agent, and what was before the time', async () => {
    const [mine, other, old] = [await mail('mine'), await mail('other'), await mail('old')];
    await move(old, work);
    box.clock.now += 1000;
    await move(mine, work);
    await move(other, work, OTHER);
    expect(await undo({ since: box.clock.now })).toMatchObject({ undone: 1 });
    expect((await shown(mine)).positions).toEqual([inbox]);
    expect((await shown(other)).positions).toEqual([work]);
    expect((await shown(old)).positions).toEqual([work]);
  });

  test('a person leaves no record', async () => {
    const email = await mail();
    await move(email, work, null);
    expect(await box.store.read(accountsChangedBy, { tenant: 1, who: AGENT, since: 0 })).toEqual([]);
    await move(email, trash);
    expect(await box.store.read(accountsChangedBy, { tenant: 1, who: AGENT, since: 0 })).toEqual([account]);
    expect(await box.store.read(accountsChangedBy, { tenant: 2, who: AGENT, since: 0 })).toEqual([]);
  });
});

describe('what cannot be done is said', () => {
  test('its folder is gone', async () => {
    const email = await mail();
    await move(email, work, null);
    await move(email, trash);
    await box.store.write(removeMailbox, { account, name: 'Work' });
    expect(await undo()).toEqual({ undone: 0, kept: [{ email, why: 'folder-gone' }], next: null });
    expect((await shown(email)).positions).toEqual([trash]);
  });

  test('its folder is gone, and it was destroyed: then it comes into the inbox', async () => {
    const email = await mail();
    await move(email, work, null);
    await box.store.write(destroyEmails, { account, by: AGENT, emails: [email], ifState: null });
    await box.store.write(removeMailbox, { account, name: 'Work' });
    expect(await undo()).toEqual({ undone: 0, kept: [{ email, why: 'folder-gone' }], next: null });
    expect((await shown(email)).positions).toEqual([inbox]);
  });

  test('the mailbox is full', async () => {
    const email = await mail();
    await box.store.write(destroyEmails, { account, by: AGENT, emails: [email], ifState: null });
    await box.store.write(setQuota, { account, bytes: 10 });
    expect(await undo()).toEqual({ undone: 0, kept: [{ email, why: 'no-room' }], next: null });
  });

  test('what is older than thirty days is forgotten', async () => {
    const email = await mail();
    await move(email, work);
    box.clock.now += CHANGE_RETENTION_MS + 1;
    await box.store.write(purgeAgentChanges, undefined);
    expect(await undo()).toEqual({ undone: 0, kept: [], next: null });
    expect((await shown(email)).positions).toEqual([work]);
  });
});

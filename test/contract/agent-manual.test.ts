import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { indexMessage } from '../../mail/message/indexer.ts';
import { rowIn } from '../../src/core/message-ids.ts';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { emailStateOf } from '../../mail/agents/undo/email-changes.ts';
import { changeEmails, destroyEmails } from '../../mail/store/message/email-change-commands.ts';
import { storeEmail } from '../../mail/store/message/email-commands.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { PERSON } from '../../mail/store/actor.ts';
import { findMailbox } from '../../mail/store/mailbox/mailbox.ts';
import { undoAgentChanges } from '../../mail/agents/undo/email-undo.ts';
import { putMail } from '../support/put-mail.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';
import { finishAppend } from '../support/finish-append.ts';

const DELETED = { bits: 16, keywords: [] };
const FLAGGED = { bits: 4, keywords: [] };
const DRAFT = { bits: 8, keywords: [] };

const govern = command('test-govern', async (tx, { account }: { account: number }): Promise<void> => {
  await tx.run('INSERT INTO agent_policy_account (account_id, policy_id) VALUES (?, 1)', account);
});
const forPerson = command('test-person', async (tx, { account }: { account: number }): Promise<void> => {
  await tx.run(`UPDATE credential SET scopes = scopes || ' ' || ? WHERE account_id = ?`, PERSON, account);
});
const password = query('test-password', async (rx, { account }: { account: number }): Promise<number> => {
  return (await rx.get<{ id: number }>('SELECT id FROM credential WHERE account_id = ?', account))?.id ?? 0;
});
const face = query('test-face', (rx, input: { account: number; email: number }) =>
  emailStateOf(rx, input.account, input.email),
);
const written = query('test-changes', async (rx): Promise<string[]> => {
  return (await rx.all<{ who: string }>('SELECT DISTINCT actor AS who FROM agent_change')).map(({ who }) => who);
});

const writer = query('test-writer', async (rx): Promise<string | null | undefined> => {
  const row = await rx.get<{ by: string | null }>('SELECT created_by AS "by" FROM email ORDER BY id DESC LIMIT 1');
  return row?.by;
});

let box: TestStore;
let account: number;
let inbox: number;
let actor: { credential: number };
let imap: StoreBackend;
beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, govern, forPerson] });
  ({ account, inbox } = await testAccount(box.store));
  actor = { credential: await box.store.read(password, { account }) };
  imap = new StoreBackend(box.store, account, () => box.clock.now, { actor });
});
afterEach(() => box[Symbol.asyncDispose]());

const folder = async (name: string): Promise<number> => (await box.store.read(findMailbox, { account, name }))?.id ?? 0;
const put = async (): Promise<number> =>
  rowIn('email', account, await putMail(box.store, { account, receivedAt: box.clock.now }, 'Subject: x\n\nhello\n')) ??
  0;
const looks = (email: number) => box.store.read(face, { account, email });
const undo = () => box.store.write(undoAgentChanges, { account, who: `mbx_${account}`, since: 0, after: 0 });

/** Actions of a mail program on message 1 of the inbox. */
const DEEDS: Record<string, () => Promise<unknown>> = {
  'marks it': () => imap.store(inbox, [1], 'add', FLAGGED),
  'moves it': () => imap.copy(inbox, [1], 'Archive', true),
  'copies it': () => imap.copy(inbox, [1], 'Archive', false),
  'marks it as deleted': () => imap.store(inbox, [1], 'add', DELETED),
  'marks it, and as deleted, at once': () => imap.store(inbox, [1], 'add', { bits: 20, keywords: ['$work'] }),
  'marks it at once, and deletes it': async () => {
    await imap.store(inbox, [1], 'add', { bits: 20, keywords: ['$work'] });
    await imap.expunge(inbox, [1]);
  },
  'deletes it': async () => {
    await imap.store(inbox, [1], 'add', DELETED);
    await imap.expunge(inbox, [1]);
  },
  'moves it, and deletes it there': async () => {
    await imap.copy(inbox, [1], 'Trash', true);
    await imap.store(await folder('Trash'), [1], 'add', DELETED);
    await imap.expunge(await folder('Trash'), [1]);
  },
};

describe('what is changed by IMAP with a password under a policy', () => {
  test.each(Object.entries(DEEDS))('is undone: it %s', async (_what, deed) => {
    await box.store.write(govern, { account });
    const email = await put();
    const before = await looks(email);
    await deed();
    expect(await looks(email)).not.toEqual(before);
    expect(await box.store.read(written, undefined)).toEqual([`mbx_${account}`]);
    expect(await undo()).toEqual({ undone: 1, kept: [], next: null });
    expect(await looks(email)).toEqual(before);
  });

  test.each(Object.entries(DEEDS))('is not written down of a person: it %s', async (_what, deed) => {
    await put();
    await deed();
    await box.store.write(govern, { account });
    await box.store.write(forPerson, { account });
    await put();
    await imap.store(inbox, [2], 'add', FLAGGED);
    expect(await box.store.read(written, undefined)).toEqual([]);
  });

  test('is no folder with messages in it', async () => {
    await box.store.write(govern, { account });
    await imap.create('Work');
    await put();
    await imap.copy(inbox, [1], 'Work', true);
    expect(await imap.remove('Work')).toBe('has-emails');
    await imap.copy(await folder('Work'), [1], 'INBOX', true);
    expect(await imap.remove('Work')).toBe('removed');
  });
});

test('what is changed by JMAP with it is undone as well', async () => {
  await box.store.write(govern, { account });
  const [one, two] = [await put(), await put()];
  const before = [await looks(one), await looks(two)];
  const queried = { account, by: null, actor, ifState: null };
  const mailboxes = { kind: 'replace', all: [await folder('Archive')] } as const;
  await box.store.write(changeEmails, { ...queried, changes: [{ email: one, keywords: null, mailboxes }] });
  await box.store.write(destroyEmails, { ...queried, emails: [two] });
  expect(await undo()).toMatchObject({ undone: 2 });
  expect([await looks(one), await looks(two)]).toEqual(before);
});

describe('what is written with a password', () => {
  const index = indexMessage(Buffer.from('Subject: x\r\n\r\nso\r\n'));
  const WRITES: Record<string, () => Promise<unknown>> = {
    'by IMAP': async () => {
      const sink = imap.append(20);
      if ('kind' in sink) throw new Error('it was not taken');
      await sink.write(Buffer.from('Subject: x\r\n\r\nso\r\n'));
      await finishAppend(imap, sink, { mailbox: 'Drafts', flags: DRAFT, receivedAt: undefined });
    },
    'by JMAP': async () => {
      const where = { account, mailboxes: [await folder('Drafts')], flags: DRAFT, receivedAt: 1, ifState: null, actor };
      await box.store.write(storeEmail, { ...where, data: Buffer.from('Subject: x\r\n\r\nso\r\n'), file: null, index });
    },
  };

  test.each(Object.entries(WRITES))(
    'is an agent’s where that has it, and else a person’s: %s',
    async (_endpoint, write) => {
      await write();
      expect(await box.store.read(writer, undefined)).toBeNull();
      await box.store.write(govern, { account });
      await write();
      expect(await box.store.read(writer, undefined)).toBe(`mbx_${account}`);
      await box.store.write(forPerson, { account });
      await write();
      expect(await box.store.read(writer, undefined)).toBeNull();
    },
  );
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createBackup } from '../../mail/backup/create-backup.ts';
import { BackupDirectory } from '../../mail/backup/directory-target.ts';
import { renewIds } from '../../mail/backup/renew-ids.ts';
import { Repository } from '../../mail/backup/repository.ts';
import { findSnapshot, restoreSnapshot } from '../../mail/backup/restore-snapshot.ts';
import { quiet } from '../../mail/log.ts';
import { jmapStates, STATE_TYPES } from '../../mail/store/account/type-state.ts';
import { checkStore, isSound } from '../../mail/store/check/check-store.ts';
import { storeFlags } from '../../mail/store/mailbox/entry-commands.ts';
import { createMailbox, findMailbox, listMailboxes, type MailboxInfo } from '../../mail/store/mailbox/mailbox.ts';
import { emailChanges } from '../../mail/store/message/email-changes.ts';
import { setSetting } from '../../mail/store/setting.ts';
import { MailStore } from '../../mail/store/store.ts';
import { putMail } from '../support/put-mail.ts';
import { engines, testAccount } from '../support/store.ts';

let directory: string;
let account: number;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'restored-ids-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function open(name: string): Promise<MailStore> {
  return MailStore.open({
    dataDir: join(directory, name),
    engine: engines['calling thread'],
    keepFree: 0,
    clock: Date.now,
    log: quiet,
    meter: quiet,
    fatal: (error) => {
      throw error;
    },
  });
}

const put = (store: MailStore, subject: string): Promise<string> =>
  putMail(store, { account, receivedAt: 1_000 }, `Subject: ${subject}\n\n${subject}\n`);
const mailboxes = (store: MailStore): Promise<MailboxInfo[]> => store.read(listMailboxes, { account });

/** Runs `work` in a store of its own, and closes it. */
async function using<T>(name: string, work: (store: MailStore) => Promise<T>): Promise<T> {
  await using store = await open(name);
  return await work(store);
}

/** Creates a mailbox with a message, and takes a snapshot of it. Answers the state of its mail. */
async function snapshotOfOne(): Promise<number> {
  const state = await using('data', async (store) => {
    account = (await testAccount(store)).account;
    await store.write(setSetting, { name: 'key-check', value: Uint8Array.of(1) });
    await put(store, 'in the snapshot');
    return (await store.read(jmapStates, { account })).Email;
  });
  const target = new BackupDirectory(join(directory, 'target'));
  const options = { keyFile: '', target, keys: {}, rate: 0, version: 'test', clock: Date.now };
  await createBackup({ ...options, dataDir: join(directory, 'data') });
  return state;
}

/** Restores the snapshot as `mailstead restore` does. */
async function restore(): Promise<void> {
  const repository = await Repository.open(new BackupDirectory(join(directory, 'target')), {});
  const prepare = (path: string): void => renewIds(path, Date.now());
  await restoreSnapshot(repository, await findSnapshot(repository), join(directory, 'restored'), { prepare });
}

describe('a restored data directory', () => {
  test('gives no number a second time that was given after its snapshot', async () => {
    await snapshotOfOne();
    // The time after the snapshot, which is lost.
    const lost = await using('data', async (store) => {
      const message = await put(store, 'lost');
      await store.write(createMailbox, { account, name: 'Lost', role: null });
      return { message, mailboxes: await mailboxes(store), states: await store.read(jmapStates, { account }) };
    });
    await restore();
    expect(isSound(await checkStore(join(directory, 'restored')))).toBe(true);
    await using('restored', async (store) => {
      const states = await store.read(jmapStates, { account });
      // That of deliveries is the newest message: the one of the snapshot is still the same.
      for (const type of STATE_TYPES.filter((one) => one !== 'EmailDelivery')) {
        expect(states[type], type).toBeGreaterThan(lost.states[type]);
      }
      expect(await put(store, 'new')).not.toBe(lost.message);
      await store.write(createMailbox, { account, name: 'Lost', role: null });
      const found = await mailboxes(store);
      expect(found.map(({ name }) => name).toSorted()).toEqual(lost.mailboxes.map(({ name }) => name).toSorted());
      expect(new Set(found.map(({ uidValidity }) => uidValidity)).size).toBe(found.length);
      const highest = Math.max(...lost.mailboxes.map(({ uidValidity }) => uidValidity));
      const changed = Math.max(...lost.mailboxes.map(({ highestModseq }) => highestModseq));
      for (const { name, uidValidity, highestModseq } of found) {
        expect(uidValidity, name).toBeGreaterThan(highest);
        expect(uidValidity, name).toBeLessThan(2 ** 32);
        expect(highestModseq, name).toBeGreaterThan(changed);
      }
    });
  });

  test('compares no state of JMAP from before the restore', async () => {
    const state = await snapshotOfOne();
    await restore();
    await using('restored', async (store) => {
      const since = (modseq: number) => ({ modseq, row: Number.POSITIVE_INFINITY, origin: modseq });
      const changes = (modseq: number) => store.read(emailChanges, { account, since: since(modseq), limit: 10 });
      expect(await changes(state)).toEqual({ kind: 'pruned' });
      const { Email: now } = await store.read(jmapStates, { account });
      expect(await changes(now)).toMatchObject({ changes: [] });
      await put(store, 'new');
      expect(await changes(state)).toEqual({ kind: 'pruned' });
      expect(await changes(now)).toMatchObject({ changes: [expect.anything()] });
    });
  });

  test('takes mail and flags as before, also when it was restored twice', async () => {
    await snapshotOfOne();
    await restore();
    renewIds(join(directory, 'restored', 'mailstead.db'), Date.now());
    await using('restored', async (store) => {
      await put(store, 'new');
      const mailbox = (await store.read(findMailbox, { account, name: 'INBOX' }))?.id ?? 0;
      const flags = { bits: 1, keywords: [] };
      await store.write(storeFlags, { account, mailbox, uids: [1], how: 'add', flags, unchangedSince: null });
      const inbox = (await mailboxes(store)).find(({ id }) => id === mailbox);
      expect(inbox).toMatchObject({ total: 2, uidNext: 3 });
      expect(inbox?.highestModseq).toBeGreaterThan(2 * 2 ** 32);
    });
    expect(isSound(await checkStore(join(directory, 'restored')))).toBe(true);
  });

  test('can be backed up before any server has opened it', async () => {
    await snapshotOfOne();
    await restore();
    const target = new BackupDirectory(join(directory, 'second'));
    const options = { keyFile: '', target, keys: {}, rate: 0, version: 'test', clock: Date.now };
    await createBackup({ ...options, dataDir: join(directory, 'restored') });
    const repository = await Repository.open(new BackupDirectory(join(directory, 'second')), {});
    const again = join(directory, 'again');
    await restoreSnapshot(repository, await findSnapshot(repository), again, { prepare: () => undefined });
    expect(isSound(await checkStore(again))).toBe(true);
    const inbox = await using('again', (store) => store.read(findMailbox, { account, name: 'INBOX' }));
    expect(inbox).toMatchObject({ total: 1 });
  });
});

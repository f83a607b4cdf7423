import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { openForWriting } from '../../mail/store/engine/connection.ts';
import { migrate } from '../../mail/store/engine/migrate.ts';
import { copyBeforeUpgrade } from '../../mail/store/engine/upgrade-copy.ts';
import { expunge, storeFlags } from '../../mail/store/mailbox/entry-commands.ts';
import { messageRows } from '../../mail/store/blob/content.ts';
import { mailMigrations } from '../../mail/store/migrations.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { restoreStep, type RestoreStep } from '../../src/backup/restore-mailbox.ts';
import { RestoredMail } from '../../src/backup/restored-mailbox.ts';
import { checkUpgrade } from '../../src/backup/upgrade-check.ts';
import { applianceMigrations } from '../../src/core/migrations.ts';
import { BackupWorld } from '../support/backup-world.ts';
import { testAccount, testStore } from '../support/store.ts';

const DELETED = 16;

/** Restores all messages of the mailbox, step by step. */
async function restoreAll(
  store: MailStore,
  account: number,
  dataDir: string,
  messageId?: string,
): Promise<Omit<RestoreStep, 'next'>> {
  using from = new RestoredMail(dataDir, 'me@box.test');
  const sum = { restored: 0, present: 0, skipped: 0, reason: null as string | null };
  for (let at: RestoreStep['next'] = { mailbox: 0, uid: 0 }; at !== null;) {
    const step: RestoreStep = await restoreStep(store, account, from, at, messageId);
    sum.restored += step.restored;
    sum.present += step.present;
    sum.skipped += step.skipped;
    at = step.next;
  }
  return sum;
}

describe('one mailbox of a backup', () => {
  test('comes back into a running store, once, and other mailboxes stay as they are', async () => {
    await using world = await BackupWorld.create(120, 2);
    await using box = await testStore();
    const { account, inbox } = await testAccount(box.store);
    const other = await testAccount(box.store, 'other');
    expect(await restoreAll(box.store, account, world.dataDir)).toMatchObject({
      restored: 122,
      present: 0,
      skipped: 0,
    });
    expect(await restoreAll(box.store, account, world.dataDir)).toMatchObject({ restored: 0, present: 122 });
    const uids = [3, 7, 122];
    const flags = { bits: DELETED, keywords: [] };
    await box.store.write(storeFlags, { account, mailbox: inbox, uids, how: 'add', flags, unchangedSince: null });
    await box.store.write(expunge, { account, mailbox: inbox, uids });
    expect(await restoreAll(box.store, account, world.dataDir)).toMatchObject({ restored: 3, present: 119 });
    const rows = await box.store.read(messageRows, {
      account,
      mailbox: inbox,
      uids: [123, 124, 125],
      structure: false,
    });
    expect(rows.map(({ receivedAt }) => receivedAt)).toEqual([3_000, 7_000, 122_000]);
    const untouched = await box.store.read(messageRows, {
      account: other.account,
      mailbox: other.inbox,
      uids: [1],
      structure: false,
    });
    expect(untouched).toEqual([]);
  });

  test('gives one message back by its Message-ID, and no other', async () => {
    await using world = await BackupWorld.create(120);
    await using box = await testStore();
    const { account, inbox } = await testAccount(box.store);
    expect(await restoreAll(box.store, account, world.dataDir, '<77@remote.example>')).toMatchObject({ restored: 1 });
    // Without the angle brackets, and again.
    const again = await restoreAll(box.store, account, world.dataDir, '77@remote.example');
    expect(again).toMatchObject({ restored: 0, present: 1, skipped: 0 });
    expect(await restoreAll(box.store, account, world.dataDir, '7@remote.example.other')).toMatchObject({
      restored: 0,
      present: 0,
    });
    const wanted = { account, mailbox: inbox, uids: [1, 2], structure: false };
    const rows = await box.store.read(messageRows, wanted);
    expect(rows.map(({ receivedAt }) => receivedAt)).toEqual([77_000]);
  });

  test('that the snapshot does not have is reported', async () => {
    await using world = await BackupWorld.create(1);
    using from = new RestoredMail(world.dataDir, 'nobody@box.test');
    expect(from.exists).toBe(false);
  });
});

describe('an upgrade', () => {
  test('copies the database first, and nothing where nothing changes', () => {
    const directory = mkdtempSync(join(tmpdir(), 'upgrade-'));
    try {
      const path = join(directory, 'mailstead.db');
      const steps = [...mailMigrations(), ...applianceMigrations()];
      const older = steps.filter(({ ledger, number }) => ledger === 'mail' && number < 3);
      expect(copyBeforeUpgrade(path, steps)).toBeUndefined();
      const connection = openForWriting(path);
      migrate(connection, older);
      connection.script(`INSERT INTO domain (tenant, name, created_at) VALUES (1, 'box.test', 7)`);
      connection.close();
      expect(checkUpgrade(directory)).toMatchObject({ possible: true, problem: null, applied: ['mail 1', 'mail 2'] });
      const copy = copyBeforeUpgrade(path, steps) ?? '';
      expect(copy).toMatch(/before-upgrade\/\d{8}T\d{6}Z-mail-2-appliance-0\.db$/);
      const db = new DatabaseSync(copy);
      expect(db.prepare('SELECT name FROM domain').all()).toEqual([{ name: 'box.test' }]);
      expect(db.prepare('SELECT count(*) AS n FROM migration').get()).toEqual({ n: 2 });
      db.close();
      expect(existsSync(`${copy}.tmp`)).toBe(false);
      expect(readdirSync(join(directory, 'before-upgrade'))).toHaveLength(1);
      expect(copyBeforeUpgrade(path, older)).toBeUndefined();
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test('is refused with a sentence for tables of a newer version', () => {
    const directory = mkdtempSync(join(tmpdir(), 'upgrade-'));
    try {
      const connection = openForWriting(join(directory, 'mailstead.db'));
      const steps = [...mailMigrations(), ...applianceMigrations()];
      const newer = {
        ledger: 'mail',
        number: mailMigrations().length + 1,
        sql: 'CREATE TABLE newer (id INTEGER)',
      } as const;
      migrate(connection, [...steps, newer]);
      connection.close();
      const found = checkUpgrade(directory);
      expect(found.possible).toBe(false);
      expect(found.problem).toMatch(/written by a newer Mailstead .* restore the copy that the upgrade made/);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

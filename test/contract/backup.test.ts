import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { expiredSnapshots, removeExpired } from '../../mail/backup/backup-retention.ts';
import { BackupFile } from '../../mail/backup/file-target.ts';
import { Repository } from '../../mail/backup/repository.ts';
import { findSnapshot, restoreSnapshot } from '../../mail/backup/restore-snapshot.ts';
import type { BackupTarget } from '../../mail/backup/backup-target.ts';
import { type BackupVerification, verifyBackup } from '../../mail/backup/verify-backup.ts';
import { checkStore, isSound } from '../../mail/store/check/check-store.ts';
import { BackupWorld, contentOf, MemoryTarget } from '../support/backup-world.ts';
import { flipped } from '../support/flipped.ts';
import { seeded } from '../support/imap-fuzz.ts';

const PASSPHRASE = 'correct horse battery staple';

async function verify(world: BackupWorld, target: BackupTarget, passphrase?: string): Promise<BackupVerification> {
  const repository = await Repository.open(target, { passphrase });
  return verifyBackup(repository, await findSnapshot(repository), world.directory);
}

async function restore(world: BackupWorld, target: BackupTarget, passphrase?: string, at?: number): Promise<string> {
  const repository = await Repository.open(target, { passphrase });
  const directory = join(world.directory, `restored-${readdirSync(world.directory).length}`);
  await restoreSnapshot(repository, await findSnapshot(repository, at), directory);
  return directory;
}

async function withFile<T>(path: string, work: (file: BackupFile) => Promise<T>): Promise<T> {
  const file = new BackupFile(path);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

describe('a backup', () => {
  test.each([
    ['without a passphrase', undefined],
    ['with a passphrase', PASSPHRASE],
  ])('%s restores to the same rows, messages and keys', async (_, passphrase) => {
    await using world = await BackupWorld.create(30, 3);
    const target = world.target();
    const { snapshot } = await world.backup(target, passphrase);
    expect(snapshot).toMatchObject({ messages: 33, mailboxes: 1, keys: passphrase !== undefined });
    const directory = await restore(world, target, passphrase);
    expect(contentOf(directory)).toEqual(contentOf(world.dataDir));
    const key = join(directory, 'secret.key');
    if (passphrase === undefined) expect(existsSync(key)).toBe(false);
    else expect(readFileSync(key)).toEqual(readFileSync(join(world.dataDir, 'secret.key')));
    expect(await verify(world, target, passphrase)).toMatchObject({ ok: true, check: { checked: 33, withoutHash: 0 } });
  });

  test('with a passphrase contains neither mail nor keys in the clear', async () => {
    await using world = await BackupWorld.create(3, 1);
    const target = new MemoryTarget();
    await world.backup(target, PASSPHRASE);
    const all = Buffer.concat([...target.objects.values()]);
    for (const text of ['remote.example', 'message 1', 'SQLite format 3']) expect(all.includes(text)).toBe(false);
    expect(all.includes(readFileSync(join(world.dataDir, 'secret.key')))).toBe(false);
  });

  test('after 1 % of new mail moves at most 3 % of the octets', async () => {
    await using world = await BackupWorld.create(2_000, 40);
    const target = new MemoryTarget();
    await world.backup(target, PASSPHRASE);
    const first = target.putOctets;
    await world.add(20, 1);
    await world.backup(target, PASSPHRASE);
    const share = (target.putOctets - first) / first;
    console.log(`an incremental backup of 1 % new mail moved ${(share * 100).toFixed(2)} % of the octets`);
    expect(share).toBeLessThan(0.03);
    expect(contentOf(await restore(world, target, PASSPHRASE))).toEqual(contentOf(world.dataDir));
  });

  test('of an earlier time comes back as it was then', async () => {
    await using world = await BackupWorld.create(5);
    const target = world.target();
    const { snapshot } = await world.backup(target);
    const before = contentOf(world.dataDir);
    await world.add(5, 1);
    await world.backup(target);
    expect(contentOf(await restore(world, target, undefined, snapshot.at))).toEqual(before);
    expect(contentOf(await restore(world, target))).toEqual(contentOf(world.dataDir));
    await expect(restore(world, target, undefined, snapshot.at - 1)).rejects.toThrow(/No snapshot .* is that old/);
  });

  test('in one file replaces it when the new one is whole', async () => {
    await using world = await BackupWorld.create(5, 1);
    const path = join(world.directory, 'mail.backup');
    await withFile(path, (file) => world.backup(file, PASSPHRASE));
    expect(await withFile(path, (file) => verify(world, file, PASSPHRASE))).toMatchObject({ ok: true });
    await world.add(1);
    await withFile(path, (file) => world.backup(file, PASSPHRASE));
    expect(await withFile(path, (file) => verify(world, file, PASSPHRASE))).toMatchObject({
      ok: true,
      check: { checked: 7 },
    });
    expect(readdirSync(world.directory).sort()).toEqual(['data', 'mail.backup']);
  });

  test.each([
    ['a document', 'Minutes of the meeting'],
    ['shorter than the first line of a backup', 'x'],
  ])('replaces no file that is no backup: %s stays, and the message says so', async (_, content) => {
    await using world = await BackupWorld.create(1);
    const path = join(world.directory, 'minutes.txt');
    writeFileSync(path, content);
    await expect(withFile(path, (file) => world.backup(file))).rejects.toThrow('is not a backup of Mailstead');
    expect(readFileSync(path, 'utf8')).toBe(content);
    expect(readdirSync(world.directory).sort()).toEqual(['data', 'minutes.txt']);
  });

  test('fills an empty file, such as mktemp makes', async () => {
    await using world = await BackupWorld.create(1);
    const path = join(world.directory, 'empty.backup');
    writeFileSync(path, '');
    await withFile(path, (file) => world.backup(file));
    expect(await withFile(path, (file) => verify(world, file))).toMatchObject({ ok: true });
  });

  test('that fails at any request is no snapshot, or a whole one', async () => {
    await using world = await BackupWorld.create(3, 1);
    for (let failing = 1; ; failing++) {
      const target = new MemoryTarget();
      let requests = 0;
      target.before = (request) => {
        if (++requests === failing) throw new Error(`no ${request}`);
      };
      const failed = await world.backup(target, undefined).then(
        () => false,
        () => true,
      );
      target.before = () => {};
      const listed = [...target.objects.keys()].filter((name) => name.startsWith('snapshots/'));
      if (!failed) {
        expect(listed).toHaveLength(1);
        expect(failing).toBeGreaterThan(5);
        return;
      }
      expect(listed, `request ${failing}`).toEqual([]);
      await world.backup(target, undefined);
      expect(await verify(world, target)).toMatchObject({ ok: true });
    }
  });

  test('is refused by a target that forgets what it acknowledged', async () => {
    await using world = await BackupWorld.create(3, 1);
    const target = new MemoryTarget();
    target.before = (request) => {
      if (request === 'list packs/')
        for (const name of target.objects.keys()) if (name.startsWith('packs/')) target.objects.delete(name);
    };
    await expect(world.backup(target)).rejects.toThrow(/does not have packs\/.*, which it acknowledged/);
    expect([...target.objects.keys()]).toEqual(['mailstead-backup']);
  });
});

describe('damage of a backup is found', () => {
  test.each([
    ['without a passphrase', undefined],
    ['with a passphrase', PASSPHRASE],
  ])('%s, 100 of 100 flipped bits', async (_, passphrase) => {
    await using world = await BackupWorld.create(4, 1);
    const target = new MemoryTarget();
    await world.backup(target, passphrase);
    await world.add(1);
    await world.backup(target, passphrase);
    // Opened before the damage, as deriving the key takes long; its head is damaged below.
    const repository = await Repository.open(target, { passphrase });
    const snapshot = await findSnapshot(repository);
    const random = seeded(21);
    const names = [...target.objects.keys()].filter((name) => name !== 'mailstead-backup');
    const unseen: string[] = [];
    for (let flip = 0; flip < 100; flip++) {
      const name = names[flip % names.length] ?? '';
      const whole = target.objects.get(name) ?? Buffer.alloc(1);
      target.objects.set(name, flipped(whole, random(whole.length * 8)));
      if ((await verifyBackup(repository, snapshot, world.directory)).ok) unseen.push(`${name} flip ${flip}`);
      target.objects.set(name, whole);
    }
    expect(unseen).toEqual([]);
    expect(await verifyBackup(repository, snapshot, world.directory)).toMatchObject({ ok: true });
  });

  test('in its first object, at every bit', async () => {
    await using world = await BackupWorld.create(1);
    const target = new MemoryTarget();
    await world.backup(target);
    const whole = target.objects.get('mailstead-backup') ?? Buffer.alloc(0);
    for (let bit = 0; bit < whole.length * 8; bit++) {
      target.objects.set('mailstead-backup', flipped(whole, bit));
      await expect(Repository.open(target, {}), `bit ${bit}`).rejects.toThrow(/is damaged, or no backup/);
    }
  });

  test('when an object is missing, or two are exchanged', async () => {
    await using world = await BackupWorld.create(4, 1);
    const target = new MemoryTarget();
    await world.backup(target);
    await world.add(3);
    await world.backup(target);
    const objects = new Map(target.objects);
    for (const [name, octets] of objects) {
      if (name === 'mailstead-backup') continue;
      target.objects.delete(name);
      const found = await verify(world, target).catch((error: Error) => ({ ok: false, problems: [error.message] }));
      // A missing manifest is no backup; the other one is still whole.
      if (!name.startsWith('snapshots/')) expect(found, name).toMatchObject({ ok: false });
      target.objects.set(name, octets);
    }
    const [one = '', two = ''] = [...objects.keys()].filter((name) => name.startsWith('packs/'));
    target.objects.set(one, objects.get(two) ?? Buffer.alloc(0)).set(two, objects.get(one) ?? Buffer.alloc(0));
    expect(await verify(world, target)).toMatchObject({ ok: false });
  });

  test('in one file, at any octet', async () => {
    await using world = await BackupWorld.create(3);
    const path = join(world.directory, 'mail.backup');
    await withFile(path, (file) => world.backup(file));
    const whole = readFileSync(path);
    const random = seeded(4);
    for (let flip = 0; flip < 40; flip++) {
      writeFileSync(
        path,
        flip % 2 === 0 ? flipped(whole, random(whole.length * 8)) : whole.subarray(0, random(whole.length)),
      );
      const found = await withFile(path, (file) => verify(world, file)).catch(() => ({ ok: false }));
      expect(found.ok, `flip ${flip}`).toBe(false);
    }
  });

  test('and a snapshot before the damaged one is still restored', async () => {
    await using world = await BackupWorld.create(3);
    const target = new MemoryTarget();
    const { snapshot } = await world.backup(target);
    const before = contentOf(world.dataDir);
    await world.add(3);
    const second = await world.backup(target);
    target.objects.set(`snapshots/${second.snapshot.id}`, Buffer.from('no manifest'));
    expect(contentOf(await restore(world, target))).toEqual(before);
    const third = await world.backup(target);
    expect(third.snapshot.messages).toBe(6);
    expect(await verify(world, target)).toMatchObject({ ok: false, snapshot: { id: third.snapshot.id } });
    expect(snapshot.messages).toBe(3);
  });
});

describe('a backup is refused with a sentence', () => {
  test('for a passphrase that is wrong, missing, or new', async () => {
    await using world = await BackupWorld.create(1);
    const [sealed, plain] = [new MemoryTarget(), new MemoryTarget()];
    await world.backup(sealed, PASSPHRASE);
    await world.backup(plain);
    await expect(verify(world, sealed, 'another passphrase')).rejects.toThrow(/passphrase is wrong for this backup/);
    await expect(verify(world, sealed)).rejects.toThrow(/encrypted. Set MAILSTEAD_BACKUP_PASSPHRASE/);
    await expect(world.backup(sealed)).rejects.toThrow(/encrypted. Set MAILSTEAD_BACKUP_PASSPHRASE/);
    await expect(world.backup(plain, PASSPHRASE)).rejects.toThrow(/are not encrypted, and a passphrase is set/);
  });

  test('for a target of another database, an empty one, and a directory that is in use', async () => {
    await using world = await BackupWorld.create(1);
    await using other = await BackupWorld.create(1);
    const target = world.target();
    await expect(verify(world, target)).rejects.toThrow(/There is no backup in/);
    await world.backup(target);
    await expect(other.backup(target)).rejects.toThrow(/backups of another database/);
    const repository = await Repository.open(target, {});
    const snapshot = await findSnapshot(repository);
    await expect(restoreSnapshot(repository, snapshot, world.dataDir)).rejects.toThrow(/is not empty/);
    expect(existsSync(join(world.dataDir, 'mailstead.db'))).toBe(true);
  });

  test('while another one runs', async () => {
    await using world = await BackupWorld.create(1);
    const target = new MemoryTarget();
    let refusal = '';
    let first = true;
    const second = async (): Promise<void> => {
      await world.backup(new MemoryTarget()).catch((error: Error) => (refusal = error.message));
    };
    let waiting: Promise<void> | undefined;
    target.before = () => {
      if (first) waiting = second();
      first = false;
    };
    await world.backup(target);
    await waiting;
    expect(refusal).toMatch(/Another backup of .* runs/);
  });
});

describe('retention', () => {
  const HOUR = 3_600_000;
  const now = Date.UTC(2026, 10, 23, 12);
  const hourly = Array.from({ length: 24 * 100 }, (_, hours) => ({ at: now - hours * HOUR, id: String(hours) }));
  const kept = (retention: Parameters<typeof expiredSnapshots>[1]): number =>
    hourly.length - expiredSnapshots(hourly, retention, now).length;

  test.each([
    ['nothing else', { hourly: 0, daily: 0, weekly: 0, monthly: 0 }, 24],
    ['48 hours', { hourly: 48, daily: 0, weekly: 0, monthly: 0 }, 48],
    ['7 days', { hourly: 0, daily: 7, weekly: 0, monthly: 0 }, 24 + 5],
    ['12 months, of which 4 have one', { hourly: 0, daily: 0, weekly: 0, monthly: 12 }, 24 + 3],
    ['24 hours, 7 days, 5 weeks and 12 months', { hourly: 24, daily: 7, weekly: 5, monthly: 12 }, 24 + 5 + 4 + 2],
  ])('keeps the last day and %s', (_, retention, expected) => {
    expect(kept(retention)).toBe(expected);
  });

  test('removes old snapshots and what only they needed, and the others stay whole', async () => {
    await using world = await BackupWorld.create(5, 2);
    const target = new MemoryTarget();
    const start = Date.now() - 40 * 24 * HOUR;
    for (let day = 0; day < 4; day++) {
      await world.backup(target, undefined, () => start + day * 24 * HOUR);
      await world.add(3);
    }
    target.objects.set('packs/20200101t000000000z-00000000-0', Buffer.from('of a backup that was killed'));
    target.objects.set('packs/20990101t000000000z-00000000-0', Buffer.from('of one that runs'));
    const repository = await Repository.open(target, {});
    const removed = await removeExpired(repository, { hourly: 0, daily: 2, weekly: 0, monthly: 0 }, Date.now());
    expect(removed).toBe(2);
    expect(target.objects.has('packs/20200101t000000000z-00000000-0')).toBe(false);
    expect(target.objects.has('packs/20990101t000000000z-00000000-0')).toBe(true);
    expect(await repository.snapshotIds()).toHaveLength(2);
    expect([...target.objects.keys()].filter((name) => name.startsWith('maps/'))).toHaveLength(2);
    expect(await verify(world, target)).toMatchObject({ ok: true });
  });

  test('removes nothing while a manifest cannot be read', async () => {
    await using world = await BackupWorld.create(1);
    const target = new MemoryTarget();
    const { snapshot } = await world.backup(target, undefined, () => 1_600_000_000_000);
    await world.add(1);
    await world.backup(target, undefined, () => 1_700_000_000_000);
    target.objects.set(`snapshots/${snapshot.id}`, Buffer.from('?'));
    const before = target.objects.size;
    const repository = await Repository.open(target, {});
    await expect(
      removeExpired(repository, { hourly: 0, daily: 1, weekly: 0, monthly: 0 }, Date.now()),
    ).rejects.toThrow();
    expect(target.objects.size).toBe(before);
  });
});

describe('a check of the data directory', () => {
  test('names each damaged message and its mailbox', async () => {
    await using world = await BackupWorld.create(3, 3);
    expect(isSound(await checkStore(world.dataDir))).toBe(true);
    const files = readdirSync(join(world.dataDir, 'blobs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /[0-9a-f]{32}$/.test(name))
      .map((name) => join(world.dataDir, 'blobs', name));
    const [missing = '', short = '', changed = ''] = files;
    writeFileSync(short, readFileSync(short).subarray(1));
    writeFileSync(changed, flipped(readFileSync(changed), 99_999));
    rmSync(missing);
    const db = new DatabaseSync(join(world.dataDir, 'mailstead.db'));
    db.exec(`UPDATE blob SET data = cast(substr(data, 1, 50) || 'x' || substr(data, 52) AS BLOB) WHERE id = 1`);
    db.exec('UPDATE mailbox SET total = 5 WHERE total = 6');
    db.close();
    const found = await checkStore(world.dataDir);
    expect(found).toMatchObject({ checked: 6, damaged: 4, database: [] });
    expect(found.damagedMessages.map(({ problem }) => problem).sort()).toEqual([
      'changed',
      'changed',
      'missing',
      'short',
    ]);
    expect(found.damagedMessages[0]).toMatchObject({
      address: 'me@box.test',
      folder: 'INBOX',
      uid: 1,
      subject: 'message 1',
    });
    expect(found.inconsistencies).toEqual(['1 folders count another number of messages than they have']);
  });

  test('goes on behind a damaged page of the database', async () => {
    await using world = await BackupWorld.create(200);
    const path = join(world.dataDir, 'mailstead.db');
    const octets = readFileSync(path);
    octets.fill(0xff, octets.length - 3 * 4096, octets.length - 2 * 4096);
    writeFileSync(path, octets);
    const found = await checkStore(world.dataDir);
    expect(isSound(found)).toBe(false);
    expect(found.checked).toBeGreaterThan(150);
  });
});

import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createIdentity, parseIdentity, parseRecipient } from '../../mail/backup/backup-identity.ts';
import type { BackupKeys } from '../../mail/backup/backup-keys.ts';
import { removeExpired } from '../../mail/backup/backup-retention.ts';
import type { BackupTarget } from '../../mail/backup/backup-target.ts';
import { Envelope } from '../../mail/backup/envelope.ts';
import { BackupFile } from '../../mail/backup/file-target.ts';
import { openHead, readHead, writeHead, type RepositoryHead } from '../../mail/backup/repository-head.ts';
import type { RecipientSlots } from '../../mail/backup/recipient-slots.ts';
import { Repository } from '../../mail/backup/repository.ts';
import { findSnapshot, restoreSnapshot } from '../../mail/backup/restore-snapshot.ts';
import { type BackupVerification, verifyBackup } from '../../mail/backup/verify-backup.ts';
import { openKeyFile } from '../../mail/store/blob/key-file.ts';
import { BackupWorld, contentOf, MemoryTarget } from '../support/backup-world.ts';
import { flipped } from '../support/flipped.ts';
import { seeded } from '../support/imap-fuzz.ts';

const PASSPHRASE = 'correct horse battery staple';
const HEAD = 'mailstead-backup';
const OLD_FORMAT = join(import.meta.dirname, '../vectors/backup-format-1.backup');

/** An identity, as the person has it, and its recipient, as the server has it. */
function createKeys(): { identity: Buffer; recipient: Buffer } {
  const made = createIdentity();
  return { identity: parseIdentity(made.identity)!, recipient: parseRecipient(made.recipient)! };
}

/** Keys of the server of the world. */
async function serverKeys(world: BackupWorld, ...recipients: Buffer[]): Promise<BackupKeys> {
  const box = await openKeyFile(join(world.dataDir, 'secret.key'), { create: false });
  if ('problem' in box) throw new Error(box.problem);
  return { recipients, indexKey: (repository) => box.subkey(`backup index ${repository}`) };
}

async function backup(world: BackupWorld, target: BackupTarget, keys: BackupKeys): Promise<void> {
  await world.backup(target, keys.passphrase, Date.now, keys);
}

async function restore(world: BackupWorld, target: BackupTarget, keys: BackupKeys): Promise<string> {
  const repository = await Repository.open(target, keys);
  const directory = join(world.directory, `restored-${readdirSync(world.directory).length}`);
  await restoreSnapshot(repository, await findSnapshot(repository), directory);
  return directory;
}

async function verify(world: BackupWorld, target: BackupTarget, keys: BackupKeys): Promise<BackupVerification> {
  const repository = await Repository.open(target, keys);
  return verifyBackup(repository, await findSnapshot(repository), world.directory);
}

const packsOf = ({ objects }: MemoryTarget): [string, Buffer][] =>
  [...objects].filter(([name]) => name.startsWith('packs/'));

describe('a backup for a recipient', () => {
  test('restores to the same rows, messages and keys with the identity alone', async () => {
    await using world = await BackupWorld.create(20, 2);
    const [target, { identity, recipient }] = [world.target(), createKeys()];
    await backup(world, target, await serverKeys(world, recipient));
    const directory = await restore(world, target, { identities: [identity] });
    expect(contentOf(directory)).toEqual(contentOf(world.dataDir));
    expect(readFileSync(join(directory, 'secret.key'))).toEqual(readFileSync(join(world.dataDir, 'secret.key')));
    expect(await verify(world, target, { identities: [identity] })).toMatchObject({ ok: true, check: { checked: 22 } });
  });

  test('stores only what is new, and removes what is expired, with the keys of the server alone', async () => {
    await using world = await BackupWorld.create(500, 10);
    const [target, { identity, recipient }] = [new MemoryTarget(), createKeys()];
    const keys = await serverKeys(world, recipient);
    const start = Date.now() - 40 * 24 * 3_600_000;
    await world.backup(target, undefined, () => start, keys);
    const first = target.putOctets;
    await world.add(5);
    await world.backup(target, undefined, Date.now, keys);
    expect((target.putOctets - first) / first).toBeLessThan(0.15);
    const index = await Repository.openIndex(target, keys);
    expect(await removeExpired(index, { hourly: 0, daily: 1, weekly: 0, monthly: 0 }, Date.now())).toBe(1);
    expect((await index.manifests()).map(({ messages }) => messages)).toEqual([515]);
    expect(contentOf(await restore(world, target, { identities: [identity] }))).toEqual(contentOf(world.dataDir));
  });

  test('is not readable with the key file of the server: neither its packs, nor as a restore', async () => {
    await using world = await BackupWorld.create(3, 1);
    const [target, { identity, recipient }] = [new MemoryTarget(), createKeys()];
    const keys = await serverKeys(world, recipient);
    await backup(world, target, keys);
    await expect(Repository.open(target, keys)).rejects.toThrow(
      /^The backup is encrypted for mailstead-recipient-\S+, and no identity is set. Set MAILSTEAD_BACKUP_IDENTITY_FILE/,
    );
    const index = await Repository.openIndex(target, keys);
    expect(packsOf(target).length).toBeGreaterThan(0);
    for (const [name] of packsOf(target)) await expect(index.get(name)).rejects.toThrow(/needs an identity/);
    await expect(
      findSnapshot(index).then((one) => restoreSnapshot(index, one, join(world.directory, 'no'))),
    ).rejects.toThrow(/needs an identity/);
    expect(existsSync(join(world.directory, 'no'))).toBe(false);
    const { packs } = (await openHead(headOf(target), { identities: [identity] }))!;
    const everything = [...target.objects.values(), ...filesOf(world.dataDir)];
    for (const secret of [packs!.privateKey!, identity]) {
      for (const text of [secret, secret.toString('base64'), secret.toString('hex')])
        expect(everything.some((octets) => octets.includes(text))).toBe(false);
    }
  });

  test('contains neither mail nor keys in the clear', async () => {
    await using world = await BackupWorld.create(3, 1);
    const target = new MemoryTarget();
    await backup(world, target, await serverKeys(world, createKeys().recipient));
    const all = Buffer.concat([...target.objects.values()]);
    for (const text of ['remote.example', 'message 1', 'SQLite format 3']) expect(all.includes(text)).toBe(false);
    expect(all.includes(readFileSync(join(world.dataDir, 'secret.key')))).toBe(false);
  });

  test('in one file is replaced by the next, which another recipient opens', async () => {
    await using world = await BackupWorld.create(2);
    const path = join(world.directory, 'mail.backup');
    for (const { identity, recipient } of [createKeys(), createKeys()]) {
      const written = new BackupFile(path);
      await backup(world, written, await serverKeys(world, recipient));
      await written.close();
      const read = new BackupFile(path);
      expect(await verify(world, read, { identities: [identity] })).toMatchObject({ ok: true });
      await read.close();
    }
  });
});

function headOf(target: MemoryTarget): RepositoryHead {
  return readHead(target.objects.get(HEAD)!, 'memory');
}

function filesOf(directory: string): Buffer[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
}

describe('several keys', () => {
  test('each of two recipients opens a backup, another one does not', async () => {
    await using world = await BackupWorld.create(2);
    const [target, one, two, other] = [new MemoryTarget(), createKeys(), createKeys(), createKeys()];
    await backup(world, target, await serverKeys(world, one.recipient, two.recipient));
    for (const { identity } of [one, two])
      expect(await verify(world, target, { identities: [other.identity, identity] })).toMatchObject({ ok: true });
    await expect(verify(world, target, { identities: [other.identity] })).rejects.toThrow(
      /^The identity is wrong for this backup: it is that of mailstead-recipient-\S+, and the backup is encrypted for mailstead-recipient-\S+ and mailstead-recipient-/,
    );
    // Their order does not matter, and naming one twice neither.
    await backup(world, target, await serverKeys(world, two.recipient, one.recipient, two.recipient));
  });

  test('a passphrase and a recipient each open a backup, also one that was made without the passphrase', async () => {
    await using world = await BackupWorld.create(2);
    const [target, { identity, recipient }] = [new MemoryTarget(), createKeys()];
    const keys = await serverKeys(world, recipient);
    await backup(world, target, { ...keys, passphrase: PASSPHRASE });
    await expect(backup(world, target, { ...keys, passphrase: 'another passphrase' })).rejects.toThrow(
      /passphrase is wrong for this backup/,
    );
    await world.add(1);
    await backup(world, target, keys);
    for (const opening of [{ passphrase: PASSPHRASE }, { identities: [identity] }])
      expect(await verify(world, target, opening)).toMatchObject({ ok: true, check: { checked: 3 } });
    await expect(verify(world, target, {})).rejects.toThrow(/or the passphrase in MAILSTEAD_BACKUP_PASSPHRASE/);
    await expect(verify(world, target, { passphrase: 'another passphrase' })).rejects.toThrow(/passphrase is wrong/);
  });
});

describe('another encryption than the target has is refused', () => {
  const [{ recipient, identity }, other] = [createKeys(), createKeys()];
  const PASSPHRASE_ONLY = { passphrase: PASSPHRASE };
  const RECIPIENT = { recipients: [recipient] };

  test.each<[string, BackupKeys, BackupKeys, RegExp]>([
    [
      'a recipient, and it is not encrypted',
      {},
      RECIPIENT,
      /are not encrypted, and a recipient is set. Use a new target/,
    ],
    [
      'a recipient, and it has a passphrase',
      PASSPHRASE_ONLY,
      RECIPIENT,
      /by a passphrase only, and a recipient is set/,
    ],
    ['both, and it has a passphrase', PASSPHRASE_ONLY, { ...PASSPHRASE_ONLY, ...RECIPIENT }, /by a passphrase only/],
    ['nothing, and it has a recipient', RECIPIENT, {}, /for other recipients than MAILSTEAD_BACKUP_RECIPIENT has/],
    ['a passphrase, and it has a recipient', RECIPIENT, PASSPHRASE_ONLY, /for other recipients than/],
    ['another recipient', RECIPIENT, { recipients: [other.recipient] }, /for other recipients than/],
    ['one recipient more', RECIPIENT, { recipients: [recipient, other.recipient] }, /for other recipients than/],
    [
      'a recipient and a passphrase more',
      RECIPIENT,
      { ...PASSPHRASE_ONLY, ...RECIPIENT },
      /for recipients only, and a passp/,
    ],
  ])('%s', async (_, before, after, message) => {
    await using world = await BackupWorld.create(1);
    const target = new MemoryTarget();
    const server = await serverKeys(world);
    await backup(world, target, { ...server, ...before });
    const stored = new Map(target.objects);
    await expect(backup(world, target, { ...server, ...after })).rejects.toThrow(message);
    expect(target.objects).toEqual(stored);
  });

  test('without a key file there is no backup for a recipient, and no target is begun', async () => {
    await using world = await BackupWorld.create(1);
    const target = new MemoryTarget();
    await expect(backup(world, target, RECIPIENT)).rejects.toThrow(/key file of the server cannot be read/);
    expect(target.objects.size).toBe(0);
    await backup(world, target, await serverKeys(world, recipient));
    await expect(backup(world, target, RECIPIENT)).rejects.toThrow(/key file of the server cannot be read/);
    expect(await verify(world, target, { identities: [identity] })).toMatchObject({ ok: true });
  });
});

describe('what a storage changes is found', () => {
  /** Changes one text of the head as somebody would who also corrects its hash. */
  const changed = (text: string): string => (text.startsWith('A') ? 'B' : 'A') + text.slice(1);
  const ENCRYPTION: [string, (slots: RecipientSlots) => void][] = [
    ['the public key', (slots) => (slots.publicKey = changed(slots.publicKey))],
    ['a recipient', (slots) => (slots.slots[1]!.recipient = changed(slots.slots[1]!.recipient))],
    ['the key of a recipient', (slots) => (slots.slots[1]!.key = changed(slots.slots[1]!.key))],
    ['a recipient that is removed', (slots) => slots.slots.pop()],
    ['the salt of the passphrase', (slots) => (slots.passphrase!.salt = changed(slots.passphrase!.salt))],
    ['the passphrase that is removed', (slots) => (slots.passphrase = null)],
    ['the HMAC', (slots) => (slots.mac = changed(slots.mac))],
    ['no HMAC', (slots) => (slots.mac = '')],
  ];
  const CHANGES: [string, (head: RepositoryHead) => void][] = [
    ['the id', (head) => (head.id = changed(head.id))],
    ['the time', (head) => (head.createdAt += 1)],
    ...ENCRYPTION.map(([name, change]): [string, (head: RepositoryHead) => void] => [
      name,
      (head) => change(head.encryption as RecipientSlots),
    ]),
  ];

  test('in the first object: the next backup is refused, and so is a restore', async () => {
    await using world = await BackupWorld.create(1);
    const [target, one, two] = [new MemoryTarget(), createKeys(), createKeys()];
    const keys = await serverKeys(world, one.recipient, two.recipient);
    await backup(world, target, { ...keys, passphrase: PASSPHRASE });
    const whole = target.objects.get(HEAD)!;
    for (const [name, change] of CHANGES) {
      const head = readHead(whole, 'memory');
      change(head);
      target.objects.set(HEAD, writeHead(head));
      await expect(backup(world, target, keys), name).rejects.toThrow(/was altered, or is not of this server/);
      await expect(Repository.open(target, { identities: [one.identity] }), name).rejects.toThrow(/was altered/);
    }
    target.objects.set(HEAD, whole);
    expect(await verify(world, target, { identities: [two.identity] })).toMatchObject({ ok: true });
  });

  test('in any object, 60 of 60 flipped bits', async () => {
    await using world = await BackupWorld.create(4, 1);
    const [target, { identity, recipient }] = [new MemoryTarget(), createKeys()];
    await backup(world, target, await serverKeys(world, recipient));
    const repository = await Repository.open(target, { identities: [identity] });
    const snapshot = await findSnapshot(repository);
    const names = [...target.objects.keys()].filter((name) => name !== HEAD);
    const random = seeded(9);
    const unseen: string[] = [];
    for (let flip = 0; flip < 60; flip++) {
      const name = names[flip % names.length]!;
      const whole = target.objects.get(name)!;
      const bit = flip < 2 * names.length ? flip : random(whole.length * 8);
      target.objects.set(name, flipped(whole, bit));
      if ((await verifyBackup(repository, snapshot, world.directory)).ok) unseen.push(`${name} bit ${bit}`);
      target.objects.set(name, whole);
    }
    expect(unseen).toEqual([]);
    expect(await verifyBackup(repository, snapshot, world.directory)).toMatchObject({ ok: true });
  });

  test('by a pack in the place of another one', async () => {
    await using world = await BackupWorld.create(1);
    const [target, { identity, recipient }] = [new MemoryTarget(), createKeys()];
    const keys = await serverKeys(world, recipient);
    await backup(world, target, keys);
    await world.add(1);
    await backup(world, target, keys);
    const repository = await Repository.open(target, { identities: [identity] });
    const [[one], [two, octets]] = packsOf(target) as [[string, Buffer], [string, Buffer]];
    expect(await repository.get(two)).not.toHaveLength(0);
    target.objects.set(one, octets);
    await expect(repository.get(one)).rejects.toThrow(/is damaged/);
  });

  test('by a pack of its own, although it knows the public key', async () => {
    await using world = await BackupWorld.create(1);
    const [target, { identity, recipient }] = [new MemoryTarget(), createKeys()];
    await backup(world, target, await serverKeys(world, recipient));
    const repository = await Repository.open(target, { identities: [identity] });
    const [name] = packsOf(target)[0]!;
    const content = await repository.get(name);
    const { id, encryption } = headOf(target);
    const publicKey = Buffer.from((encryption as RecipientSlots).publicKey, 'base64');
    const forger = new Envelope({
      index: Buffer.alloc(32),
      packs: { repository: id, publicKey, privateKey: undefined },
    });
    target.objects.set(name, forger.sealPack(name, content));
    await expect(repository.get(name)).rejects.toThrow(/is damaged/);
  });
});

describe('backups of older versions', () => {
  test('made with a passphrase are restored, message by message', async () => {
    await using world = await BackupWorld.create(0);
    const file = new BackupFile(OLD_FORMAT);
    const verification = await verify(world, file, { passphrase: PASSPHRASE });
    expect(verification).toMatchObject({ ok: true, snapshot: { keys: true, messages: 2 }, check: { checked: 2 } });
    await expect(verify(world, file, {})).rejects.toThrow(/encrypted. Set MAILSTEAD_BACKUP_PASSPHRASE/);
    await expect(verify(world, file, { identities: [createKeys().identity] })).rejects.toThrow(
      /Set MAILSTEAD_BACKUP_PASS/,
    );
    await file.close();
  });

  test('are written in the same form as before without a recipient', async () => {
    await using world = await BackupWorld.create(1);
    const [target, file] = [new MemoryTarget(), new BackupFile(OLD_FORMAT)];
    await backup(world, target, { ...(await serverKeys(world)), passphrase: PASSPHRASE });
    const old = readHead((await file.get(HEAD))!, 'file');
    await file.close();
    const form = (head: RepositoryHead): string =>
      JSON.stringify(head).replaceAll(/"(?:id|database|salt|key)":"[^"]*"|\d{9,}/g, '');
    expect(form(headOf(target))).toBe(form(old));
    for (const [name, octets] of packsOf(target))
      expect(octets.subarray(0, 5).toString('hex'), name).toBe('4d53423101');
  });

  test('of format 2 do not open as format 1: an older version says that a newer one wrote them', async () => {
    await using world = await BackupWorld.create(1);
    const target = new MemoryTarget();
    await backup(world, target, await serverKeys(world, createKeys().recipient));
    expect(headOf(target).format).toBe(2);
    const text = JSON.stringify({ ...headOf(target), format: 3 });
    const newer = Buffer.from(`${text}\n${hash('sha256', text, 'hex')}\n`);
    expect(() => readHead(newer, 'memory')).toThrow(/written by a newer Mailstead/);
  });
});

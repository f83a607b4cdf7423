import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { BackupKeys } from '../../mail/backup/backup-keys.ts';
import { removeExpired } from '../../mail/backup/backup-retention.ts';
import { createBackup } from '../../mail/backup/create-backup.ts';
import { type DatabaseSnapshot, SnapshotSource } from '../../mail/backup/database-snapshot.ts';
import { type LogLimits, LogLost, LogShipper } from '../../mail/backup/log-shipper.ts';
import { Repository } from '../../mail/backup/repository.ts';
import { findSnapshot, momentOf, restoreSnapshot } from '../../mail/backup/restore-snapshot.ts';
import { publicKeyOf } from '../../mail/backup/x25519.ts';
import { blobPath } from '../../mail/store/blob/blob.ts';
import { FileLocator } from '../../mail/store/bucket/file-locator.ts';
import { BackupWorld, contentOf, MemoryTarget } from '../support/backup-world.ts';
import { flipped } from '../support/flipped.ts';
import { seeded } from '../support/imap-fuzz.ts';

const PASSPHRASE = 'correct horse battery staple';
const [IDENTITY, INDEX_KEY] = [randomBytes(32), randomBytes(32)];
const HOUR_MS = 3_600_000;
const KEEP = { hourly: 1, daily: 1, weekly: 1, monthly: 1 };

/** A data directory that is written while commits are copied. Each moment is a second of its own. */
class CopiedWorld implements AsyncDisposable {
  readonly target = new MemoryTarget();
  readonly #world: BackupWorld;
  readonly #writer: DatabaseSync;
  readonly #source: SnapshotSource;
  readonly #random = seeded(20_261_124);
  #now = Date.UTC(2026, 10, 24);
  #shipper: LogShipper | undefined;

  private constructor(world: BackupWorld) {
    this.#world = world;
    const path = join(world.dataDir, 'mailstead.db');
    this.#writer = new DatabaseSync(path);
    // A small log, so that it is started anew many times.
    this.#writer.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 40');
    this.#source = new SnapshotSource(path);
  }

  static async create(): Promise<CopiedWorld> {
    return new CopiedWorld(await BackupWorld.create(20, 1));
  }

  get source(): SnapshotSource {
    return this.#source;
  }

  /** The time, a second later at each look. */
  readonly clock = (): number => (this.#now += 1_000);

  pass(ms: number): void {
    this.#now += ms;
  }

  content(): Record<string, string> {
    return contentOf(this.#world.dataDir);
  }

  /** Makes a snapshot, and begins to copy what follows it. */
  async snapshot(keys: BackupKeys = {}, limits?: LogLimits): Promise<LogShipper> {
    this.#shipper?.[Symbol.dispose]();
    this.#shipper = undefined;
    const { dataDir } = this.#world;
    let kept: { state: DatabaseSnapshot; repository: Repository } | undefined;
    const { snapshot } = await createBackup({
      dataDir,
      keyFile: join(dataDir, 'secret.key'),
      target: this.target,
      keys,
      rate: 0,
      version: 'test',
      clock: this.clock,
      held: { source: this.#source, keep: (state, repository) => (kept = { state, repository }) },
    });
    const { state, repository } = kept!;
    const { id, at } = snapshot;
    this.#shipper = new LogShipper({
      repository,
      source: this.#source,
      snapshot: { id, at, state },
      files: new FileLocator(dataDir, undefined),
      clock: this.clock,
      ...(limits && { limits }),
    });
    return this.#shipper;
  }

  /** Some commits: rows that come, change and go, and sometimes a large message in a file. */
  change(): void {
    const random = this.#random;
    for (let commits = 1 + random(12); commits > 0; commits--) {
      const data = randomBytes(1 + random(6_000));
      const add = this.#writer.prepare('INSERT INTO blob (size, data) VALUES (?, ?)');
      const last = Number(add.run(data.length, data).lastInsertRowid);
      if (random(3) === 0) this.#writer.prepare('DELETE FROM blob WHERE id = ? AND file IS NULL').run(last - random(8));
      if (random(3) === 0) this.#writer.exec(`UPDATE email SET received_at = received_at + ${random(9)}`);
      if (random(8) === 0) this.#addFile();
    }
  }

  #addFile(): void {
    const [file, octets] = [randomBytes(16).toString('hex'), randomBytes(70_000)];
    const path = blobPath(join(this.#world.dataDir, 'blobs'), file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, octets);
    this.#writer.prepare('INSERT INTO blob (size, file) VALUES (?, ?)').run(octets.length, file);
  }

  /** Content of the directory that is restored at a time; undefined: of the newest moment. */
  async restored(at?: number, keys: BackupKeys = {}): Promise<Record<string, string>> {
    const directory = join(this.#world.directory, `restored-${readdirSync(this.#world.directory).length}`);
    const repository = await Repository.open(this.target, keys);
    await restoreSnapshot(repository, await findSnapshot(repository, at), directory);
    const content = contentOf(directory);
    rmSync(directory, { recursive: true });
    mkdirSync(directory);
    return content;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#shipper?.[Symbol.dispose]();
    this.#writer.close();
    this.#source[Symbol.dispose]();
    await this.#world[Symbol.asyncDispose]();
  }
}

test.each([
  ['without a passphrase', {}, {}, 1],
  ['with a passphrase', { passphrase: PASSPHRASE }, { passphrase: PASSPHRASE }, 5],
  [
    'for a recipient',
    { recipients: [publicKeyOf(IDENTITY)], indexKey: () => INDEX_KEY },
    { identities: [IDENTITY] },
    5,
  ],
])('each moment that was copied restores to just its commits, %s', async (_, keys, opening, every) => {
  await using world = await CopiedWorld.create();
  const moments: { at: number; content: Record<string, string> }[] = [];
  const logs = new Set<string>();
  for (let round = 0; round < 2; round++) {
    const shipper = await world.snapshot(keys);
    moments.push({ at: shipper.at, content: world.content() });
    for (let step = 0; step < 6; step++) {
      world.change();
      await shipper.store();
      logs.add(world.source.log()!.salts.toString('hex'));
      moments.push({ at: shipper.at, content: world.content() });
      if (step % 3 === 1) continue;
      // Nothing was committed: only the time goes on, and the log may be started anew.
      world.source.checkpoint();
      await shipper.store();
    }
  }
  expect(logs.size).toBeGreaterThan(3);
  for (const { at, content } of moments.filter((_moment, number) => number % every === 0)) {
    expect(await world.restored(at, opening), String(at)).toEqual(content);
  }
  expect(await world.restored(undefined, opening)).toEqual(moments.at(-1)?.content);
});

test('a copy that the target refused, or stored without an answer, is repeated with all that came meanwhile', async () => {
  await using world = await CopiedWorld.create();
  const { target } = world;
  const shipper = await world.snapshot();
  const begun = world.content();
  const beganAt = shipper.at;
  for (const how of ['before', 'after'] as const) {
    world.change();
    const put = target.put.bind(target);
    target.put = async (name, octets) => {
      const isMap = /\/\d{8}-\d{15}$/.test(name);
      if (how === 'after' || !isMap) await put(name, octets);
      if (isMap) throw new Error('503');
    };
    const reached = shipper.at;
    await expect(shipper.store()).rejects.toThrow('503');
    expect(shipper.at).toBe(reached);
    target.put = put;
    world.change();
    await shipper.store();
    expect(await world.restored()).toEqual(world.content());
    expect(await world.restored(shipper.at)).toEqual(world.content());
  }
  expect(await world.restored(beganAt)).toEqual(begun);
});

test('a missing segment ends the log before it, and a changed octet is damage', async () => {
  await using world = await CopiedWorld.create();
  const { target } = world;
  const shipper = await world.snapshot();
  const contents: Record<string, string>[] = [];
  for (let step = 0; step < 4; step++) {
    world.change();
    await shipper.store();
    contents.push(world.content());
  }
  const heads = [...target.objects.keys()].filter((name) => /^log\/.*\/\d{8}-\d{15}$/.test(name)).sort();
  expect(heads).toHaveLength(4);
  const whole = new Map(target.objects);
  for (const name of [...target.objects.keys()].filter((one) => one.startsWith('log/'))) {
    const octets = Buffer.from(whole.get(name)!);
    target.objects.set(name, flipped(octets, 4 * octets.length));
    await expect(world.restored(), name).rejects.toThrow(/is damaged/);
    target.objects.set(name, whole.get(name)!);
  }
  target.objects.delete(heads[2]!);
  expect(await world.restored()).toEqual(contents[1]);
});

test('a log that grows too large, as a reader keeps it from being started anew, ends with a new snapshot, and nothing is missing', async () => {
  await using world = await CopiedWorld.create();
  const limits = { checkpoint: 16 * 1024, most: 256 * 1024 };
  const shipper = await world.snapshot({}, limits);
  const before: { at: number; content: Record<string, string> }[] = [];
  {
    using _reader = await world.source.open();
    const grow = async (): Promise<void> => {
      for (;;) {
        world.change();
        await shipper.store();
        before.push({ at: shipper.at, content: world.content() });
      }
    };
    await expect(grow()).rejects.toThrow(LogLost);
  }
  const next = await world.snapshot({}, limits);
  world.change();
  await next.store();
  expect(await world.restored()).toEqual(world.content());
  const last = before.at(-1)!;
  expect(await world.restored(last.at)).toEqual(last.content);
});

test('a log is removed two days after its snapshot, and that of the newest snapshot stays', async () => {
  await using world = await CopiedWorld.create();
  const repository = async (): Promise<Repository> => Repository.open(world.target, {});
  const logs = (): number =>
    new Set([...world.target.objects.keys()].filter((name) => name.startsWith('log/')).map((name) => name.slice(0, 40)))
      .size;
  for (let day = 0; day < 2; day++) {
    const shipper = await world.snapshot();
    world.change();
    await shipper.store();
    world.pass(30 * HOUR_MS);
  }
  await removeExpired(await repository(), KEEP, world.clock());
  expect(logs()).toBe(1);
  world.pass(240 * HOUR_MS);
  await removeExpired(await repository(), KEEP, world.clock());
  expect(logs()).toBe(1);
  expect(await world.restored()).toEqual(world.content());
  const found = await findSnapshot(await repository());
  expect(momentOf(found)).toBeGreaterThan(found.at);
});

import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { BackupDirectory } from '../../mail/backup/directory-target.ts';
import { type BackupReport, createBackup } from '../../mail/backup/create-backup.ts';
import type { BackupKeys } from '../../mail/backup/backup-keys.ts';
import type { BackupTarget, StoredObject } from '../../mail/backup/backup-target.ts';
import { openKeyFile } from '../../mail/store/blob/key-file.ts';
import { setSetting } from '../../mail/store/setting.ts';
import { putMail } from './put-mail.ts';
import { engines, testAccount } from './store.ts';
import { setQuota } from '../../mail/store/account/account.ts';
import { MailStore } from '../../mail/store/store.ts';
import { quiet } from '../../mail/log.ts';

/** A closed data directory with mail, to be backed up. No connection to its database is open. */
export class BackupWorld implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'backup-'));
  readonly dataDir = join(this.directory, 'data');
  #account = 0;
  #number = 0;

  static async create(messages: number, large = 0): Promise<BackupWorld> {
    const world = new BackupWorld();
    {
      await using store = await world.#open();
      world.#account = (await testAccount(store)).account;
      await store.write(setQuota, { account: world.#account, bytes: null });
      const box = await openKeyFile(join(world.dataDir, 'secret.key'), { create: true });
      if ('problem' in box) throw new Error(box.problem);
      await store.write(setSetting, { name: 'key-check', value: Uint8Array.from(box.checkValue()) });
    }
    await world.add(messages, large);
    return world;
  }

  /** Adds messages of 4 kB, and large ones of 100 kB, and closes the store again. */
  async add(messages: number, large = 0): Promise<void> {
    await using store = await this.#open();
    const put = (octets: number): Promise<string> => {
      const number = ++this.#number;
      const body = Array.from({ length: Math.ceil(octets / 64) }, (_, line) => random(`${number} ${line}`)).join('\n');
      const head = `Message-ID: <${number}@remote.example>\nSubject: message ${number}\nFrom: a${number % 9}@remote.example`;
      return putMail(store, { account: this.#account, receivedAt: number * 1000 }, `${head}\n\n${body}\n`);
    };
    await Promise.all(Array.from({ length: messages }, () => put(4_000)));
    // One after the other: their files may be written in any order, and UIDs follow that.
    for (let left = large; left > 0; left--) await put(100_000);
  }

  #open(): Promise<MailStore> {
    return MailStore.open({
      dataDir: this.dataDir,
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

  /** A new directory for backups. */
  target(name = 'target'): BackupDirectory {
    return new BackupDirectory(join(this.directory, name));
  }

  /** `keys`: others than a passphrase. */
  backup(
    target: BackupTarget,
    passphrase?: string,
    clock: () => number = Date.now,
    keys: BackupKeys = {},
  ): Promise<BackupReport> {
    const { dataDir } = this;
    const keyFile = join(dataDir, 'secret.key');
    return createBackup({
      dataDir,
      keyFile,
      target,
      keys: { passphrase, ...keys },
      rate: 0,
      version: 'test',
      clock,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    rmSync(this.directory, { recursive: true, force: true });
    await Promise.resolve();
  }
}

function random(seed: string): string {
  return createHash('sha256').update(seed).digest('hex');
}

/** Everything that a data directory remembers: SHA-256 of each table's rows, and of each message file and key. */
export function contentOf(dataDir: string): Record<string, string> {
  const db = new DatabaseSync(join(dataDir, 'mailstead.db'));
  const content: Record<string, string> = {};
  for (const { name } of db
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .all()) {
    const rows = db.prepare(`SELECT * FROM "${String(name)}"`);
    rows.setReadBigInts(true);
    const hash = createHash('sha256');
    for (const row of rows.all()) {
      for (const value of Object.values(row as object))
        hash.update(value instanceof Uint8Array ? value : `${String(value)}\0`);
    }
    content[String(name)] = hash.digest('hex');
  }
  db.close();
  for (const file of readdirSync(join(dataDir, 'blobs'), { recursive: true, encoding: 'utf8' })) {
    if (/\/[0-9a-f]{32}$/.test(file))
      content[file] = createHash('sha256')
        .update(readFileSync(join(dataDir, 'blobs', file)))
        .digest('hex');
  }
  return content;
}

/** A target in memory. `before` is called before each request and may throw. */
export class MemoryTarget implements BackupTarget {
  readonly label = 'memory';
  readonly objects = new Map<string, Buffer>();
  before: (request: string) => void = () => {};
  putOctets = 0;

  async put(name: string, octets: Buffer): Promise<void> {
    await Promise.resolve();
    this.before(`put ${name}`);
    this.putOctets += octets.length;
    this.objects.set(name, Buffer.from(octets));
  }

  async get(name: string): Promise<Buffer | undefined> {
    await Promise.resolve();
    this.before(`get ${name}`);
    return this.objects.get(name);
  }

  async list(prefix: string): Promise<StoredObject[]> {
    await Promise.resolve();
    this.before(`list ${prefix}`);
    return [...this.objects]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, { length: size }]) => ({ name, size }));
  }

  async remove(name: string): Promise<void> {
    await Promise.resolve();
    this.before(`remove ${name}`);
    this.objects.delete(name);
  }

  commit(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

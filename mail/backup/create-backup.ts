import { hash, randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { FileLocator } from '../store/bucket/file-locator.ts';
import type { MessageBucket } from '../store/bucket/message-bucket.ts';
import { BackupProblem } from './backup-error.ts';
import type { BackupKeys } from './backup-keys.ts';
import type { BackupTarget } from './backup-target.ts';
import { lockForBackup } from './backup-lock.ts';
import { type DatabaseSnapshot, SnapshotSource } from './database-snapshot.ts';
import { BackupFile } from './file-target.ts';
import { FileCopier, messageFiles } from './message-files.ts';
import { Pace } from './pace.ts';
import { PackWriter } from './pack-writer.ts';
import { PageSums } from './page-sums.ts';
import { Repository, type SnapshotManifest } from './repository.ts';
import { PageRuns, StoredPages, withoutUnusedPacks } from './snapshot-layout.ts';
import type { FileEntry, PackRange, PageRun, SnapshotMap } from './snapshot-map.ts';

/** Snapshots that are tried until all files of one are there: files are removed while mail is purged. */
const ATTEMPTS = 5;

export interface BackupOptions {
  dataDir: string;
  keyFile: string;
  target: BackupTarget;
  /** The bucket that has large messages of the data directory. */
  bucket?: MessageBucket | undefined;
  keys: BackupKeys;
  /** Mebibytes that are read in a second; 0: not bounded. */
  rate: number;
  version: string;
  clock: () => number;
  /** For what follows the snapshot. */
  held?: HeldSnapshot | undefined;
}

/** Opens the snapshots of a backup, and takes the one that was stored, which it closes later. */
export interface HeldSnapshot {
  source: SnapshotSource;
  keep: (snapshot: DatabaseSnapshot, repository: Repository) => void;
}

export interface BackupReport {
  snapshot: SnapshotManifest;
  /** Names of files of messages that are missing or cut off in the data directory. */
  damaged: string[];
}

/**
 * Backs up a data directory, also while a server uses it. Only what the last snapshot does not have is stored. The
 * manifest is written after everything else was flushed, and checked to be there: without it there is no snapshot.
 */
export async function createBackup(options: BackupOptions): Promise<BackupReport> {
  using _lock = lockForBackup(options.dataDir);
  using own = new SnapshotSource(join(options.dataDir, 'mailstead.db'));
  const source = options.held?.source ?? own;
  const repository = await openRepository(options, await identityOf(source));
  const base = options.target instanceof BackupFile ? undefined : await newestMap(repository);
  const work = new BackupRun(options, repository, base, source);
  try {
    return await work.run();
  } catch (error) {
    await work.discard();
    throw error;
  }
}

async function openRepository(options: BackupOptions, database: string): Promise<Repository> {
  const { target, keys, clock } = options;
  const given = { database, keys, now: clock() };
  return target instanceof BackupFile ? Repository.create(target, given) : Repository.openOrCreate(target, given);
}

/** Identity of a database: made from the random check value of its key. */
async function identityOf(source: SnapshotSource): Promise<string> {
  using snapshot = await source.open();
  const [row] = snapshot.all<{ value: Uint8Array }>(`SELECT value FROM setting WHERE name = 'key-check'`);
  if (row === undefined) throw new BackupProblem('The server was never started on this directory. Start it first.');
  return hash('sha256', row.value, 'hex').slice(0, 32);
}

/** Map of the newest snapshot that can be read. A damaged one is no reason to make no backup. */
async function newestMap(repository: Repository): Promise<SnapshotMap | undefined> {
  for (const id of (await repository.snapshotIds()).reverse()) {
    try {
      const map = await repository.map(await repository.manifest(id));
      if ((await repository.missing(map.packs)).length === 0) return map;
    } catch (error) {
      if (!(error instanceof BackupProblem)) throw error;
    }
  }
  return undefined;
}

/** Hashes of the pages of a snapshot. Pages whose hashes cannot be read are stored again. */
async function sumsOf(repository: Repository, base: SnapshotMap): Promise<PageSums> {
  const sums = new PageSums(base.pageSize);
  const ids = new Set(base.packs.map(({ name }) => name.slice('packs/'.length, name.lastIndexOf('-'))));
  for (const id of ids) {
    try {
      sums.read(await repository.get(`sums/${id}`));
    } catch (error) {
      if (!(error instanceof BackupProblem)) throw error;
    }
  }
  return sums;
}

class BackupRun {
  readonly #options: BackupOptions;
  readonly #repository: Repository;
  readonly #base: SnapshotMap | undefined;
  readonly #source: SnapshotSource;
  readonly #map: Pick<SnapshotMap, 'packs'>;
  readonly #packs: PackWriter;
  readonly #pace: Pace;
  readonly #files: FileCopier;
  readonly #id: string;
  readonly #missing = new Set<string>();

  constructor(options: BackupOptions, repository: Repository, base: SnapshotMap | undefined, source: SnapshotSource) {
    this.#options = options;
    this.#repository = repository;
    this.#base = base;
    this.#source = source;
    this.#id =
      `${new Date(options.clock()).toISOString().replace(/[-:.]/g, '')}-${randomBytes(4).toString('hex')}`.toLowerCase();
    this.#map = { packs: [...(base?.packs ?? [])] };
    this.#packs = new PackWriter(repository, this.#map.packs, (number) => `packs/${this.#id}-${number}`);
    this.#pace = new Pace(options.rate);
    this.#files = new FileCopier(new FileLocator(options.dataDir, options.bucket), this.#packs, this.#pace);
    for (const file of base?.files ?? []) this.#files.stored.set(file.name, file);
  }

  async run(): Promise<BackupReport> {
    await this.#copyAhead();
    for (let attempt = 1; ; attempt++) {
      // Before the snapshot: all that was committed until then is in it.
      const at = this.#options.clock();
      using opened = new DisposableStack();
      const snapshot = opened.use(await this.#source.open());
      const names = await this.#copyFiles(snapshot, attempt === ATTEMPTS);
      if (names === undefined) continue;
      const report = await this.#finish(snapshot, at, names);
      if (this.#options.held !== undefined) {
        opened.move();
        this.#options.held.keep(snapshot, this.#repository);
      }
      return report;
    }
  }

  /** Removes what a failed backup stored, its manifest first: a manifest whose packs are gone would look like a backup. */
  async discard(): Promise<void> {
    try {
      for (const name of [
        ...['snapshots', 'maps', 'sums'].map((kind) => `${kind}/${this.#id}`),
        ...this.#packs.names,
      ]) {
        await this.#repository.target.remove(name);
      }
    } catch {
      // The target does not answer: the next removal of old snapshots deletes what no manifest names.
    }
  }

  /** Copies the large messages before the snapshot, which then lasts shorter: the log grows while it is open. */
  async #copyAhead(): Promise<void> {
    const files = await this.#listFiles();
    for (const file of files) await this.#files.copy(file);
  }

  async #listFiles(): Promise<{ name: string; size: number }[]> {
    using snapshot = await this.#source.open();
    return [...messageFiles(snapshot)].filter(({ name }) => !this.#files.stored.has(name));
  }

  /**
   * Copies the files of the snapshot that are not stored yet, and returns the names of all. A missing file may have been
   * purged after the snapshot: undefined, unless a snapshot before this one missed it too.
   */
  async #copyFiles(snapshot: DatabaseSnapshot, last: boolean): Promise<string[] | undefined> {
    const names: string[] = [];
    for (const file of messageFiles(snapshot)) {
      const copied = await this.#files.copy(file);
      if (copied) names.push(file.name);
      else if (!last && !this.#missing.has(file.name)) {
        this.#missing.add(file.name);
        return undefined;
      } else this.#missing.add(file.name);
    }
    return names;
  }

  async #finish(snapshot: DatabaseSnapshot, at: number, names: readonly string[]): Promise<BackupReport> {
    const { runs, sums } = await this.#copyPages(snapshot);
    const extras = await this.#copyKeys();
    await this.#packs.flush();
    const files = names.flatMap((name) => this.#files.stored.get(name) ?? []);
    const { pageSize, pages } = snapshot;
    const map = withoutUnusedPacks({ pageSize, pages, packs: this.#map.packs, runs, files, extras });
    const stored = await this.#repository.putSnapshot(this.#manifest(snapshot, at, map), map, sums);
    return { snapshot: stored, damaged: [...this.#missing].filter((name) => !names.includes(name)) };
  }

  async #copyPages(snapshot: DatabaseSnapshot): Promise<{ runs: PageRun[]; sums: PageSums }> {
    const { pageSize, pages } = snapshot;
    const base = this.#base?.pageSize === pageSize ? this.#base : undefined;
    const before = base && new StoredPages(base, await sumsOf(this.#repository, base));
    const layout = new PageRuns(pageSize);
    const sums = new PageSums(pageSize);
    const page = Buffer.allocUnsafe(pageSize);
    for (let number = 0; number < pages; number++) {
      snapshot.read(number, page);
      const sum = hash('sha256', page, 'buffer');
      const stored = before?.find(number, sum) ?? (await this.#addPage(page, sum, sums));
      layout.add(number, stored.pack, stored.offset);
      await this.#pace.took(pageSize);
    }
    return { runs: layout.runs, sums };
  }

  async #addPage(page: Buffer, sum: Buffer, sums: PageSums): Promise<PackRange> {
    const range = await this.#packs.add(page);
    sums.add(this.#packs.current, range.offset, sum);
    return range;
  }

  /** Copies the key and the certificates, if the backup is encrypted. */
  async #copyKeys(): Promise<FileEntry[]> {
    if (!this.#repository.envelope.encrypted) return [];
    const { dataDir, keyFile } = this.#options;
    const key = await this.#files.copyFile('secret.key', keyFile);
    if (key === undefined) throw new BackupProblem(`The key file ${keyFile} is missing. Set MAILSTEAD_KEY_FILE.`);
    const files: FileEntry[] = [key];
    for (const name of certificatesIn(join(dataDir, 'tls'))) {
      const file = await this.#files.copyFile(`tls/${name}`, join(dataDir, 'tls', name));
      if (file !== undefined) files.push(file);
    }
    return files;
  }

  #manifest(snapshot: DatabaseSnapshot, at: number, map: SnapshotMap): Omit<SnapshotManifest, 'map'> {
    const count = (sql: string): number => snapshot.all<{ n: number }>(sql)[0]?.n ?? 0;
    const octets = map.files.reduce((sum, { size }) => sum + size, snapshot.pages * snapshot.pageSize);
    return {
      id: this.#id,
      at,
      version: this.#options.version,
      migrations: snapshot
        .all<{ name: string }>(`SELECT ledger || ' ' || number AS name FROM migration ORDER BY ledger, number`)
        .map(({ name }) => name),
      messages: count('SELECT count(*) AS n FROM email'),
      mailboxes: count('SELECT count(*) AS n FROM account'),
      size: octets,
      added: this.#packs.stored,
      keys: map.extras.length > 0,
    };
  }
}

/** Regular files of the directory; none if it does not exist. */
function certificatesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile() && /^[A-Za-z0-9._-]{1,100}$/.test(entry.name))
      .map((entry) => entry.name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

import { hash } from 'node:crypto';
import { BackupProblem } from './backup-error.ts';
import type { BackupKeys } from './backup-keys.ts';
import type { BackupTarget, StoredObject } from './backup-target.ts';
import { Envelope, type ObjectKeys } from './envelope.ts';
import {
  createHead,
  openHead,
  openHeadForBackup,
  openHeadForIndex,
  readHead,
  writeHead,
  type RepositoryHead,
} from './repository-head.ts';
import type { PageSums } from './page-sums.ts';
import { readMap, type SnapshotMap, writeMap } from './snapshot-map.ts';

const HEAD = 'mailstead-backup';

/** A snapshot, as `backup list` shows it. Written last: it names only what was flushed before. */
export interface SnapshotManifest {
  id: string;
  /** Time of the snapshot, ms UTC: all that was committed before is in it, and nothing later. */
  at: number;
  /** Version of Mailstead. */
  version: string;
  /** Applied migrations, such as `mail 4`. */
  migrations: string[];
  messages: number;
  mailboxes: number;
  /** Octets of the restored directory. */
  size: number;
  /** Octets that this backup stored; the rest was there. */
  added: number;
  /** True: the keys are in it. Only encrypted backups have them. */
  keys: boolean;
  map: { size: number; sha256: string };
}

/** The backups of one database in one target. */
export class Repository {
  readonly target: BackupTarget;
  readonly envelope: Envelope;
  readonly head: RepositoryHead;

  private constructor(target: BackupTarget, head: RepositoryHead, keys: ObjectKeys | undefined) {
    this.target = target;
    this.head = head;
    this.envelope = new Envelope(keys);
  }

  /** Opens what is there, for restores. Throws {@link BackupProblem} if there is none, or without its key. */
  static async open(target: BackupTarget, keys: BackupKeys): Promise<Repository> {
    const head = await requireHead(target);
    return new Repository(target, head, await openHead(head, keys));
  }

  /** Opens what is there, for listings and removals: packs of a repository with recipients cannot be read. */
  static async openIndex(target: BackupTarget, keys: BackupKeys): Promise<Repository> {
    const head = await requireHead(target);
    return new Repository(target, head, await openHeadForIndex(head, keys));
  }

  /** Opens what is there for a further backup of this database, or begins a new repository. */
  static async openOrCreate(
    target: BackupTarget,
    { database, keys, now }: { database: string; keys: BackupKeys; now: number },
  ): Promise<Repository> {
    const found = await findHead(target);
    if (found === undefined) return Repository.create(target, { database, keys, now });
    if (found.database !== database) {
      throw new BackupProblem(
        `${target.label} has the backups of another database. Use a target of its own for each server.`,
      );
    }
    return new Repository(target, found, await openHeadForBackup(found, keys, target.label));
  }

  static async create(
    target: BackupTarget,
    { database, keys, now }: { database: string; keys: BackupKeys; now: number },
  ): Promise<Repository> {
    const created = await createHead(database, keys, now);
    await target.put(HEAD, writeHead(created.head));
    return new Repository(target, created.head, created.keys);
  }

  async put(name: string, content: Buffer): Promise<number> {
    return this.#store(name, this.envelope.seal(name, content));
  }

  /** Stores a pack, which only the private key of a repository with recipients opens. */
  async putPack(name: string, content: Buffer): Promise<number> {
    return this.#store(name, this.envelope.sealPack(name, content));
  }

  async #store(name: string, object: Buffer): Promise<number> {
    await this.target.put(name, object);
    return object.length;
  }

  /** Content of an object. Throws {@link BackupProblem} if it is missing or damaged. */
  async get(name: string): Promise<Buffer> {
    const object = await this.target.get(name);
    if (object === undefined) {
      throw new BackupProblem(`The object ${name} of the backup is missing. Use another snapshot or another copy.`);
    }
    return this.envelope.open(name, object);
  }

  /**
   * Stores map and hashes of a snapshot, checks that the target has them and the packs, and writes the manifest last.
   * Reads that again too: a storage may acknowledge what it loses.
   */
  async putSnapshot(
    manifest: Omit<SnapshotManifest, 'map'>,
    map: SnapshotMap,
    sums: PageSums,
  ): Promise<SnapshotManifest> {
    const octets = writeMap(map);
    const [mapName, sumsName] = [`maps/${manifest.id}`, `sums/${manifest.id}`];
    const stored = await this.put(mapName, octets);
    const sumsStored = await this.put(sumsName, sums.write());
    await this.requireObjects([...map.packs, { name: mapName, size: stored }, { name: sumsName, size: sumsStored }]);
    const complete: SnapshotManifest = {
      ...manifest,
      added: manifest.added + stored + sumsStored,
      map: { size: stored, sha256: hash('sha256', octets, 'hex') },
    };
    await this.put(`snapshots/${manifest.id}`, Buffer.from(JSON.stringify(complete)));
    if ((await this.target.get(`snapshots/${manifest.id}`)) === undefined) throw this.#lost(`snapshots/${manifest.id}`);
    if ((await this.target.get(HEAD)) === undefined) throw this.#lost(HEAD);
    await this.target.commit();
    return complete;
  }

  /** Throws {@link BackupProblem} if the target does not have an object, or not in its size. */
  async requireObjects(objects: readonly StoredObject[]): Promise<void> {
    const [lost] = await this.missing(objects);
    if (lost !== undefined) throw this.#lost(lost);
  }

  /** Names of objects that the target does not have, or not in their size. */
  async missing(objects: readonly StoredObject[]): Promise<string[]> {
    const found = new Map<string, number>();
    for (const prefix of ['packs/', 'maps/', 'sums/']) {
      if (!objects.some(({ name }) => name.startsWith(prefix))) continue;
      for (const { name, size } of await this.target.list(prefix)) found.set(name, size);
    }
    return objects.filter(({ name, size }) => found.get(name) !== size).map(({ name }) => name);
  }

  #lost(name: string): BackupProblem {
    return new BackupProblem(
      `${this.target.label} does not have ${name}, which it acknowledged. Check the storage, then run the backup again.`,
    );
  }

  /** Names of the snapshots, oldest first. */
  async snapshotIds(): Promise<string[]> {
    const found = await this.target.list('snapshots/');
    return found.map(({ name }) => name.slice('snapshots/'.length)).sort();
  }

  async manifest(id: string): Promise<SnapshotManifest> {
    return JSON.parse((await this.get(`snapshots/${id}`)).toString('utf8')) as SnapshotManifest;
  }

  /** All manifests, oldest first. Throws {@link BackupProblem} if one is damaged. */
  async manifests(): Promise<SnapshotManifest[]> {
    const all: SnapshotManifest[] = [];
    for (const id of await this.snapshotIds()) all.push(await this.manifest(id));
    return all;
  }

  /** Manifests that can be read, oldest first, and the ids of the others. */
  async readableManifests(): Promise<{ manifests: SnapshotManifest[]; damaged: string[] }> {
    const manifests: SnapshotManifest[] = [];
    const damaged: string[] = [];
    for (const id of await this.snapshotIds()) {
      try {
        manifests.push(await this.manifest(id));
      } catch (error) {
        if (!(error instanceof BackupProblem)) throw error;
        damaged.push(id);
      }
    }
    return { manifests, damaged };
  }

  async map({ id, map }: SnapshotManifest): Promise<SnapshotMap> {
    const octets = await this.get(`maps/${id}`);
    if (hash('sha256', octets, 'hex') !== map.sha256) {
      throw new BackupProblem(`The snapshot ${id} does not match its map. Use another snapshot or another copy.`);
    }
    return readMap(octets);
  }
}

async function requireHead(target: BackupTarget): Promise<RepositoryHead> {
  const found = await findHead(target);
  if (found !== undefined) return found;
  throw new BackupProblem(`There is no backup in ${target.label}. Make one with mailstead backup, or check the name.`);
}

async function findHead(target: BackupTarget): Promise<RepositoryHead | undefined> {
  const octets = await target.get(HEAD);
  if (octets !== undefined) return readHead(octets, target.label);
  const [other] = await target.list('snapshots/');
  if (other === undefined) return undefined;
  throw new BackupProblem(`${target.label} has snapshots, but its first object ${HEAD} is missing. Use another copy.`);
}

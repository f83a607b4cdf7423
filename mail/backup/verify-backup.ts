import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { checkStore, isSound, type StoreCheck } from '../store/check/check-store.ts';
import { BackupProblem, reasonOf } from './backup-error.ts';
import type { Repository, SnapshotManifest } from './repository.ts';
import { segmentsOf } from './log-segments.ts';
import { type RestorePoint, restoreSnapshot } from './restore-snapshot.ts';
import { readMap } from './snapshot-map.ts';

export interface BackupVerification {
  ok: boolean;
  /** The snapshot that was restored, with its log. */
  snapshot: SnapshotManifest;
  /** Segments of its log that were restored. */
  segments: number;
  /** Objects that were read: those of all snapshots. */
  objects: number;
  /** Undefined: it could not be restored. */
  check: StoreCheck | undefined;
  /** One sentence for each finding. */
  problems: string[];
}

/**
 * Restores a snapshot into a scratch directory and checks it: integrity of the database, each message against its hash,
 * counts. Also reads every object that any snapshot needs.
 */
export async function verifyBackup(
  repository: Repository,
  { segments, ...snapshot }: RestorePoint,
  scratch: string,
): Promise<BackupVerification> {
  const { objects, damaged } = await readEveryObject(repository);
  const problems = [...damaged].map(([id, problem]) => `Snapshot ${id}: ${problem}`);
  // Without its objects it cannot be restored.
  const check = damaged.has(snapshot.id)
    ? undefined
    : await checkRestored(repository, { ...snapshot, segments }, scratch);
  if (check !== undefined) problems.push(...problemsOf(check, { ...snapshot, segments }));
  return { ok: problems.length === 0, snapshot, segments: segments.length, objects, check, problems };
}

async function checkRestored(repository: Repository, snapshot: RestorePoint, scratch: string): Promise<StoreCheck> {
  const parent = await mkdtemp(join(scratch, 'mailstead-verify-'));
  try {
    const directory = join(parent, 'data');
    await restoreSnapshot(repository, snapshot, directory);
    return await checkStore(directory);
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
}

/** Reads the objects of all snapshots, each once. `damaged`: the first finding about each snapshot, by its id. */
async function readEveryObject(repository: Repository): Promise<{ objects: number; damaged: Map<string, string> }> {
  const read = new Map<string, string | undefined>();
  const damaged = new Map<string, string>();
  const problemOf = async (name: string): Promise<string | undefined> => {
    if (!read.has(name)) read.set(name, await readProblem(() => repository.get(name)));
    return read.get(name);
  };
  for (const id of await repository.snapshotIds()) {
    const found = await namesOf(repository, id);
    const names = typeof found === 'string' ? [] : found;
    let problem = typeof found === 'string' ? found : undefined;
    for (const name of names) problem ??= await problemOf(name);
    if (problem !== undefined) damaged.set(id, problem);
  }
  return { objects: read.size, damaged };
}

/** Names of all objects of a snapshot; a sentence if they cannot be read. */
async function namesOf(repository: Repository, id: string): Promise<string[] | string> {
  try {
    const { packs } = await repository.map(await repository.manifest(id));
    const names = [`snapshots/${id}`, `maps/${id}`, `sums/${id}`, ...packs.map(({ name }) => name)];
    for (const { name } of await segmentsOf(repository, id)) {
      names.push(name, ...readMap(await repository.get(name)).packs.map((pack) => pack.name));
    }
    return names;
  } catch (error) {
    if (!(error instanceof BackupProblem)) throw error;
    return reasonOf(error);
  }
}

async function readProblem(read: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await read();
    return undefined;
  } catch (error) {
    if (!(error instanceof BackupProblem)) throw error;
    return reasonOf(error);
  }
}

function problemsOf(check: StoreCheck, snapshot: RestorePoint): string[] {
  const { damaged, database, inconsistencies, messages } = check;
  // A log adds and removes messages, and its segments do not count them.
  const isComplete = snapshot.segments.length > 0 || messages === snapshot.messages;
  if (isSound(check) && isComplete) return [];
  return [
    ...(isComplete ? [] : [`It has ${messages} messages instead of ${snapshot.messages}.`]),
    ...(damaged === 0 ? [] : [`${damaged} messages are damaged.`]),
    ...database.map((text) => `Database: ${text}.`),
    ...inconsistencies.map((text) => `${text}.`),
  ];
}

import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, type FileHandle, mkdir, open, readdir, rename, rm, rmdir, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { blobPath } from '../store/blob/blob.ts';
import { BackupProblem, isDiskFull } from './backup-error.ts';
import { flushDirectory, makeDirectory } from './flush-file.ts';
import { LOG_KEPT_MS, type LogSegment, segmentsOf } from './log-segments.ts';
import type { Repository, SnapshotManifest } from './repository.ts';
import { type FileEntry, type PageRun, readMap, type SnapshotMap } from './snapshot-map.ts';

/** The part of a file that one pack has. */
interface FilePart {
  file: FileEntry;
  path: string;
  /** Position in the file. */
  at: number;
  offset: number;
  length: number;
}

/** Content of one pack that belongs to a snapshot. */
interface PackContent {
  runs: PageRun[];
  parts: FilePart[];
}

/** A state that can be restored: a snapshot, and the segments of its log up to a moment. */
export interface RestorePoint extends SnapshotManifest {
  segments: readonly LogSegment[];
}

/** Time of a state that can be restored: all that was committed before is in it, and nothing later. */
export const momentOf = ({ at, segments }: RestorePoint): number => segments.at(-1)?.at ?? at;

/** Newest state, or the newest one up to a time, or the snapshot with this id. */
export async function findSnapshot(repository: Repository, at?: number | string): Promise<RestorePoint> {
  const all = (await repository.readableManifests()).manifests.sort((a, b) => a.at - b.at);
  const fits = all.filter((one) => at === undefined || (typeof at === 'number' ? one.at <= at : one.id === at));
  const found = fits.at(-1);
  if (found !== undefined) {
    return typeof at === 'string' ? { ...found, segments: [] } : latestPoint(repository, found, fits, at);
  }
  const { label } = repository.target;
  if (all.length === 0)
    throw new BackupProblem(`There is no complete backup in ${label}. Make one with mailstead backup.`);
  throw new BackupProblem(`No snapshot in ${label} is that old. List them with mailstead backup list.`);
}

/** The newest snapshot need not have the newest state: another one may have a log that reaches further. */
async function latestPoint(
  repository: Repository,
  newest: SnapshotManifest,
  snapshots: readonly SnapshotManifest[],
  until?: number,
): Promise<RestorePoint> {
  let best: RestorePoint = { ...newest, segments: [] };
  for (const one of snapshots.filter(({ at }) => at >= newest.at - LOG_KEPT_MS)) {
    const point = { ...one, segments: await segmentsOf(repository, one.id, until) };
    if (momentOf(point) > momentOf(best)) best = point;
  }
  return best;
}

interface RestoreOptions {
  /** Files of large messages to restore; all by default. */
  wanted?: (file: FileEntry) => boolean;
  /** Changes the database before the directory gets its name. */
  prepare?: (database: string) => void;
}

/**
 * Restores a snapshot as a data directory that does not exist yet. It gets its name when all of it is written and
 * flushed: whatever ends before leaves a directory with another name.
 */
export async function restoreSnapshot(
  repository: Repository,
  manifest: SnapshotManifest & Partial<RestorePoint>,
  directory: string,
  { wanted = () => true, prepare = () => {} }: RestoreOptions = {},
): Promise<SnapshotMap> {
  await requireEmpty(directory);
  const map = await repository.map(manifest);
  const draft = `${directory}.restoring-${randomBytes(4).toString('hex')}`;
  await makeDirectory(draft);
  try {
    await requireSpace(draft, sizeOf(map, wanted));
    await writeSnapshot(repository, [map, ...(await mapsOf(repository, manifest.segments))], draft, wanted);
    prepare(join(draft, 'mailstead.db'));
    await flushDirectory(draft);
    await rmdir(directory).catch(ignoreMissing);
    await rename(draft, directory);
    await flushDirectory(dirname(directory));
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!isDiskFull(error)) throw error;
    throw new BackupProblem(`The disk of ${directory} is full. Free space, or restore to another disk.`, {
      cause: error,
    });
  }
  return map;
}

async function requireEmpty(directory: string): Promise<void> {
  const entries = await readdir(directory).catch(ignoreMissing);
  if (entries === undefined || entries.length === 0) return;
  throw new BackupProblem(`${directory} is not empty. Restore to a directory that does not exist yet.`);
}

/** Octets of the database and of the files that are wanted. */
function sizeOf({ pages, pageSize, files }: SnapshotMap, wanted: (file: FileEntry) => boolean): number {
  return files.filter(wanted).reduce((sum, { size }) => sum + size, pages * pageSize);
}

async function requireSpace(directory: string, size: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize >= size) return;
  const [free, needed] = [bavail * bsize, size].map((octets) => `${Math.ceil(octets / 1_048_576)} MiB`);
  throw new BackupProblem(
    `The snapshot needs ${needed}, and the disk of ${directory} has ${free} free. Free space first.`,
  );
}

async function mapsOf(repository: Repository, segments: readonly LogSegment[] = []): Promise<SnapshotMap[]> {
  const maps: SnapshotMap[] = [];
  for (const { name } of segments) maps.push(readMap(await repository.get(name)));
  return maps;
}

/** Writes a snapshot, and each segment over the state before it. */
async function writeSnapshot(
  repository: Repository,
  maps: readonly SnapshotMap[],
  directory: string,
  wanted: (file: FileEntry) => boolean,
): Promise<void> {
  const blobs = join(directory, 'blobs');
  for (let i = 0; i < 256; i++) {
    await mkdir(join(blobs, i.toString(16).padStart(2, '0')), { recursive: true, mode: 0o700 });
  }
  await using database = await open(join(directory, 'mailstead.db'), 'wx', 0o600);
  for (const map of maps) {
    const files = map.files.filter(wanted).map((file) => ({ file, path: blobPath(blobs, file.name) }));
    const extras = map.extras.map((file) => ({ file, path: join(directory, file.name) }));
    await writeMapContent(repository, map, [...files, ...extras], database);
  }
  await database.datasync();
  await flushTree(directory);
}

async function writeMapContent(
  repository: Repository,
  map: SnapshotMap,
  files: readonly { file: FileEntry; path: string }[],
  database: FileHandle,
): Promise<void> {
  for (const { path } of files) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const contents = contentsOf(map, files);
  for (const [number, pack] of map.packs.entries()) {
    const content = contents[number];
    if (content !== undefined) await writePack(await repository.get(pack.name), content, map.pageSize, database);
  }
  await database.truncate(map.pages * map.pageSize);
  for (const { file, path } of files) await finishFile(file, path);
}

/** Wanted content of each pack, by its number; undefined: none. */
function contentsOf(
  map: SnapshotMap,
  files: readonly { file: FileEntry; path: string }[],
): (PackContent | undefined)[] {
  const contents: (PackContent | undefined)[] = map.packs.map(() => undefined);
  const content = (pack: number): PackContent => (contents[pack] ??= { runs: [], parts: [] });
  for (const run of map.runs) content(run.pack).runs.push(run);
  for (const { file, path } of files) {
    let at = 0;
    for (const { pack, offset, length } of file.ranges) {
      content(pack).parts.push({ file, path, at, offset, length });
      at += length;
    }
  }
  return contents;
}

async function writePack(octets: Buffer, { runs, parts }: PackContent, pageSize: number, database: FileHandle) {
  for (const { page, count, offset } of runs) {
    await writeAll(database, octets.subarray(offset, offset + count * pageSize), page * pageSize);
  }
  for (const { path, at, offset, length } of parts) {
    await using file = await open(path, at === 0 ? 'w' : 'r+', 0o600);
    await writeAll(file, octets.subarray(offset, offset + length), at);
  }
}

/** Checks the octets of a restored file and flushes it. */
async function finishFile({ name, size, hash: expected }: FileEntry, path: string): Promise<void> {
  await using file = await open(path, size === 0 ? 'w' : 'r+', 0o600);
  const digest = createHash('sha256');
  await pipeline(createReadStream(path), digest);
  if (!digest.digest().equals(expected)) {
    throw new BackupProblem(`The file ${name} is damaged in the backup. Use another snapshot.`);
  }
  await file.datasync();
}

/** Flushes every directory below this one, and this one. */
async function flushTree(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) await flushTree(join(directory, entry.name));
  }
  await chmod(directory, 0o700);
  await flushDirectory(directory);
}

async function writeAll(file: FileHandle, octets: Buffer, at: number): Promise<void> {
  for (let done = 0; done < octets.length;) {
    const { bytesWritten } = await file.write(octets, done, octets.length - done, at + done);
    done += bytesWritten;
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

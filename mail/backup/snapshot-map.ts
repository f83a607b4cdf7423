import { RecordReader, RecordWriter } from './record-codec.ts';

const FILE_HASH_OCTETS = 32;

/** A stored pack. */
export interface PackEntry {
  name: string;
  /** Octets as stored. */
  size: number;
}

/** A range of the content of a pack. */
export interface PackRange {
  pack: number;
  offset: number;
  length: number;
}

/** Consecutive pages of the database that are consecutive in a pack. Pages count from 0. */
export interface PageRun {
  page: number;
  count: number;
  pack: number;
  offset: number;
}

/** A file of the snapshot: a large message, or a key. */
export interface FileEntry {
  name: string;
  size: number;
  /** SHA-256. */
  hash: Buffer;
  ranges: PackRange[];
}

/** Where the octets of a snapshot are stored. */
export interface SnapshotMap {
  pageSize: number;
  /** Number of pages. */
  pages: number;
  packs: PackEntry[];
  runs: PageRun[];
  /** Large messages, by the names of their files. */
  files: FileEntry[];
  /** Key file and certificates, by their paths in the data directory. */
  extras: FileEntry[];
}

export function writeMap(map: SnapshotMap): Buffer {
  const out = new RecordWriter();
  out.number(map.pageSize);
  out.number(map.pages);
  out.number(map.packs.length);
  for (const { name, size } of map.packs) {
    out.text(name);
    out.number(size);
  }
  out.number(map.runs.length);
  for (const { page, count, pack, offset } of map.runs) for (const one of [page, count, pack, offset]) out.number(one);
  for (const files of [map.files, map.extras]) writeFiles(out, files);
  return out.end();
}

function writeFiles(out: RecordWriter, files: readonly FileEntry[]): void {
  out.number(files.length);
  for (const { name, size, hash, ranges } of files) {
    out.text(name);
    out.number(size);
    out.octets(hash);
    out.number(ranges.length);
    for (const { pack, offset, length } of ranges) for (const one of [pack, offset, length]) out.number(one);
  }
}

/** Reads a map. Its octets are authenticated, so their form is right. */
export function readMap(octets: Buffer): SnapshotMap {
  const from = new RecordReader(octets);
  const [pageSize, pages] = [from.number(), from.number()];
  const packs = times(from.number(), () => ({ name: from.text(), size: from.number() }));
  const runs = times(from.number(), () => {
    const [page, count, pack, offset] = [from.number(), from.number(), from.number(), from.number()];
    return { page, count, pack, offset };
  });
  return { pageSize, pages, packs, runs, files: readFiles(from), extras: readFiles(from) };
}

function readFiles(from: RecordReader): FileEntry[] {
  return times(from.number(), () => {
    const [name, size, hash] = [from.text(), from.number(), from.octets(FILE_HASH_OCTETS)];
    const ranges = times(from.number(), () => {
      const [pack, offset, length] = [from.number(), from.number(), from.number()];
      return { pack, offset, length };
    });
    return { name, size, hash, ranges };
  });
}

function times<T>(count: number, read: () => T): T[] {
  const all: T[] = [];
  for (let i = 0; i < count; i++) all.push(read());
  return all;
}

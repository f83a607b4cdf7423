import { readdirSync, readFileSync, statSync, writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const HEAD_OCTETS = 40;
const SECTOR = 512;

/** One call that changed a file or a directory, or flushed one. */
export interface DiskRecord {
  kind: 'create' | 'write' | 'truncate' | 'flush' | 'flush-directory' | 'unlink' | 'mkdir' | 'rename' | 'link';
  inode: number;
  /** Offset of a write; the size of a truncation or of a flushed file. */
  offset: number;
  /** Below the root; empty: the root. */
  path: string;
  /** Octets of a write; the other path of a rename or link. */
  data: Buffer;
  /** Octets of the log up to the end of this record. */
  end: number;
}

const KINDS: Readonly<Record<string, DiskRecord['kind']>> = {
  c: 'create',
  w: 'write',
  t: 'truncate',
  s: 'flush',
  D: 'flush-directory',
  u: 'unlink',
  m: 'mkdir',
  r: 'rename',
  l: 'link',
};

/** Reads a log that record.c wrote. */
export function readDiskLog(path: string): DiskRecord[] {
  const log = readFileSync(path);
  const records: DiskRecord[] = [];
  for (let at = 0; at + HEAD_OCTETS <= log.length;) {
    const number = (i: number): number => Number(log.readBigUInt64LE(at + 8 * i));
    const kind = KINDS[String.fromCharCode(number(0))];
    if (kind === undefined) throw new Error(`no record at ${at}`);
    const data = at + HEAD_OCTETS + number(3);
    const end = data + number(4);
    const name = log.toString('utf8', at + HEAD_OCTETS, data);
    records.push({ kind, inode: number(1), offset: number(2), path: name, data: log.subarray(data, end), end });
    at = end;
  }
  return records;
}

type Change = Pick<DiskRecord, 'kind' | 'offset' | 'data'>;

/** Octets of a file that were flushed, and the changes since. */
class DiskFile {
  #octets: Buffer;
  #size: number;
  #since: Change[] = [];

  constructor(octets = Buffer.alloc(0)) {
    this.#octets = octets;
    this.#size = octets.length;
  }

  change(record: Change): void {
    this.#since.push(record);
  }

  /** Makes all changes lasting. `size`: what the file had then, so that a call that was not recorded is noticed. */
  flush(size: number): void {
    for (const change of this.#since) this.#apply(change);
    this.#since = [];
    if (this.#size !== size) throw new Error(`a file of ${size} octets was recorded with ${this.#size}`);
  }

  /** The octets after a cut: all changes, none of those not flushed, or some sectors of them. */
  after(keeps: (() => boolean) | boolean): Buffer {
    const copy = new DiskFile(Buffer.from(this.#octets.subarray(0, this.#size)));
    for (const change of this.#since) {
      for (const part of typeof keeps === 'boolean' ? [change] : sectors(change)) {
        if (keeps === true || (keeps !== false && keeps())) copy.#apply(part);
      }
    }
    return copy.#octets.subarray(0, copy.#size);
  }

  #apply({ kind, offset, data }: Change): void {
    const size = kind === 'truncate' ? offset : Math.max(this.#size, offset + data.length);
    if (size > this.#octets.length) this.#octets = Buffer.concat([this.#octets], Math.max(2 * size, 4096));
    if (size < this.#size) this.#octets.fill(0, size, this.#size);
    if (kind !== 'truncate') data.copy(this.#octets, offset);
    this.#size = size;
  }
}

/** Parts of a write that a disk may keep or lose each for itself. */
function sectors(change: Change): Change[] {
  const { kind, offset, data } = change;
  if (kind === 'truncate') return [change];
  const parts: Change[] = [];
  for (let at = 0; at < data.length;) {
    const end = Math.min(data.length, at + SECTOR - ((offset + at) % SECTOR));
    parts.push({ kind, offset: offset + at, data: data.subarray(at, end) });
    at = end;
  }
  return parts;
}

class DiskDirectory {
  readonly now = new Map<string, DiskFile | DiskDirectory>();
  /** Entries that were flushed. */
  flushed = new Map<string, DiskFile | DiskDirectory>();

  flush(): void {
    this.flushed = new Map(this.now);
  }
}

/** State that a disk is left in: by a kill, by a power cut, or by one that kept some of what was not flushed. */
export type Left = 'killed' | 'cut' | { torn: () => boolean };

/** A disk that forgets what was not flushed. */
export class LoggedDisk {
  readonly #root = new DiskDirectory();
  readonly #files = new Map<number, DiskFile>();

  /** `base`: a directory that was there, flushed, when the log began. */
  constructor(base?: string) {
    if (base !== undefined) this.#load(base, this.#root);
  }

  apply(record: DiskRecord): void {
    const { kind, inode, offset, path, data } = record;
    if (kind === 'write' || kind === 'truncate') this.#file(inode).change(record);
    else if (kind === 'flush') this.#file(inode).flush(offset);
    else if (kind === 'flush-directory') this.#directory(path).flush();
    else if (kind === 'create') this.#link(path, this.#create(inode));
    else if (kind === 'mkdir') this.#link(path, new DiskDirectory());
    else if (kind === 'link') this.#link(data.toString(), this.#unlink(path, true));
    else {
      const node = this.#unlink(path);
      // A target outside of the root has no name here.
      if (kind === 'rename' && data.length > 0) this.#link(data.toString(), node);
    }
  }

  /** Writes the state after a cut into a directory. */
  writeTo(path: string, left: Left): void {
    this.#write(this.#root, path, left);
  }

  #write(directory: DiskDirectory, path: string, left: Left): void {
    mkdirSync(path, { recursive: true });
    const entries = left === 'killed' ? directory.now : new Map(directory.flushed);
    // A journal of the file system may have kept a new name although its directory was not flushed.
    if (typeof left === 'object') {
      for (const [name, node] of directory.now) if (!entries.has(name) && left.torn()) entries.set(name, node);
    }
    for (const [name, node] of entries) {
      const keeps = left === 'killed' ? true : left === 'cut' ? false : left.torn;
      if (node instanceof DiskDirectory) this.#write(node, join(path, name), left);
      else writeFileSync(join(path, name), node.after(keeps), { mode: 0o600 });
    }
  }

  #load(path: string, into: DiskDirectory): void {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const at = join(path, entry.name);
      if (entry.isDirectory()) {
        const directory = new DiskDirectory();
        into.now.set(entry.name, directory);
        this.#load(at, directory);
      } else if (entry.isFile()) {
        const file = new DiskFile(readFileSync(at));
        into.now.set(entry.name, file);
        this.#files.set(statSync(at).ino, file);
      }
    }
    into.flush();
  }

  #file(inode: number): DiskFile {
    const file = this.#files.get(inode);
    if (file === undefined) throw new Error(`no file has the inode ${inode}`);
    return file;
  }

  #create(inode: number): DiskFile {
    const file = new DiskFile();
    this.#files.set(inode, file);
    return file;
  }

  #directory(path: string): DiskDirectory {
    let at = this.#root;
    for (const name of path.split('/').filter((part) => part !== '')) {
      const next = at.now.get(name);
      if (!(next instanceof DiskDirectory)) throw new Error(`${path} is no directory`);
      at = next;
    }
    return at;
  }

  #link(path: string, node: DiskFile | DiskDirectory | undefined): void {
    const [parent, name] = this.#parts(path);
    if (node !== undefined) parent.now.set(name, node);
  }

  #unlink(path: string, stays = false): DiskFile | DiskDirectory | undefined {
    const [parent, name] = this.#parts(path);
    const node = parent.now.get(name);
    if (!stays) parent.now.delete(name);
    return node;
  }

  #parts(path: string): [DiskDirectory, string] {
    const slash = path.lastIndexOf('/');
    return [this.#directory(path.slice(0, Math.max(0, slash))), path.slice(slash + 1)];
  }
}

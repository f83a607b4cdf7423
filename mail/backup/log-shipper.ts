import type { FileLocator } from '../store/bucket/file-locator.ts';
import { type DatabaseSnapshot, LogRestarted, type SnapshotSource } from './database-snapshot.ts';
import { segmentName } from './log-segments.ts';
import { FileCopier, messageFiles } from './message-files.ts';
import { Pace } from './pace.ts';
import { PackWriter } from './pack-writer.ts';
import type { Repository } from './repository.ts';
import { PageRuns } from './snapshot-layout.ts';
import { type FileEntry, type SnapshotMap, writeMap } from './snapshot-map.ts';
import { sameIndex } from './wal-index.ts';

/** From this size on, the log is copied into the database after each segment, since the writer can do so only in part. */
const CHECKPOINT_OCTETS = 24 * 1024 * 1024;
/** From this size on, the log is given free, and a new snapshot begins. */
const MAX_LOG_OCTETS = 128 * 1024 * 1024;

/** Sizes of the log in octets. */
export interface LogLimits {
  checkpoint: number;
  most: number;
}

const LIMITS: LogLimits = { checkpoint: CHECKPOINT_OCTETS, most: MAX_LOG_OCTETS };
/** Segments that are put off because a file of a message is missing: it is being purged. */
const MAX_DEFERRED = 5;

/** No further segment can follow: begin with a new snapshot. */
export class LogLost extends Error {
  override readonly name = 'LogLost';
}

interface LogShipperOptions {
  repository: Repository;
  source: SnapshotSource;
  /** Id of the stored snapshot that the segments follow, its time, and its state, which this object closes. */
  snapshot: { id: string; at: number; state: DatabaseSnapshot };
  files: FileLocator;
  clock: () => number;
  limits?: LogLimits;
}

/**
 * Stores what is committed after a snapshot, a segment at a time. It holds the state of the last segment until the next
 * one is stored, so that the log keeps every change since; a segment that could not be stored is tried again with all
 * that was committed meanwhile.
 */
export class LogShipper implements Disposable {
  readonly #options: LogShipperOptions;
  #held: DatabaseSnapshot;
  #at: number;
  #sequence = 0;
  #lastBlob: number;
  #deferred = 0;

  constructor(options: LogShipperOptions) {
    this.#options = options;
    this.#held = options.snapshot.state;
    this.#at = options.snapshot.at;
    this.#lastBlob = lastBlobOf(this.#held);
  }

  /** All that was committed before this time is stored. ms UTC. */
  get at(): number {
    return this.#at;
  }

  /** Segments that were stored. */
  get segments(): number {
    return this.#sequence;
  }

  /** Stores what was committed since the last call. Throws {@link LogLost} if the log does not have it any more. */
  async store(): Promise<void> {
    await this.#advance();
    const { source, limits = LIMITS } = this.#options;
    const { frames } = this.#held.log;
    const octets = frames * this.#held.pageSize;
    if (octets < limits.checkpoint) return;
    // Once the whole log is in the database and this object holds that state, the writer starts the log anew.
    source.checkpoint();
    await this.#advance();
    if (octets >= limits.most && this.#held.log.frames >= frames && !this.#held.inFile) {
      throw new LogLost('the log has grown too large');
    }
  }

  async #advance(): Promise<void> {
    const { clock, source } = this.#options;
    const at = clock();
    const now = source.log();
    const isSame = now !== undefined && sameIndex(now, this.#held.log);
    if (isSame && (this.#held.inFile || now.backfilled < now.frames)) {
      this.#at = at;
      return;
    }
    using opened = new DisposableStack();
    const next = opened.use(await source.open());
    if (!(await this.#ship(next, at))) return;
    opened.move();
    this.#held[Symbol.dispose]();
    this.#held = next;
    this.#at = at;
  }

  /** False: a file that the state names is missing, so the segment has to wait for a later state. */
  async #ship(next: DatabaseSnapshot, at: number): Promise<boolean> {
    const { repository, snapshot } = this.#options;
    const pages = this.#changedPages(next);
    if (pages.size === 0) return true;
    const name = segmentName(snapshot.id, this.#sequence + 1, at);
    const map: SnapshotMap = { pageSize: next.pageSize, pages: next.pages, packs: [], runs: [], files: [], extras: [] };
    const packs = new PackWriter(repository, map.packs, (number) => `${name}-${number}`);
    const files = await this.#copyFiles(next, packs);
    if (files === undefined) return false;
    map.files = files;
    map.runs = await copyPages(next, pages, packs);
    await packs.flush();
    // Last: it names only what was flushed before.
    await repository.put(name, writeMap(map));
    this.#sequence++;
    this.#lastBlob = Math.max(this.#lastBlob, lastBlobOf(next));
    this.#deferred = 0;
    return true;
  }

  #changedPages(next: DatabaseSnapshot): ReadonlyMap<number, number> {
    if (next.pageSize !== this.#held.pageSize) throw new LogLost('the pages of the database have another size');
    try {
      return next.changedSince(this.#held);
    } catch (error) {
      if (error instanceof LogRestarted) throw new LogLost(error.message, { cause: error });
      throw error;
    }
  }

  /** Copies files of new large messages. Undefined: one is missing, and may have been purged meanwhile. */
  async #copyFiles(next: DatabaseSnapshot, packs: PackWriter): Promise<FileEntry[] | undefined> {
    const copier = new FileCopier(this.#options.files, packs, new Pace(0));
    for (const file of messageFiles(next, this.#lastBlob)) {
      if ((await copier.copy(file)) || this.#deferred >= MAX_DEFERRED) continue;
      this.#deferred++;
      return undefined;
    }
    return [...copier.stored.values()];
  }

  [Symbol.dispose](): void {
    this.#held[Symbol.dispose]();
  }
}

async function copyPages(snapshot: DatabaseSnapshot, pages: ReadonlyMap<number, number>, packs: PackWriter) {
  const layout = new PageRuns(snapshot.pageSize);
  const octets = Buffer.allocUnsafe(snapshot.pageSize);
  for (const [page, position] of [...pages].toSorted(([a], [b]) => a - b)) {
    if (page >= snapshot.pages) continue;
    snapshot.readChanged(page, position, octets);
    const { pack, offset } = await packs.add(octets);
    layout.add(page, pack, offset);
  }
  return layout.runs;
}

function lastBlobOf(snapshot: DatabaseSnapshot): number {
  return snapshot.all<{ id: number | null }>('SELECT max(id) AS id FROM blob')[0]?.id ?? 0;
}

import { ReaderClient } from './engine/reader-client.ts';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log, Meter } from '../log.ts';
import { SecretLinkForms, type SecretLinks } from '../message/secret-link.ts';
import { BlobFiles } from './blob/blob.ts';
import type { BlobProvider } from './blob/blob-request.ts';
import { blobBytes, smallBlobs } from './blob/content.ts';
import { BlobUnreadable, isUnreadable } from './blob/unreadable.ts';
import { WriterClient, type WriterClientOptions } from './engine/client.ts';
import { LocalWriter } from './engine/local.ts';
import { makeDirectorySync } from './engine/make-directory.ts';
import { lockDataDir } from './engine/lock.ts';
import { openReader } from './engine/open-reader.ts';
import type { PostgresReader } from './engine/postgres/reader.ts';
import { withNode } from './engine/postgres/url.ts';
import type { DatabaseWatch } from './engine/postgres/watch.ts';
import { Reader } from './engine/reader.ts';
import type { ReportUpgrade } from './engine/upgrade-step.ts';
import type { ThreadParts } from './engine/thread.ts';
import { type Command, type Query, type Store, StoreBusy, type WakeUp } from './engine/types.ts';
import { LocalText, TextClient, type TextSearch } from './search/text-client.ts';
import type { SharedView } from './mailbox/view.ts';
import type { StoreFlagsResult } from './mailbox/flag-change.ts';
import { accountsOfLog, type RangeChange } from './mailbox/flag-log.ts';
import { RangeLog } from './mailbox/range-log.ts';
import { StoreNodes } from './nodes.ts';
import { keepRecent } from './mailbox/recent.ts';
import { postgresViews, sqliteViews, type ViewReader } from './mailbox/view-reader.ts';
import { Views } from './mailbox/views.ts';

const DISK_CHECK_INTERVAL_MS = 2_000;
/** Damaged messages that are logged; with more, the disk is the problem. */
const MAX_UNREADABLE = 1_000;

export interface StoreOptions {
  dataDir: string;
  /** URL of a PostgreSQL database; left out: SQLite in the data directory. */
  database?: string | undefined;
  /** Name of this node, where several share the database on PostgreSQL; left out: it is alone. */
  node?: string | undefined;
  /**
   * The module that calls `runStoreThread`, the composition root of the store's threads; or the parts themselves, to
   * write on the calling thread.
   */
  engine: URL | ThreadParts;
  /** Heap of a thread for searches, MB. Left out: V8's default. */
  readerHeapMb?: number;
  /** Octets of free disk space below which mail is deferred; 0 disables the check. */
  keepFree: number;
  /** Links to secret pages, which are redacted for agents; undefined: nothing is redacted. */
  secretLinks?: SecretLinks;
  clock: () => number;
  log: Log;
  meter: Meter;
  /** Called before each step of a start that changes the tables of an earlier version. */
  upgrading?: ReportUpgrade;
  /** Called when the store is no longer durable: answer pending requests with "try later", then end the process. */
  fatal: (error: Error) => void;
}

/** The mail store: commands and queries of the engine, blob files, and the mailbox views that follow them. */
export class MailStore implements Store, AsyncDisposable {
  readonly files: BlobFiles;
  /** Full-text index, in its own file, which can be rebuilt. */
  readonly text: TextSearch;
  /** Patterns of secret links that every message is scanned for before it is stored. */
  readonly secretLinks: SecretLinkForms | undefined;
  readonly #options: StoreOptions;
  readonly #lock: Disposable;
  readonly #writer: WriterClient | LocalWriter;
  readonly #reader: Reader | PostgresReader;
  readonly #scanner: ReaderClient | Reader | PostgresReader;
  readonly #views: Views;
  readonly #viewReader: ViewReader;
  readonly #log: RangeLog;
  readonly #listeners: Set<(wakeUp: WakeUp) => void>;
  readonly #guard: NodeJS.Timeout;
  readonly #stop: AbortController;
  readonly #watch: DatabaseWatch | undefined;
  /** The other nodes of the database; undefined: there are none. */
  readonly nodes: StoreNodes | undefined;
  readonly #unreadable = new Set<number>();
  #full = false;

  private constructor(options: StoreOptions, parts: StoreParts) {
    this.#options = options;
    const { lock, writer, reader, listeners } = parts;
    this.#lock = lock;
    this.#writer = writer;
    this.#reader = reader;
    this.#views = parts.views;
    this.#viewReader = parts.viewReader;
    this.#log = parts.log;
    this.nodes = parts.nodes;
    this.#stop = parts.stop;
    this.#listeners = listeners;
    const provideBlob: BlobProvider = (file) => this.#provideBlob(file);
    this.#scanner = openScanner(options, provideBlob) ?? reader;
    this.files = new BlobFiles(options.dataDir);
    this.secretLinks = options.secretLinks && new SecretLinkForms(options.secretLinks);
    const text = openText(options, this.files, provideBlob);
    this.text = {
      committed: () => text.committed(),
      purged: () => text.purged(),
      search: (what, input, query) => this.#log.read(input, () => text.search(what, input, query)),
      close: () => text.close(),
    };
    listeners.add(() => {
      if (!this.#full) this.text.committed();
    });
    // Mail may wait that was not indexed before the last shutdown, or that was restored.
    this.text.committed();
    this.#watch = parts.watch;
    this.#guard = setInterval(() => void this.#checkDisk(), DISK_CHECK_INTERVAL_MS);
    this.#guard.unref();
  }

  static async open(options: StoreOptions): Promise<MailStore> {
    makeDirectorySync(options.dataDir);
    const lock = lockDataDir(options.dataDir);
    const listeners = new Set<(wakeUp: WakeUp) => void>();
    const stop = new AbortController();
    let viewReader: ViewReader | undefined;
    const notify = (wakeUps: readonly WakeUp[]): void => {
      for (const wakeUp of wakeUps) for (const listener of listeners) listener(wakeUp);
    };
    try {
      const writer = await startWriter(options.engine, {
        database: databaseOf(options),
        clock: () => options.clock(),
        fatal: (error) => options.fatal(error),
        upgrading: options.upgrading,
        observe: (what, value) => options.meter.observe(`store_${what}`, value),
        committed(wakeUps) {
          const seen = viewReader?.catchUp(wakeUps);
          if (seen !== undefined) return seen.then(() => notify(wakeUps));
          notify(wakeUps);
          return undefined;
        },
      });
      const log = new RangeLog((what, input, slice) => writer.write(what, input, slice));
      const views = new Views(
        (mailbox, uid) => writer.write(keepRecent, { mailbox, uid }, false),
        (account) => log.has(account),
      );
      const reading = await openReading(options, views, stop.signal);
      viewReader = reading.viewReader;
      const nodes = await openNodes(options, reading, views, notify);
      const store = new MailStore(options, { ...reading, lock, writer, views, log, listeners, stop, nodes });
      const logged = await reading.reader.query(accountsOfLog, undefined);
      // A database that was moved to PostgreSQL right after a crash has a log too.
      if (reading.reader instanceof Reader || logged.length > 0) await log.recover(logged);
      await store.#checkDisk();
      return store;
    } catch (error) {
      lock[Symbol.dispose]();
      throw error;
    }
  }

  write<I, O>(what: Command<I, O>, input: I): Promise<O> {
    return this.#writer.write(what, input, false);
  }

  writeSlice<I, O>(what: Command<I, O>, input: I): Promise<O> {
    return this.#writer.write(what, input, true);
  }

  read<I, O>(what: Query<I, O>, input: I): Promise<O> {
    if (what.flagless === true) return this.#reader.query(what, input);
    return this.#log.read(input, () => this.#reader.query(what, input));
  }

  scan<I, O>(what: Query<I, O>, input: I): Promise<O> {
    if (what.flagless === true) return this.#scanner.query(what, input);
    return this.#log.read(input, () => this.#scanner.query(what, input));
  }

  /** Logs a change of the flags of ranges. Undefined: write it with a command of its own. */
  async logFlags(change: RangeChange): Promise<StoreFlagsResult | undefined> {
    return this.#full || !(this.#reader instanceof Reader) ? undefined : this.#log.log(change);
  }

  onWakeUp(listener: (wakeUp: WakeUp) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Path of the database file, or the URL of PostgreSQL, for reader threads. */
  get database(): string {
    return databaseOf(this.#options);
  }

  /** Opens the shared view of a mailbox. Close it once per call. */
  view(account: number, mailbox: number): Promise<SharedView> {
    return this.#viewReader.open(account, mailbox);
  }

  /** First UID of a mailbox that no session was notified of; 0: the stored value is current. */
  recentFrom(mailbox: number): number {
    return this.#views.recentFrom(mailbox);
  }

  /** Octets of a blob, clipped to its size. Rejects with {@link BlobUnreadable} if it is damaged. */
  async blob(blob: number, start: number, length: number): Promise<Buffer> {
    if (length <= 0) return Buffer.alloc(0);
    try {
      return await this.#readBlob(blob, start, length);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      this.reportUnreadable(blob, error);
      if (error instanceof BlobUnreadable) throw error;
      throw new BlobUnreadable(blob, (error as Error).message, { cause: error });
    }
  }

  async #readBlob(blob: number, start: number, length: number): Promise<Buffer> {
    const found = await this.read(blobBytes, { blob, start, length });
    if (found === undefined) throw new BlobUnreadable(blob, 'it does not exist');
    const octets =
      'file' in found
        ? await this.files.read(found.file, start, length)
        : Buffer.from(found.data.buffer, found.data.byteOffset, found.data.byteLength);
    if (octets.length >= Math.min(length, found.size - start)) return octets;
    throw new BlobUnreadable(blob, `it ends at ${start + octets.length} of ${found.size} octets`, { octets });
  }

  /** The first `most` octets of blobs that are stored in rows. Those in files and damaged ones are left out. */
  async smallBlobs(blobs: readonly number[], most: number): Promise<Map<number, Buffer>> {
    const none: { id: number; data: Uint8Array }[] = [];
    const found = await this.read(smallBlobs, { blobs, most }).catch((error: unknown) => {
      if (isUnreadable(error)) return none;
      throw error;
    });
    return new Map(found.map(({ id, data }) => [id, Buffer.from(data.buffer, data.byteOffset, data.byteLength)]));
  }

  /** Fetches a file for a thread. The bucket is attached after the threads may have begun. */
  async #provideBlob(file: string): Promise<boolean> {
    return (await this.files.remote?.ensure(file)) !== undefined;
  }

  /** Logs and counts a blob that could not be read, once each. */
  reportUnreadable(blob: number, error: unknown): void {
    if (this.#unreadable.has(blob) || this.#unreadable.size >= MAX_UNREADABLE) return;
    this.#unreadable.add(blob);
    this.#options.meter.gauge('store_unreadable_messages', this.#unreadable.size);
    this.#options.log.error({ err: error, blob }, 'failed to read a stored message: restore it from a backup');
  }

  /** Number of stored messages that could not be read since the start. */
  get unreadable(): number {
    return this.#unreadable.size;
  }

  /** Reason why mail cannot be stored now, or undefined. */
  unavailable(): StoreBusy | undefined {
    if (this.#watch?.answers === false) return new StoreBusy('database', 'the database does not answer');
    return this.#full ? new StoreBusy('disk-full', 'the disk is nearly full') : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#guard);
    await this.text.close();
    await this.#log.close();
    await this.nodes?.[Symbol.asyncDispose]();
    if (this.#scanner instanceof ReaderClient) await this.#scanner.close();
    await this.#writer.close();
    this.#stop.abort();
    await this.#reader.close();
    this.#lock[Symbol.dispose]();
  }

  async #checkDisk(): Promise<void> {
    const { dataDir, keepFree, log, meter } = this.#options;
    try {
      const { bavail, bsize } = await statfs(dataDir);
      meter.gauge('disk_free_bytes', bavail * bsize);
      const full = bavail * bsize < keepFree;
      if (full !== this.#full) {
        log.warn(
          { free: bavail * bsize, keepFree },
          full ? 'disk nearly full: new mail is deferred' : 'free disk space is sufficient again',
        );
      }
      this.#full = full;
    } catch (error) {
      log.warn({ err: error }, 'failed to read the free disk space');
    }
  }
}

async function startWriter(
  engine: URL | ThreadParts,
  options: Omit<WriterClientOptions, 'thread'>,
): Promise<WriterClient | LocalWriter> {
  return engine instanceof URL
    ? WriterClient.start({ ...options, thread: engine })
    : LocalWriter.start(options, engine);
}

/** Creates the client of the reader thread; undefined when the calling thread does all work. */
function openScanner(
  { engine, readerHeapMb: heapMb, ...options }: StoreOptions,
  provideBlob: BlobProvider,
): ReaderClient | undefined {
  if (!(engine instanceof URL)) return undefined;
  return new ReaderClient({ thread: engine, database: databaseOf(options), heapMb, provideBlob });
}

/** Opens the full-text index. Its errors and a full disk never affect mail. */
function openText(options: StoreOptions, files: BlobFiles, provideBlob: BlobProvider): TextSearch {
  const place = {
    path: join(options.dataDir, 'mailstead-text.db'),
    database: databaseOf(options),
    blobs: files.directory,
  };
  return options.engine instanceof URL
    ? new TextClient(
        { thread: options.engine, place, heapMb: options.readerHeapMb, provideBlob },
        options.log,
        options.meter,
      )
    : new LocalText(place, options.log, options.meter);
}

function databaseOf({ dataDir, database, node }: Pick<StoreOptions, 'dataDir' | 'database' | 'node'>): string {
  if (database === undefined) return join(dataDir, 'mailstead.db');
  return node === undefined ? database : withNode(database, node);
}

/** Follows the other nodes of the database, if the server has a name among them. */
async function openNodes(
  options: StoreOptions,
  { reader, viewReader }: Reading,
  views: Views,
  notify: (wakeUps: readonly WakeUp[]) => void,
): Promise<StoreNodes | undefined> {
  const { node, log, meter } = options;
  if (node === undefined) return undefined;
  return StoreNodes.open({
    url: databaseOf(options),
    node,
    log,
    meter,
    async changed(wakeUps) {
      await viewReader.catchUp(wakeUps);
      notify(wakeUps);
    },
    openMailboxes: () => views.openMailboxes(),
    read: (what) => reader.query(what, undefined),
  });
}

/** Reads of the calling thread. `watch`: of PostgreSQL only. */
interface Reading {
  reader: Reader | PostgresReader;
  viewReader: ViewReader;
  watch: DatabaseWatch | undefined;
}

interface StoreParts extends Reading {
  lock: Disposable;
  writer: WriterClient | LocalWriter;
  views: Views;
  log: RangeLog;
  listeners: Set<(wakeUp: WakeUp) => void>;
  stop: AbortController;
  nodes: StoreNodes | undefined;
}

/** Opens the connections of the calling thread. */
async function openReading(options: StoreOptions, views: Views, stop: AbortSignal): Promise<Reading> {
  const database = databaseOf(options);
  const reader = await openReader(database);
  if (reader instanceof Reader) return { reader, viewReader: sqliteViews(views, reader), watch: undefined };
  const engine = await import('./engine/postgres/watch.ts');
  const watch = new engine.DatabaseWatch(database, (answers) => {
    if (answers) return options.log.warn({}, 'the database answers again');
    options.log.error({}, 'the database does not answer: mail is deferred until it does');
    reader.renew();
  });
  return { reader, viewReader: postgresViews(views, reader, stop), watch };
}

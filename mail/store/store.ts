import { mkdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log, Meter } from '../log.ts';
import { SecretLinkForms, type SecretLinks } from '../message/secret-link.ts';
import { BlobFiles } from './blob.ts';
import { blobBytes } from './content.ts';
import { ReaderClient, WriterClient, type WriterClientOptions } from './engine/client.ts';
import { LocalWriter } from './engine/local.ts';
import { openForReading } from './engine/connection.ts';
import { lockDataDir } from './engine/lock.ts';
import { Reader } from './engine/reader.ts';
import type { ThreadParts } from './engine/thread.ts';
import { type Command, type Query, type Store, StoreBusy, type WakeUp } from './engine/types.ts';
import { LocalText, TextClient, type TextSearch } from './search/text-client.ts';
import type { SharedView } from './view.ts';
import { Views } from './views.ts';

const GUARD_EVERY_MS = 2_000;

export interface StoreOptions {
  dataDir: string;
  /**
   * The module that calls `runStoreThread`, the composition root of the store's threads; or the parts themselves, to
   * write on the calling thread.
   */
  engine: URL | ThreadParts;
  /** Mail is refused for now while the disk has less free than this, in octets. 0 switches the guard off. */
  keepFree: number;
  /** Programs are not shown what mail says that carries such a link; left out: no mail does. */
  secretLinks?: SecretLinks;
  clock: () => number;
  log: Log;
  meter: Meter;
  /** The store can promise nothing any more: say "later" to who waits, then end the process. */
  fatal: (error: Error) => void;
}

/** Everything that is remembered: the commands and queries of the engine, blob files, and the views that follow them. */
export class MailStore implements Store, AsyncDisposable {
  readonly files: BlobFiles;
  /** Words of messages, in a file of its own that can be made again. */
  readonly text: TextSearch;
  /** What every message is looked through for before it gets a row. */
  readonly secretLinks: SecretLinkForms | undefined;
  readonly #options: StoreOptions;
  readonly #lock: Disposable;
  readonly #writer: WriterClient | LocalWriter;
  readonly #reader: Reader;
  readonly #scanner: ReaderClient | Reader;
  readonly #views: Views;
  readonly #listeners: Set<(wakeUp: WakeUp) => void>;
  readonly #guard: NodeJS.Timeout;
  #full = false;

  private constructor(
    options: StoreOptions,
    lock: Disposable,
    writer: WriterClient | LocalWriter,
    reader: Reader,
    views: Views,
    listeners: Set<(wakeUp: WakeUp) => void>,
  ) {
    this.#options = options;
    this.#lock = lock;
    this.#writer = writer;
    this.#reader = reader;
    this.#views = views;
    this.#listeners = listeners;
    this.#scanner = options.engine instanceof URL ? new ReaderClient(options.engine, databasePath(options)) : reader;
    this.files = new BlobFiles(options.dataDir);
    this.secretLinks = options.secretLinks && new SecretLinkForms(options.secretLinks);
    this.text = openText(options, this.files);
    // What arrived before the last end and is not indexed yet follows with the next commit, or the first search.
    listeners.add(() => {
      if (!this.#full) this.text.committed();
    });
    this.#guard = setInterval(() => void this.#look(), GUARD_EVERY_MS);
    this.#guard.unref();
  }

  static async open(options: StoreOptions): Promise<MailStore> {
    mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
    const lock = lockDataDir(options.dataDir);
    const listeners = new Set<(wakeUp: WakeUp) => void>();
    let views: Views | undefined;
    try {
      const writer = await startWriter(options.engine, {
        database: databasePath(options),
        clock: () => options.clock(),
        fatal: (error) => options.fatal(error),
        observe: (what, value) => options.meter.observe(`store_${what}`, value),
        committed(wakeUps) {
          views?.catchUp(wakeUps);
          for (const wakeUp of wakeUps) for (const listener of listeners) listener(wakeUp);
        },
      });
      const reader = new Reader(openForReading(databasePath(options)));
      views = new Views(reader);
      const store = new MailStore(options, lock, writer, reader, views, listeners);
      await store.#look();
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
    return this.#reader.query(what, input);
  }

  scan<I, O>(what: Query<I, O>, input: I): Promise<O> {
    return this.#scanner.query(what, input);
  }

  onWakeUp(listener: (wakeUp: WakeUp) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The file of the database, for a thread that reads it. */
  get database(): string {
    return databasePath(this.#options);
  }

  /** Opens the shared view of a mailbox; close it once. */
  view(account: number, mailbox: number): SharedView {
    return this.#views.open(account, mailbox);
  }

  /** Octets of a blob, clipped to what is there. */
  async blob(blob: number, start: number, length: number): Promise<Buffer> {
    if (length <= 0) return Buffer.alloc(0);
    const found = await this.read(blobBytes, { blob, start, length });
    if (found === undefined) throw new Error(`blob ${blob} does not exist`);
    if ('file' in found) return this.files.read(found.file, start, length);
    return Buffer.from(found.data.buffer, found.data.byteOffset, found.data.byteLength);
  }

  /** Why nothing can be taken now, or undefined. */
  unavailable(): StoreBusy | undefined {
    return this.#full ? new StoreBusy('disk-full', 'the disk is nearly full') : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#guard);
    await this.text.close();
    if (this.#scanner instanceof ReaderClient) await this.#scanner.close();
    await this.#writer.close();
    this.#reader.close();
    this.#lock[Symbol.dispose]();
  }

  async #look(): Promise<void> {
    const { dataDir, keepFree, log, meter } = this.#options;
    try {
      const { bavail, bsize } = await statfs(dataDir);
      meter.gauge('disk_free_bytes', bavail * bsize);
      const full = bavail * bsize < keepFree;
      if (full !== this.#full) {
        log.warn(
          { free: bavail * bsize, keepFree },
          full ? 'disk nearly full: new mail is told to come later' : 'disk has room again',
        );
      }
      this.#full = full;
    } catch (error) {
      log.warn({ err: error }, 'free space cannot be read');
    }
  }
}

async function startWriter(
  engine: URL | ThreadParts,
  options: Omit<WriterClientOptions, 'thread'>,
): Promise<WriterClient | LocalWriter> {
  return engine instanceof URL ? WriterClient.start({ ...options, thread: engine }) : new LocalWriter(options, engine);
}

/** A full disk, or a full-text file that cannot be used, is no matter of the mail's. */
function openText(options: StoreOptions, files: BlobFiles): TextSearch {
  const place = {
    path: join(options.dataDir, 'mailstead-text.db'),
    database: databasePath(options),
    blobs: files.directory,
  };
  return options.engine instanceof URL
    ? new TextClient(options.engine, place, options.log, options.meter)
    : new LocalText(place, options.log, options.meter);
}

function databasePath(options: StoreOptions): string {
  return join(options.dataDir, 'mailstead.db');
}

import { BareEndings } from '../message/bare-endings.ts';
import type { MessageIndex } from '../message/index-types.ts';
import { MessageIndexer } from '../message/indexer.ts';
import type { SecretLinkForms } from '../message/secret-link.ts';
import type { BlobFiles, BlobWriter, NewBlob } from './blob.ts';
import { StoreBusy } from './engine/types.ts';

/** A whole message before its commit, as a command takes it: one of `data` and `file`, and what the message says. */
export interface WrittenMessage {
  data: Uint8Array | null;
  file: { file: string; size: number } | null;
  index: MessageIndex;
}

/**
 * A message that a client brings, on its way into the store: indexed as it comes, never whole in memory when it is
 * large. Bare LF and CR become CRLF here, so that what is stored is always a message.
 */
export class MessageWriter {
  readonly #files: BlobFiles;
  readonly #writer: BlobWriter;
  readonly #indexer: MessageIndexer;
  readonly #endings = new BareEndings();

  constructor({ files, secretLinks }: { files: BlobFiles; secretLinks: SecretLinkForms | undefined }) {
    this.#files = files;
    this.#writer = files.create();
    this.#indexer = new MessageIndexer(secretLinks);
  }

  /** Octets so far. */
  get size(): number {
    return this.#writer.size;
  }

  /** A promise means: wait before the next chunk. */
  write(chunk: Buffer): Promise<void> | undefined {
    return this.#keep(this.#endings.push(chunk));
  }

  /**
   * Ends the message and runs its commit. A file that `commit` answers `false` for, or that {@link StoreBusy} kept from
   * being tried, is removed; after any other failure the row may be on disk and needs its file.
   */
  async finish<T>(commit: (message: WrittenMessage) => Promise<T>, isKept: (outcome: T) => boolean): Promise<T> {
    const blob = await this.#end();
    try {
      const outcome = await commit({
        data: 'data' in blob ? blob.data : null,
        file: 'data' in blob ? null : blob,
        index: this.#indexer.end(),
      });
      if (!isKept(outcome)) this.abort();
      else if ('file' in blob) this.#files.settled(blob.file);
      return outcome;
    } catch (error) {
      if (error instanceof StoreBusy) this.abort();
      throw error;
    }
  }

  /** Nothing was committed: what was written goes. */
  abort(): void {
    this.#writer.abort();
  }

  #keep(fixed: Buffer): Promise<void> | undefined {
    this.#indexer.push(fixed);
    return this.#writer.write(fixed);
  }

  async #end(): Promise<NewBlob> {
    try {
      await this.#keep(this.#endings.end());
      return await this.#writer.finish();
    } catch (error) {
      this.abort();
      throw error;
    }
  }
}

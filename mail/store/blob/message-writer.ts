import { LineEndNormalizer } from '../../message/line-end-normalizer.ts';
import type { MessageIndex } from '../../message/index-types.ts';
import { MessageIndexer } from '../../message/indexer.ts';
import type { SecretLinkForms } from '../../message/secret-link.ts';
import type { BlobFiles, BlobWriter, NewBlob } from './blob.ts';
import { StoreBusy } from '../engine/types.ts';

/** A complete message before its commit: one of `data` and `file`, and its index. */
export interface WrittenMessage {
  data: Uint8Array | null;
  file: { file: string; size: number } | null;
  index: MessageIndex;
}

/**
 * Writes a message of a client into the store: indexes it in a stream and never holds a large one in memory. Bare LF
 * and CR become CRLF.
 */
export class MessageWriter {
  readonly #files: BlobFiles;
  readonly #writer: BlobWriter;
  readonly #indexer: MessageIndexer;
  readonly #endings = new LineEndNormalizer();

  constructor({ files, secretLinks }: { files: BlobFiles; secretLinks: SecretLinkForms | undefined }) {
    this.#files = files;
    this.#writer = files.create();
    this.#indexer = new MessageIndexer(secretLinks);
  }

  /** Number of octets so far. */
  get size(): number {
    return this.#writer.size;
  }

  /** Returns a promise if the caller must wait before the next chunk. */
  write(chunk: Buffer): Promise<void> | undefined {
    return this.#keep(this.#endings.push(chunk));
  }

  /**
   * Completes the message and runs its commit. Removes the file if `commit` returns an outcome that is not kept or
   * {@link StoreBusy} prevented it; after any other failure the row may be on disk and needs its file.
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
      else if ('file' in blob) this.#files.release(blob.file);
      return outcome;
    } catch (error) {
      if (error instanceof StoreBusy) this.abort();
      throw error;
    }
  }

  /** Discards the message before a commit. */
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

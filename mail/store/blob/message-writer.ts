import { LineEndNormalizer } from '../../message/line-end-normalizer.ts';
import type { MessageIndex } from '../../message/index-types.ts';
import { MessageIndexer } from '../../message/indexer.ts';
import type { SecretLinkForms } from '../../message/secret-link.ts';
import type { BlobFiles, BlobWriter, NewBlob, NewBlobFile } from './blob.ts';
import { StoreBusy } from '../engine/types.ts';

/** A complete message before its commit: one of `data` and `file`, and its index. */
export interface WrittenMessage {
  data: Uint8Array | null;
  file: NewBlobFile | null;
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

  /** `inFile`: a short message goes into a file too, instead of waiting in memory. */
  constructor(
    { files, secretLinks }: { files: BlobFiles; secretLinks: SecretLinkForms | undefined },
    { inFile = false }: { inFile?: boolean } = {},
  ) {
    this.#files = files;
    this.#writer = files.create(inFile ? 0 : undefined);
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
    const message = await this.complete();
    try {
      const outcome = await commit(message);
      if (isKept(outcome)) this.release(message);
      else this.abort();
      return outcome;
    } catch (error) {
      if (error instanceof StoreBusy) this.abort();
      throw error;
    }
  }

  /** Completes the message, which is to be committed with others: then {@link release} it, or {@link abort}. */
  async complete(): Promise<WrittenMessage> {
    const blob = await this.#end();
    return {
      data: 'data' in blob ? blob.data : null,
      file: 'data' in blob ? null : blob,
      index: this.#indexer.end(),
    };
  }

  /** Ends the protection of a file whose row was committed. */
  release({ file }: WrittenMessage): void {
    if (file !== null) this.#files.release(file.file);
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

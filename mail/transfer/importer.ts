import { createHash } from 'node:crypto';
import { LineEndNormalizer } from '../message/line-end-normalizer.ts';
import { MessageWriter } from '../store/blob/message-writer.ts';
import { StoreBusy } from '../store/engine/types.ts';
import { createMailbox, findMailbox, listMailboxes, type MailboxRole } from '../store/mailbox/mailbox.ts';
import type { MailStore } from '../store/store.ts';
import { type ImportInput, type ImportResult, type RemoteMessage } from '../store/transfer/imported.ts';
import { ImportBatches } from './import-batches.ts';
import type { NamedFlags } from '../store/mailbox/flags.ts';
import { receivedTime } from './received-time.ts';

/** Messages that are read and await their commits: some commits are filled while others are written. */
const MAX_PENDING = 256;
/** Octets of the header that the time of arrival is read from. */
const HEAD = 64 * 1024;
const HASH_OCTETS = 16;

/** A message and where it goes. */
export interface ImportedMessage {
  mailbox: number;
  flags: NamedFlags;
  /** The keywords may be words of its sender. */
  sendersKeywords?: boolean | undefined;
  /** ms UTC; undefined: read from the message. */
  receivedAt: number | undefined;
  octets: AsyncIterable<Buffer>;
  remote: RemoteMessage | null;
}

/** Outcome of one message. */
export type ImportOutcome =
  ImportResult | { kind: 'too-big' } | { kind: 'empty' } | { kind: 'unreadable'; why: string };

/** Called once for each message; `sha256` is that of its octets, hex, or '' if they were not read. */
export type OnOutcome = (outcome: ImportOutcome, sha256: string, size: number) => void;

/** Another attempt cannot succeed: the disk is full, or the store ended. */
export class ImportStopped extends Error {
  override readonly name = 'ImportStopped';
}

/** Imports messages into one account in the order in which they come, several of them in one commit. */
export class Importer {
  readonly #store: MailStore;
  readonly #account: number;
  readonly #maxOctets: number;
  readonly #pass: number;
  readonly #clock: () => number;
  readonly #batches: ImportBatches;
  #order: Promise<unknown> = Promise.resolve();
  readonly #pending = new Set<Promise<void>>();
  #failed: Error | undefined;

  /** `pass`: greater than that of any former pass. */
  constructor(
    store: MailStore,
    { account, maxOctets, pass, clock }: { account: number; maxOctets: number; pass: number; clock: () => number },
  ) {
    this.#store = store;
    this.#account = account;
    this.#maxOctets = maxOctets;
    this.#pass = pass;
    this.#clock = clock;
    this.#batches = new ImportBatches(store);
  }

  /** The mailbox with this name or special use; creates it if there is none. Undefined: there are too many. */
  async folder(name: string, role: MailboxRole | undefined): Promise<{ id: number; name: string } | undefined> {
    const account = this.#account;
    if (role !== undefined) {
      const all = await this.#store.read(listMailboxes, { account });
      const special = all.find((one) => one.role === role);
      if (special !== undefined) return special;
    }
    const known = await this.#store.read(findMailbox, { account, name });
    if (known !== undefined) return known;
    const made = await this.#store.write(createMailbox, { account, name, role: null });
    if (made.kind === 'too-many') return undefined;
    return this.#store.read(findMailbox, { account, name });
  }

  /** Reads one message to its end; its commit follows. Waits while many await their commits. */
  async add(message: ImportedMessage, onOutcome: OnOutcome): Promise<void> {
    if (this.#failed !== undefined) throw this.#failed;
    const read = await this.#read(message);
    if ('refused' in read) {
      const { refused } = read;
      this.#track(this.#order.then(() => onOutcome(refused, '', 0)));
    } else this.#commit(message, read, onOutcome);
    if (this.#pending.size >= MAX_PENDING) this.#batches.flush();
    while (this.#pending.size >= MAX_PENDING) await Promise.race(this.#pending);
  }

  /** Waits for all commits. */
  async flush(): Promise<void> {
    // The last commit may not be full: what was read is in it as soon as its turn has come.
    await this.#order;
    this.#batches.flush();
    while (this.#pending.size > 0) await Promise.race(this.#pending);
    if (this.#failed !== undefined) throw this.#failed;
  }

  #commit(message: ImportedMessage, { writer, sha256, receivedAt }: ReadMessage, onOutcome: OnOutcome): void {
    const { size } = writer;
    const { mailbox, flags, sendersKeywords, remote } = message;
    const before = this.#order;
    const { promise: queued, resolve: isQueued } = Promise.withResolvers<void>();
    this.#order = queued;
    const commit = writer.finish(
      async (written) => {
        // Messages keep their order, though a large one is flushed to its file first.
        await before;
        const hash = Uint8Array.from(sha256.subarray(0, HASH_OCTETS));
        const base = {
          account: this.#account,
          mailbox,
          flags,
          sendersKeywords,
          receivedAt,
          hash,
          pass: this.#pass,
          remote,
        };
        const done = this.#batches.add({ ...base, ...written } satisfies ImportInput);
        isQueued();
        return done;
      },
      (outcome) => outcome.kind === 'imported',
    );
    this.#track(
      commit.then(
        (outcome) => onOutcome(outcome, sha256.toString('hex'), size),
        (error: unknown) => {
          isQueued();
          this.#failed ??= stopped(error);
        },
      ),
    );
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#pending.delete(tracked));
    this.#pending.add(tracked);
  }

  async #read({ octets, receivedAt }: ImportedMessage): Promise<ReadMessage | { refused: ImportOutcome }> {
    const why = this.#store.unavailable();
    if (why !== undefined) throw new ImportStopped(`${why.message}: free some space, then resume the import`);
    const writer = new MessageWriter(this.#store);
    const hash = createHash('sha256');
    const endings = new LineEndNormalizer();
    let head = Buffer.alloc(0);
    const write = (chunk: Buffer): Promise<void> | undefined => {
      hash.update(chunk);
      if (receivedAt === undefined && head.length < HEAD) head = Buffer.concat([head, chunk]);
      return writer.write(chunk);
    };
    try {
      for await (const chunk of octets) {
        await write(endings.push(chunk));
        if (writer.size > this.#maxOctets) return discard(writer, { kind: 'too-big' });
      }
      await write(endings.end());
    } catch (error) {
      writer.abort();
      if (error instanceof StoreBusy) throw stopped(error);
      if (error instanceof SourceLost) throw error;
      return { refused: { kind: 'unreadable', why: (error as Error).message } };
    }
    if (writer.size === 0) return discard(writer, { kind: 'empty' });
    return { writer, sha256: hash.digest(), receivedAt: receivedAt ?? receivedTime(head) ?? this.#clock() };
  }
}

/** The connection to the source is lost: the message was not read to its end, and is read again. */
export class SourceLost extends Error {
  override readonly name = 'SourceLost';
}

interface ReadMessage {
  writer: MessageWriter;
  sha256: Buffer;
  receivedAt: number;
}

function discard(writer: MessageWriter, refused: ImportOutcome): { refused: ImportOutcome } {
  writer.abort();
  return { refused };
}

function stopped(error: unknown): Error {
  if (!(error instanceof StoreBusy)) return error as Error;
  return new ImportStopped(`${error.message}: free some space, then resume the import`, { cause: error });
}

import { BinaryMessageWriter } from '../../store/blob/binary-message.ts';
import { MessageWriter, type WrittenMessage } from '../../store/blob/message-writer.ts';
import type { AppendedBlob } from '../../store/mailbox/append-commands.ts';
import type { MailStore } from '../../store/store.ts';
import type { AppendOptions, AppendSink, NewMessage } from '../imap-store.ts';

/** A message that APPEND writes. */
export class AppendedMessage implements AppendSink {
  readonly #writer: MessageWriter | BinaryMessageWriter;
  #message: WrittenMessage | undefined;

  constructor(store: MailStore, options: AppendOptions) {
    this.#writer =
      options.binary === true ? new BinaryMessageWriter(store, options) : new MessageWriter(store, options);
  }

  write(chunk: Buffer): Promise<void> | undefined {
    return this.#writer.write(chunk);
  }

  async close(): Promise<number | undefined> {
    this.#message = await this.#writer.complete();
    if (this.#message === undefined) return undefined;
    const { data, index } = this.#message;
    return (data?.length ?? 0) + index.envelope.length + index.bodyStructure.length + index.parts.length;
  }

  /** The complete message. */
  get message(): WrittenMessage {
    if (this.#message === undefined) throw new Error('the message is not complete');
    return this.#message;
  }

  release(): void {
    this.#writer.release(this.message);
  }

  abort(): void {
    this.#writer.abort();
  }
}

/** A message of one APPEND with its flags and INTERNALDATE. */
export type AppendedWithFlags = Omit<NewMessage, 'sink'> & { sink: AppendedMessage };

/** The messages as they cross threads, with the octets of the short ones in one buffer. */
export function appendedBlobs(
  messages: readonly AppendedWithFlags[],
  now: number,
): { messages: AppendedBlob[]; data: Uint8Array } {
  const blobs = messages.map(({ sink, flags, receivedAt = now }) => {
    const { file, data, index } = sink.message;
    return { file, length: data?.length ?? 0, index, flags, receivedAt };
  });
  return { messages: blobs, data: joined(messages.flatMap(({ sink }) => sink.message.data ?? [])) };
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
}

/** Discards what was written. */
export function abortAll(messages: readonly AppendedWithFlags[]): void {
  for (const { sink } of messages) sink.abort();
}

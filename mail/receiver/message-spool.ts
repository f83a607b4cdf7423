import { networkOf } from '../guard/network.ts';
import type { MemoryHolder, MemoryReservation } from '../limits/memory-budget.ts';
import { memoryHolderOf } from '../login/types.ts';
import type { MessageFacts } from '../message/index-types.ts';
import type { BlobWriter } from '../store/blob/blob.ts';
import { StoreBusy } from '../store/engine/types.ts';
import type { ReceiverContext } from './context.ts';
import { HeaderCapture } from './header-capture.ts';
import type { MessageEnvelope, MessageSink, SmtpRefusal } from './needs.ts';
import { isForwarded, type ReceivedMessage, type ReceiveResult } from './received-message.ts';
import { busyRefusal, smtpRefusal } from './refusal.ts';

/** RFC 5321 6.3 asks for at least 100. */
const MAX_RECEIVED = 100;

/** Octets of one message that are in memory at most: its header, held back and captured, and what waits for the disk. */
const MAX_HELD = 512 * 1024;
/** Octets of a message that are not counted. */
const UNCOUNTED = 16 * 1024;

/** Holds the header back until it is complete, and rewrites it. */
interface HeaderFilter {
  push(chunk: Buffer): Buffer | undefined;
  end(): Buffer | undefined;
}

/** Indexes a message while its octets pass. */
interface MessageReader<Index> {
  push(chunk: Uint8Array): void;
  end(): Index;
}

/** The parts that differ between mail from outside and submissions. */
interface SpoolUse<Index extends MessageFacts> {
  header: HeaderFilter;
  reader: MessageReader<Index>;
  /** Refuses the message by its header alone. */
  refuseHeader(): SmtpRefusal | undefined;
  /** Called once with the complete message. */
  receive(message: ReceivedMessage<Index>): Promise<ReceiveResult>;
}

/** Streams the octets of one message to its blob and its index, then has it received. */
export class MessageSpool<Index extends MessageFacts> implements MessageSink {
  readonly #context: ReceiverContext;
  readonly #envelope: MessageEnvelope;
  readonly #use: SpoolUse<Index>;
  readonly #blob: BlobWriter;
  /** Undefined where no copy can be forwarded. */
  readonly #capture: HeaderCapture | undefined;
  readonly #memory: MemoryReservation | undefined;
  #received = 0;
  #busy: StoreBusy | undefined;

  constructor(context: ReceiverContext, envelope: MessageEnvelope, use: SpoolUse<Index>) {
    this.#context = context;
    this.#envelope = envelope;
    this.#use = use;
    this.#blob = context.store.files.create();
    const sendsOn = envelope.recipients.some(({ route }) => route.kind === 'return' || isForwarded(route));
    this.#capture = sendsOn ? new HeaderCapture() : undefined;
    this.#memory = context.memory?.open([senderOf(envelope)]);
    void this.#store(Buffer.from(envelope.received));
  }

  write(chunk: Buffer): Promise<void> | undefined {
    this.#count(chunk.length);
    if (this.#busy !== undefined) return undefined;
    const passed = this.#use.header.push(chunk);
    return passed === undefined ? undefined : this.#store(passed);
  }

  abort(): void {
    this.#memory?.[Symbol.dispose]();
    this.#blob.abort();
  }

  async finish(): Promise<{ kind: 'accepted' } | SmtpRefusal> {
    try {
      return await this.#finish();
    } finally {
      this.#memory?.[Symbol.dispose]();
    }
  }

  /** Counts received octets; without memory for them the message is discarded, and refused as busy at its end. */
  #count(octets: number): void {
    this.#received += octets;
    if (this.#received <= UNCOUNTED || this.#busy !== undefined) return;
    if (this.#memory?.tryResize(Math.min(this.#received, MAX_HELD)) !== false) return;
    this.#busy = new StoreBusy('queue', 'the memory for messages is used up');
    this.abort();
  }

  async #finish(): Promise<{ kind: 'accepted' } | SmtpRefusal> {
    if (this.#busy !== undefined) return busyRefusal(this.#busy);
    const rest = this.#use.header.end();
    if (rest !== undefined) await this.#store(rest);
    const refusal = this.#use.refuseHeader();
    if (refusal !== undefined) return this.#discard(refusal);
    const index = this.#use.reader.end();
    if (index.received > MAX_RECEIVED) return this.#discard(LOOP);
    if (this.#busy !== undefined) return busyRefusal(this.#busy);
    try {
      return await this.#receive(index);
    } catch (error) {
      // Only StoreBusy proves that no row names the file. After any other error the transaction may be on disk, so the
      // file stays, and the sweep at the next start decides.
      if (!(error instanceof StoreBusy)) throw error;
      return this.#discard(busyRefusal(error));
    }
  }

  async #receive(index: Index): Promise<{ kind: 'accepted' } | SmtpRefusal> {
    const blob = await this.#finishBlob();
    const fields = this.#capture?.fields();
    const message = { envelope: this.#envelope, index, blob, fields };
    const { refusal, stored } = await this.#use.receive(message);
    if (!stored) this.abort();
    else if (blob.file !== null) this.#context.store.files.release(blob.file.file);
    return refusal ?? { kind: 'accepted' };
  }

  async #finishBlob(): Promise<ReceivedMessage['blob']> {
    try {
      const blob = await this.#blob.finish();
      return 'data' in blob ? { data: blob.data, file: null } : { data: null, file: blob };
    } catch (error) {
      this.abort(); // not in a row yet
      throw error;
    }
  }

  /** A promise asks the sender to wait for the disk. */
  #store(chunk: Buffer): Promise<void> | undefined {
    this.#use.reader.push(chunk);
    this.#capture?.push(chunk);
    if (this.#busy !== undefined) return undefined;
    return this.#blob.write(chunk)?.catch((error: unknown) => {
      if (!(error instanceof StoreBusy)) throw error;
      // The rest is read and discarded: SMTP replies only at the end of the message.
      this.#busy = error;
      this.abort();
    });
  }

  #discard(refusal: SmtpRefusal): SmtpRefusal {
    this.abort();
    return refusal;
  }
}

/** The holder of a message's memory: the organization of the login, else the network of the sender. */
function senderOf({ login, peer }: MessageEnvelope): MemoryHolder {
  return login === undefined ? networkOf(peer.ip) : memoryHolderOf(login);
}

const LOOP = smtpRefusal(554, '5.4.6', 'Rejected: more than 100 Received fields, the message is in a mail loop');

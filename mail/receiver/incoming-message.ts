import { takeAnswers } from '../delivery/answers.ts';
import type { Accepted, Delivery } from '../delivery/deliver.ts';
import { deliveryTo, oneEach } from '../delivery/deliveries.ts';
import { type ForwardedMail, type Kept, noPlan, type Plan, planForwards, returned } from '../delivery/forward.ts';
import { routeOutward } from '../delivery/route.ts';
import { formatAddress } from '../message/address.ts';
import type { Field } from '../message/header.ts';
import { type MessageFacts, type MessageIndex, wholeIndex } from '../message/index-types.ts';
import { REPORT_MAX } from '../message/report.ts';
import type { BlobWriter, NewBlob } from '../store/blob.ts';
import { StoreBusy } from '../store/engine/types.ts';
import { haveRoom } from '../store/route-facts.ts';
import { HeaderBlock } from './header-block.ts';
import type { IntakeDesk } from './intake-desk.ts';
import type { Envelope, Recipient, Refusal, Route } from './needs.ts';
import { busy, refuse } from './refusal.ts';
import { unreached } from './unreached.ts';

/** RFC 5321 6.3 asks for at least 100. */
const MOST_RECEIVED = 100;

/** Who gets a message, where copies go on to, and what does not go on. */
export type Planned = Pick<Accepted, 'deliveries' | 'onward'> & { kept: readonly Kept[] };

/** How far a message goes, as the verdict on it decides. */
export type Reach = Pick<ForwardedMail, 'staying' | 'junk'>;

/** What is known of a message beside its envelope and header. */
type Known = Pick<ForwardedMail, 'authors' | 'proof' | 'secretLink'> & Reach;

/** The octets as they cross to the writer: in the message itself, or the name of their file. */
export type CrossingBlob = { data: Uint8Array | null; file: { file: string; size: number } | null };

/** `stored`: somebody can look at it all the same, so its file stays. */
export type Refused = Refusal & { stored?: true };

/** Learns what is to be known of a message while its octets go by. */
interface Indexer<Index> {
  push(chunk: Uint8Array): void;
  end(): Index;
}

/** What both kinds of message share: bytes go to the blob and through the index at once. */
export abstract class IncomingMessage<Index extends MessageFacts> {
  protected readonly intake: IntakeDesk;
  protected readonly envelope: Envelope;
  readonly #writer: BlobWriter;
  readonly #indexer: Indexer<Index>;
  /** Kept where somebody's mail goes on. */
  readonly #head: HeaderBlock | undefined;
  #noRoom: StoreBusy | undefined;

  constructor(intake: IntakeDesk, envelope: Envelope, indexer: Indexer<Index>) {
    this.#indexer = indexer;
    this.intake = intake;
    this.envelope = envelope;
    this.#head = envelope.recipients.some(({ route: where }) => goesOn(where)) ? new HeaderBlock() : undefined;
    this.#writer = intake.options.store.files.create();
    void this.keep(Buffer.from(envelope.received));
  }

  abort(): void {
    this.#writer.abort();
  }

  protected keep(chunk: Buffer): Promise<void> | undefined {
    this.#indexer.push(chunk);
    this.#head?.push(chunk);
    if (this.#noRoom !== undefined) return undefined;
    return this.#writer.write(chunk)?.catch((error: unknown) => {
      if (!(error instanceof StoreBusy)) throw error;
      // The rest is read all the same: the answer is due at the end.
      this.#noRoom = error;
      this.abort();
    });
  }

  /** Runs the one command that makes the message exist; whatever fails leaves nothing behind. */
  protected async commit(
    write: (blob: CrossingBlob, index: Index) => Refused | Promise<Refused | undefined>,
  ): Promise<Refusal | undefined> {
    const { store } = this.intake.options;
    const index = this.#indexer.end();
    if (index.received > MOST_RECEIVED) {
      this.abort();
      return refuse(554, '5.4.6', 'Too many Received fields: this message is going round in circles');
    }
    if (this.#noRoom !== undefined) return busy(this.#noRoom);
    try {
      const blob = await this.#finished();
      const refusal: Refused | undefined = (await this.#full(index.size)) ?? (await write(crossing(blob), index));
      if (refusal !== undefined && refusal.stored !== true) this.abort();
      else if ('file' in blob) store.files.settled(blob.file);
      return refusal;
    } catch (error) {
      // Only a clear refusal proves that no row names the file. After anything else the transaction may be on disk;
      // the sweep of the next start knows.
      if (!(error instanceof StoreBusy)) throw error;
      this.abort();
      return busy(error);
    }
  }

  /**
   * No room for what came, where SIZE was left out or not true. Where there are other recipients it is taken all the
   * same: they are not to miss it, and the next message finds the mailbox full at RCPT.
   */
  async #full(size: number): Promise<Refusal | undefined> {
    const { recipients, received, size: announced = 0 } = this.envelope;
    const [only, ...more] = recipients;
    if (size - Buffer.byteLength(received) <= announced) return undefined;
    if (only === undefined || more.length > 0 || !isHere(only)) return undefined;
    const { accounts } = only.route;
    if (await this.intake.options.store.read(haveRoom, { accounts, size })) return undefined;
    return refuse(452, '4.2.2', `The mailbox of ${formatAddress(only.address)} is full`);
  }

  async #finished(): Promise<NewBlob> {
    try {
      return await this.#writer.finish();
    } catch (error) {
      this.abort();
      throw error;
    }
  }

  /** Of the header; none where nobody's mail goes on. */
  protected fields(): Field[] {
    return this.#head?.fields() ?? [];
  }

  /** How the message begins, for what looks at more than its index. */
  protected async firstOctets({ data, file }: CrossingBlob): Promise<Buffer> {
    if (file !== null) return this.intake.options.store.files.read(file.file, 0, Math.min(file.size, REPORT_MAX));
    return Buffer.from(data ?? []).subarray(0, REPORT_MAX);
  }

  /**
   * Has answers to letters of the box read, before anybody has a say in what else becomes of the message. True: it is for
   * nobody else, and nothing of it stays.
   */
  protected async answered(blob: CrossingBlob, index: MessageFacts | MessageIndex): Promise<boolean> {
    const { answers } = this.intake.options;
    const { recipients, id: trace, sender } = this.envelope;
    const to = recipients.filter(({ route: where }) => where.kind === 'answer').map(({ address }) => address);
    if (answers === undefined || to.length === 0) return false;
    const octets = await this.firstOctets(blob);
    await takeAnswers(answers, to, { trace, nullSender: sender === undefined, index: wholeIndex(index), octets });
    if (to.length < recipients.length) return false;
    this.abort();
    return true;
  }

  /** Those who get it and have nothing forwarded: one copy an account, however many of its addresses were named. */
  #deliveries(): Delivery[] {
    const { sender, recipients } = this.envelope;
    const here = recipients.filter(isHere).filter(({ route: where }) => !isForwarded(where));
    return oneEach(
      here.flatMap(({ address, route: where }) =>
        where.accounts.map((account) => deliveryTo(account, address, sender, where.aliases)),
      ),
    );
  }

  /**
   * Who gets the message, and where copies go on to; the header, which is whole by now, has a say in it.
   */
  protected async plan(known: Known): Promise<Planned | Refusal> {
    if (this.#head === undefined) return { deliveries: this.#deliveries(), onward: [], kept: [] };
    const { store } = this.intake.options;
    const { sender, recipients } = this.envelope;
    const { here, onward, lost, kept } = await this.followed(isForwarded, known);
    if (lost.length > 0) return unreached(lost, kept);
    for (const { route: where } of recipients) {
      if (where.kind !== 'return') continue;
      const back = await routeOutward(store, where.to);
      // Who wrote it may be one of ours.
      if (back.kind === 'here' || back.kind === 'full')
        here.push(...back.accounts.map((account) => deliveryTo(account, where.to, sender)));
      else onward.push(returned(where.to));
    }
    const deliveries = oneEach([...this.#deliveries(), ...here]);
    return { deliveries, onward, kept };
  }

  /** Where the forwards of some recipients lead. */
  protected async followed(whose: (where: Route) => boolean, known: Known = {}): Promise<Plan> {
    const { store, forwardKey: key, clock } = this.intake.options;
    const { sender, recipients } = this.envelope;
    const going = recipients.filter(({ route: where }) => whose(where));
    if (going.length === 0) return noPlan();
    const takers = new Map(going.map((one) => [one.address, isHere(one) ? one.route.accounts : []]));
    const mail = { sender, fields: this.fields(), key, now: clock(), takers, ...known };
    return planForwards(store, [...takers.keys()], mail);
  }

  protected countForwards({ onward, kept }: Planned): void {
    const { meter } = this.intake.options;
    if (onward.length > 0) meter.count('forwards_total', { outcome: 'sent_on' }, onward.length);
    for (const { kind } of kept) meter.count('forwards_total', { outcome: kind });
  }
}

/** Copies of what it gets go on. */
export function isForwarded(where: Route): boolean {
  return where.kind === 'forward' || (where.kind === 'here' && where.forwards === true);
}

function goesOn(where: Route): boolean {
  return where.kind === 'return' || isForwarded(where);
}

function isHere(to: Recipient): to is Recipient & { route: Route & { kind: 'here' } } {
  return to.route.kind === 'here';
}

function crossing(blob: NewBlob): CrossingBlob {
  return 'data' in blob ? { data: blob.data, file: null } : { data: null, file: blob };
}

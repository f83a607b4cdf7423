import type { Flaw } from '../smtp/data-reader.ts';
import { reply } from '../smtp/reply.ts';
import { closing, later, type Answer } from './answer.ts';
import type { Conversation, Transaction } from './conversation.ts';
import type { Envelope, MessageSink, Refusal } from './needs.ts';
import { receivedField } from './received.ts';

/** Shorter pieces are put together first, in a buffer of twice this. */
const SHORT = 2048;

/** Where the octets of one message go, and what is answered when they have all come. */
export class Incoming {
  /** Octets that came, also those that are thrown away. */
  octets = 0;
  readonly #session: Conversation;
  readonly #transaction: Transaction;
  readonly #started: number;
  #sink: MessageSink | undefined;
  /** Short pieces that wait for more: a peer that sends an octet at a time must not cost a buffer for each. */
  #held: Buffer | undefined;
  #heldSize = 0;
  #tooBig = false;

  constructor(session: Conversation, transaction: Transaction) {
    this.#session = session;
    this.#transaction = transaction;
    this.#started = session.settled.clock.monotonic();
    this.#sink = session.settled.intake.open(envelopeOf(session, transaction));
  }

  /** Takes octets of the message, or throws them away when it cannot be stored any more. Never rejects. */
  take(octets: Buffer): Promise<void> | undefined {
    this.octets += octets.length;
    if (this.octets > this.#session.settled.maxMessageBytes) {
      this.#tooBig = true;
      this.abort();
    }
    if (this.#sink === undefined || octets.length === 0) return undefined;
    const piece = this.#gather(octets);
    return piece === undefined ? undefined : this.#write(piece);
  }

  /** What may go on now, or undefined when it is too little. */
  #gather(octets: Buffer): Buffer | undefined {
    if (this.#heldSize === 0 && octets.length >= SHORT) return octets;
    const held = (this.#held ??= Buffer.allocUnsafe(2 * SHORT));
    if (this.#heldSize + octets.length > held.length) return Buffer.concat([this.#takeHeld(), octets]);
    this.#heldSize += octets.copy(held, this.#heldSize);
    return undefined;
  }

  #takeHeld(): Buffer {
    const held = this.#held?.subarray(0, this.#heldSize) ?? Buffer.alloc(0);
    this.#held = undefined;
    this.#heldSize = 0;
    return held;
  }

  #write(piece: Buffer): Promise<void> | undefined {
    return this.#sink?.write(piece)?.catch((cause: unknown) => this.#failed(cause));
  }

  /** Counts octets that are thrown away, and gives the message up. */
  spoil(octets: number): void {
    this.octets += octets;
    this.abort();
  }

  /** True when nothing of the message will be kept. */
  get lost(): boolean {
    return this.#sink === undefined;
  }

  /** The answer to the whole message. Resolves after the commit; never rejects. */
  finish(flaw: Flaw | undefined): Answer | Promise<Answer> {
    if (flaw !== undefined) return this.#refuse(flawed(flaw), flaw);
    if (this.#tooBig) {
      const { maxMessageBytes } = this.#session.settled;
      return this.#refuse(reply(552, '5.3.4', `The message is larger than ${maxMessageBytes} octets`), 'too-big');
    }
    const written = this.#heldSize === 0 ? undefined : this.#write(this.#takeHeld());
    return written === undefined ? this.#commit() : written.then(() => this.#commit());
  }

  #commit(): Answer | Promise<Answer> {
    const sink = this.#sink;
    if (sink === undefined) return this.#refuse(later, 'failed');
    this.#sink = undefined;
    return sink.finish().then(
      (outcome) => (outcome.kind === 'accepted' ? this.#accepted() : this.#refused(outcome)),
      (cause: unknown) => {
        this.#failed(cause);
        return this.#refuse(later, 'failed');
      },
    );
  }

  /** Forgets the message. Does nothing once {@link finish} has given it away. */
  abort(): void {
    this.#sink?.abort();
    this.#sink = undefined;
  }

  /** The peer went back on it, or away: what came was written all the same, and counts. */
  abandon(): void {
    this.abort();
    if (this.octets > 0) this.#tell('abandoned', 'message abandoned', undefined);
  }

  #failed(cause: unknown): void {
    const { log } = this.#session.settled;
    log.error({ message: this.#transaction.id, err: cause }, 'message could not be taken');
    this.abort();
  }

  #accepted(): Answer {
    const { door, settled } = this.#session;
    this.#tell('accepted', 'message accepted', 250);
    settled.meter.count('smtp_messages_total', { door, outcome: 'accepted' });
    settled.meter.count('smtp_message_octets_total', { door }, this.octets);
    return reply(250, '2.0.0', `Ok, it is ${this.#transaction.id}`);
  }

  #refused(refusal: Refusal): Answer {
    const answer = reply(refusal.code, refusal.enhanced, refusal.text);
    return this.#refuse(answer, refusal.code < 500 ? 'deferred' : 'rejected');
  }

  #refuse(answer: Answer, outcome: string): Answer {
    this.abort();
    this.#tell(outcome, 'message refused', answer.code);
    this.#session.settled.meter.count('smtp_messages_total', { door: this.#session.door, outcome });
    return answer;
  }

  /** `code`: what it was answered with, if it came to that. */
  #tell(outcome: string, text: string, code: number | undefined): void {
    const { door, peer, settled } = this.#session;
    if (door === 'mx') settled.guard.arrived(peer.ip, this.octets, code === 250);
    settled.log.info(
      {
        message: this.#transaction.id,
        door,
        ip: peer.ip,
        outcome,
        code,
        octets: this.octets,
        recipients: this.#transaction.recipients.length,
        ms: Math.round(settled.clock.monotonic() - this.#started),
      },
      text,
    );
  }
}

function envelopeOf(session: Conversation, transaction: Transaction): Envelope {
  const { id, sender, recipients, smtputf8, body, ret, envid, requireTls, size } = transaction;
  const { door, login, peer, tls } = session;
  const helo = session.greeting ?? '';
  const received = receivedField({
    id,
    helo,
    ip: peer.ip,
    hostname: session.settled.hostname,
    extended: session.extended,
    tls,
    authenticated: login !== undefined,
    smtputf8,
    recipient: recipients.length === 1 ? recipients[0]?.address : undefined,
    at: session.settled.clock.now(),
  });
  return {
    id,
    door,
    sender,
    recipients,
    login,
    smtputf8,
    body,
    ret,
    envid,
    requireTls,
    size,
    received,
    peer: { ip: peer.ip, port: peer.port, helo, tls },
  };
}

function flawed(flaw: Flaw): Answer {
  switch (flaw) {
    // The connection closes with what the client has already sent on it: behind a false line end another server may
    // see commands in what we read as text.
    case 'bare-cr':
      return closing(550, '5.6.11', 'The message has a CR without LF; lines end in CRLF');
    case 'bare-lf':
      return closing(550, '5.6.11', 'The message has an LF without CR; lines end in CRLF');
    case 'nul':
      return closing(550, '5.6.11', 'The message has a NUL octet; encode binary parts in base64');
    case 'long-line':
      return reply(554, '5.6.0', 'The message has a line of more than 65536 octets');
  }
}

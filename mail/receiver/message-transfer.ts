import type { MessageFlaw } from '../smtp/data-reader.ts';
import { reply } from '../smtp/reply.ts';
import type { MessageEnvelope, MessageSink, SmtpRefusal } from './needs.ts';
import { receivedField } from './received.ts';
import { closing, internalError, type SmtpResponse } from './response.ts';
import type { MailTransaction, OpenTransfer, SmtpSessionState } from './session-state.ts';

/** Shorter pieces are collected in a buffer of twice this size. */
const SHORT = 2048;

/** Passes the octets of one message to its sink, and answers at its end. */
export class MessageTransfer implements OpenTransfer {
  /** Octets received, discarded ones included. */
  octets = 0;
  readonly #session: SmtpSessionState;
  readonly #transaction: MailTransaction;
  readonly #started: number;
  #sink: MessageSink | undefined;
  /** Collects short pieces: a peer that sends single octets must not cost a buffer for each. */
  #held: Buffer | undefined;
  #heldSize = 0;
  #tooBig = false;

  constructor(session: SmtpSessionState, transaction: MailTransaction) {
    this.#session = session;
    this.#transaction = transaction;
    this.#started = session.options.clock.monotonic();
    this.#sink = session.options.backend.open(envelopeOf(session, transaction));
  }

  /** Takes octets of the message; discards them once it cannot be stored. Never rejects. */
  take(octets: Buffer): Promise<void> | undefined {
    this.octets += octets.length;
    if (this.octets > this.#session.options.maxMessageBytes) {
      this.#tooBig = true;
      this.abort();
    }
    if (this.#sink === undefined || octets.length === 0) return undefined;
    if (this.#heldSize === 0 && octets.length >= SHORT) return this.#write(octets);
    const held = (this.#held ??= Buffer.allocUnsafe(2 * SHORT));
    if (this.#heldSize + octets.length > held.length) return this.#write(Buffer.concat([this.#takeHeld(), octets]));
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
    return this.#sink?.write(piece)?.catch((cause: unknown) => this.#fail(cause));
  }

  /** Counts octets and discards the whole message. */
  discard(octets: number): void {
    this.octets += octets;
    this.abort();
  }

  /** True when nothing of the message will be stored. */
  get discarded(): boolean {
    return this.#sink === undefined;
  }

  /** Answers the whole message. Resolves after the commit; never rejects. */
  finish(flaw: MessageFlaw | undefined): SmtpResponse | Promise<SmtpResponse> {
    if (flaw !== undefined) return this.#refuse(refuseFlaw(flaw), flaw);
    if (this.#tooBig) {
      const { maxMessageBytes } = this.#session.options;
      return this.#refuse(reply(552, '5.3.4', `The message is larger than ${maxMessageBytes} octets`), 'too-big');
    }
    const written = this.#heldSize === 0 ? undefined : this.#write(this.#takeHeld());
    return written === undefined ? this.#commit() : written.then(() => this.#commit());
  }

  async #commit(): Promise<SmtpResponse> {
    const sink = this.#sink;
    if (sink === undefined) return this.#refuse(internalError, 'failed');
    this.#sink = undefined; // from here on the message is the backend's
    try {
      const outcome = await sink.finish();
      return outcome.kind === 'accepted' ? this.#accept() : this.#refuseAs(outcome);
    } catch (cause) {
      this.#fail(cause);
      return this.#refuse(internalError, 'failed');
    }
  }

  /** Discards the message. Does nothing once {@link finish} has passed it on. */
  abort(): void {
    this.#sink?.abort();
    this.#sink = undefined;
  }

  /** Discards a message that the peer did not complete, and counts what was received of it. */
  abandon(): void {
    this.abort();
    if (this.octets > 0) this.#record('abandoned', 'message abandoned', undefined);
  }

  #fail(cause: unknown): void {
    const { log } = this.#session.options;
    log.error({ message: this.#transaction.id, err: cause }, 'failed to receive message');
    this.abort();
  }

  #accept(): SmtpResponse {
    const { service, options } = this.#session;
    this.#record('accepted', 'message accepted', 250);
    options.meter.count('smtp_messages_total', { service, outcome: 'accepted' });
    options.meter.count('smtp_message_octets_total', { service }, this.octets);
    return reply(250, '2.0.0', `Ok, queued as ${this.#transaction.id}`);
  }

  #refuseAs({ code, enhanced, text }: SmtpRefusal): SmtpResponse {
    return this.#refuse(reply(code, enhanced, text), code < 500 ? 'deferred' : 'rejected');
  }

  #refuse(response: SmtpResponse, outcome: string): SmtpResponse {
    const { service, options } = this.#session;
    this.abort();
    this.#record(outcome, 'message refused', response.code);
    options.meter.count('smtp_messages_total', { service, outcome });
    return response;
  }

  /** Logs the outcome. `code` is undefined where nothing was answered. */
  #record(outcome: string, text: string, code: number | undefined): void {
    const { service, peer, options } = this.#session;
    if (service === 'mx') options.guard.countMessage(peer.ip, this.octets, code === 250);
    options.log.info(
      {
        message: this.#transaction.id,
        service,
        ip: peer.ip,
        outcome,
        code,
        octets: this.octets,
        recipients: this.#transaction.recipients.length,
        ms: Math.round(options.clock.monotonic() - this.#started),
      },
      text,
    );
  }
}

function envelopeOf(session: SmtpSessionState, transaction: MailTransaction): MessageEnvelope {
  const { id, sender, recipients, smtputf8, body, ret, envid, requireTls, size } = transaction;
  const { service, login, peer, tls, options } = session;
  const helo = session.greeting ?? '';
  const received = receivedField({
    id,
    helo,
    ip: peer.ip,
    hostname: options.hostname,
    extended: session.extended,
    tls,
    authenticated: login !== undefined,
    smtputf8,
    recipient: recipients.length === 1 ? recipients[0]?.address : undefined,
    at: options.clock.now(),
  });
  return {
    id,
    service,
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

function refuseFlaw(flaw: MessageFlaw): SmtpResponse {
  switch (flaw) {
    // The connection closes with everything the client has already sent: behind a false end of data, another server may
    // see commands in what we read as text (SMTP smuggling, CVE-2023-51764).
    case 'bare-cr':
      return closing(550, '5.6.11', 'Rejected: the message has a CR without LF. Lines end in CRLF');
    case 'bare-lf':
      return closing(550, '5.6.11', 'Rejected: the message has an LF without CR. Lines end in CRLF');
    case 'nul':
      return closing(550, '5.6.11', 'Rejected: the message has a NUL octet. Encode binary parts in base64');
    case 'long-line':
      return reply(554, '5.6.0', 'Rejected: the message has a line of more than 65536 octets');
  }
}

import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { Login } from '../login/types.ts';
import { LineReader } from '../smtp/line-reader.ts';
import { formatReply, reply } from '../smtp/reply.ts';
import { ServerConnection } from './connection.ts';
import { isOverdue, type PendingEvent } from './deadline.ts';
import type { ResolvedReceiverOptions, SmtpService } from './options.ts';
import { closing, internalError, type NextInput, type OctetInput, refuseLine, type SmtpResponse } from './response.ts';
import { runCommand } from './run-command.ts';
import {
  discardPlaintextState,
  type MailTransaction,
  resetTransaction,
  type SessionCounters,
  type SmtpSessionState,
} from './session-state.ts';

/** `banner`: nothing is written yet. `closing`: the last response is written, the peer may still be sending. */
type Phase = 'banner' | 'handshake' | 'open' | 'closing' | 'closed';

const CLASSES = ['', '', '2', '3', '4', '5'];
const tooLong = refuseLine('too-long');
const shuttingDown = closing(421, '4.3.2', 'Server is shutting down, try again later');
const revoked = closing(421, '4.7.0', 'This login has been revoked or has expired');

/** Privileges of a peer by its address. */
export interface PeerTrust {
  /** Exempt from connection and rate limits. */
  trusted: boolean;
  /** Passwords may be sent in plaintext. */
  secure: boolean;
}

/**
 * One SMTP session: its state, and the one loop that reads, responds, counts and closes. Commands decide the responses
 * and never touch the socket.
 */
export class SmtpSession implements SmtpSessionState {
  readonly options: ResolvedReceiverOptions;
  readonly service: SmtpService;
  readonly peer: ServerConnection;
  readonly trusted: boolean;
  tls = false;
  secure: boolean;
  greeting: string | undefined;
  extended = false;
  login: Login | undefined;
  /** Account by which this connection is counted; undefined: by its address. */
  countedAccount: number | undefined;
  transaction: MailTransaction | undefined;
  readonly counters: SessionCounters = {
    transactions: 0,
    failedRecipients: 0,
    deferredRecipients: 0,
    protocolErrors: 0,
    idleCommands: 0,
    failedLogins: 0,
  };

  #phase: Phase = 'banner';
  readonly #lines = new LineReader();
  /** Responses not written yet: those to pipelined commands go out together. RFC 2920 3.2. */
  #out = '';
  #input: OctetInput | undefined;
  #exchange: Extract<NextInput, { kind: 'line' }> | undefined;
  /** A response is pending: nothing is read before it is written. */
  #busy = false;
  #greeted = false;
  /** Written as soon as no message is in transfer. */
  #finalResponse: SmtpResponse | undefined;
  readonly #connected: number;
  #since: number;
  #timer: NodeJS.Timeout | undefined;
  #unsubscribe: (() => void) | undefined;
  readonly #onClosed: (session: SmtpSession) => void;

  constructor(
    socket: Socket,
    service: SmtpService,
    options: ResolvedReceiverOptions,
    trust: PeerTrust,
    onClosed: (session: SmtpSession) => void,
  ) {
    this.options = options;
    this.service = service;
    this.trusted = trust.trusted;
    this.secure = trust.secure;
    this.#onClosed = onClosed;
    this.#connected = this.#since = options.clock.monotonic();
    this.peer = new ServerConnection(socket, {
      octets: (chunk) => this.#read(chunk),
      secured: () => this.#secured(),
      changed: () => this.#changed(),
      failed: (code) => this.#failed(code),
      closed: () => this.#closed(),
    });
  }

  /** Begins with the handshake when there is a context, else with the banner. */
  start(context: SecureContext | undefined): void {
    if (context !== undefined) return this.#encrypt(context);
    const delayMs = this.service === 'mx' && !this.trusted ? this.options.limits.bannerDelayMs : 0;
    if (delayMs === 0) return this.#greet();
    this.#timer = setTimeout(() => this.#greet(), delayMs);
  }

  /** Ends the session when a deadline has passed. Called about once a second. */
  sweep(now: number, stressed: boolean): void {
    const pending = this.#pending();
    const flood = this.#input !== undefined && this.#input.octets > 10 * this.options.maxMessageBytes;
    if (!flood && !isOverdue(pending, now, this.options.limits, stressed)) return;
    if (pending.for !== 'end') this.#countTimeout(pending.for);
    if (pending.for === 'command' || pending.for === 'octets')
      this.#closeWith(closing(421, '4.4.2', 'Timeout, closing'));
    else this.peer.destroy();
  }

  #countTimeout(at: string): void {
    const { guard, meter } = this.options;
    meter.count('smtp_timeouts_total', { at });
    // A peer that never began a message or a login held a connection for nothing.
    if (this.login === undefined && this.counters.transactions === 0) guard.addOffence(this.peer.ip, 'loitering');
  }

  /** Ends the session as soon as no message is in transfer. */
  shutDown(): void {
    if (this.#phase === 'handshake') return this.peer.destroy();
    this.#finalResponse = shuttingDown;
    this.#changed();
  }

  logIn(login: Login): void {
    this.login = login;
    const { guard } = this.options;
    if (this.countedAccount === undefined && guard.logIn('smtp', this.peer.ip, login.account)) {
      this.countedAccount = login.account;
    }
    this.#unsubscribe = this.options.logins.onRevoked(login, () => {
      this.#finalResponse = revoked;
      // A commit under way gets its response first; a message that is still coming in is discarded.
      if (!this.#busy || this.#input !== undefined) this.#closeWith(revoked);
    });
  }

  // The loop.

  #read(chunk: Buffer): void {
    if (this.#phase === 'closing' || this.#phase === 'closed') return;
    // RFC 5321 4.3.1: the client waits for the banner. A peer that does not is a script, or another protocol's client.
    if (this.#phase === 'banner') return this.#refuseEarlyTalker();
    this.#lines.push(chunk);
    if (this.#busy || this.peer.blocked) this.peer.pause();
    else this.#pump();
  }

  #refuseEarlyTalker(): void {
    this.options.guard.addOffence(this.peer.ip, 'scans');
    this.#closeWith(closing(554, '5.5.1', 'Wait for the banner'));
  }

  #changed(): void {
    this.#since = this.options.clock.monotonic();
    if (!this.#busy) this.#pump();
  }

  #pump(): void {
    try {
      while (this.#phase === 'open' && !this.#busy && !this.peer.blocked) {
        if (this.#finalResponse !== undefined && this.#isIdle()) break;
        if (this.#input === undefined ? !this.#takeLine() : !this.#takeOctets(this.#input)) break;
      }
    } catch (err) {
      return this.#respondToError(err);
    }
    if (this.#busy) {
      // A promise that resolves at once comes back before this, and then all responses are written together.
      if (this.#out !== '') setImmediate(this.#flush);
    } else this.#drain();
  }

  /** Writes the pending responses when all input is handled. */
  #drain(): void {
    if (this.#finalResponse !== undefined && this.#isIdle()) this.#respond(this.#finalResponse);
    this.#flush();
    if (this.peer.blocked) return;
    if (this.peer.ended) this.#finish();
    this.peer.resume();
  }

  #takeLine(): boolean {
    const { lineOctets, authLineOctets } = this.options.limits;
    const mayLogIn = this.service === 'submission' && this.login === undefined;
    const line = this.#lines.line(mayLogIn ? authLineOctets : lineOctets);
    if (line === undefined) return false;
    const exchange = this.#exchange;
    this.#exchange = undefined;
    if (typeof line !== 'string') this.#await(refuseLine(line.flaw));
    else if (line.length + 2 > lineOctets && exchange === undefined && !/^AUTH /i.test(line)) this.#await(tooLong);
    else this.#await(exchange === undefined ? runCommand(this, line) : exchange.take(line));
    return true;
  }

  #takeOctets(input: OctetInput): boolean {
    if (input.ended) {
      this.#input = undefined;
      this.#await(input.finish());
      return true;
    }
    const octets = this.#lines.take();
    if (octets === undefined) return false;
    const { limits, clock } = this.options;
    const before = input.octets;
    const written = input.feed(octets);
    // Octets extend the deadline of the message.
    const earnedMs = ((input.octets - before) / limits.octetsPerSecond) * 1000;
    this.#since = Math.min(clock.monotonic(), this.#since + earnedMs);
    if (input.rest !== undefined) this.#lines.push(input.rest);
    if (written !== undefined) this.#waitForDisk(written);
    return true;
  }

  #waitForDisk(written: Promise<void>): void {
    const from = this.options.clock.monotonic();
    this.#busy = true;
    void written.then(() => {
      this.#busy = false;
      this.#since += this.options.clock.monotonic() - from; // our slow disk must not time out the peer
      this.#pump();
    });
  }

  #await(response: SmtpResponse | Promise<SmtpResponse>): void {
    if (!(response instanceof Promise)) return this.#respond(response);
    this.#busy = true;
    response.then(this.#onResponse, this.#onCommandError);
  }

  readonly #onResponse = (response: SmtpResponse): void => {
    this.#busy = false;
    this.#respond(response);
    this.#pump();
  };

  /** Handles an exception like a rejected promise. Within a message it closes: where the message ends is unknown then. */
  #respondToError(err: unknown): void {
    if (this.#input === undefined) return this.#onCommandError(err);
    this.options.log.error({ message: this.transaction?.id, ip: this.peer.ip, err }, 'failed to read message');
    this.#closeWith(closing(421, '4.3.0', 'Internal error, try again later'));
  }

  readonly #onCommandError = (err: unknown): void => {
    this.options.log.error({ message: this.transaction?.id, ip: this.peer.ip, err }, 'failed to run command');
    this.#onResponse(internalError);
  };

  #respond(response: SmtpResponse): void {
    if (this.#phase === 'closing' || this.#phase === 'closed') return;
    if (response.delayMs !== undefined) return this.#respondAfter(response, response.delayMs);
    const checked = this.#replaceUnsafe(response);
    if (checked.code !== 0) {
      this.#out += formatReply(checked, this.transaction?.smtputf8);
      const replyClass = CLASSES[(checked.code / 100) | 0]!;
      this.options.meter.count('smtp_replies_total', { service: this.service, class: replyClass });
    }
    // The response to a chunk does not restart the clock, or a message in tiny chunks could take forever.
    if (!this.#isMidMessage()) this.#since = this.options.clock.monotonic();
    if (checked.next !== undefined) this.#continue(checked.next);
  }

  #respondAfter({ delayMs: _, ...response }: SmtpResponse, delayMs: number): void {
    this.#busy = true;
    this.#timer = setTimeout(() => this.#onResponse(response), delayMs);
  }

  #continue(next: NextInput): void {
    if (next.kind === 'octets') this.#input = next.input;
    else if (next.kind === 'line') this.#exchange = next;
    else if (next.kind === 'start-tls') this.#encrypt(next.context);
    else this.#finish();
  }

  #replaceUnsafe(response: SmtpResponse): SmtpResponse {
    // CVE-2011-0411: plaintext sent behind STARTTLS must never be read as if it had been encrypted.
    if (response.next?.kind === 'start-tls' && (this.#lines.buffered > 0 || this.peer.unread)) {
      return closing(554, '5.5.1', 'Wait for the response to STARTTLS');
    }
    return this.#hasTooManyErrors(response) ? closing(421, '4.7.0', 'Too many errors') : response;
  }

  /** Counts syntax and sequence errors; refused mail is no error of the peer. */
  #hasTooManyErrors({ code }: SmtpResponse): boolean {
    if (code < 500 || code > 504) return false;
    this.counters.protocolErrors += 1;
    if (this.counters.protocolErrors < this.options.limits.protocolErrors) return false;
    if (this.login === undefined) this.options.guard.addOffence(this.peer.ip, 'scans');
    return true;
  }

  readonly #flush = (): void => {
    if (this.#out === '' || this.#phase === 'closed') return;
    const out = this.#out;
    this.#out = '';
    this.peer.write(out);
  };

  // Start, encryption and end.

  #greet(): void {
    this.#phase = 'open';
    this.#greeted = true;
    this.#respond(reply(220, '', `${this.options.hostname} ESMTP`));
    this.#pump();
  }

  #encrypt(context: SecureContext): void {
    this.#flush();
    this.#phase = 'handshake';
    this.#since = this.options.clock.monotonic();
    this.peer.encrypt(context, (name) => this.options.secureContext(name));
  }

  #secured(): void {
    this.options.meter.count('smtp_handshakes_total', { outcome: 'done' });
    this.tls = this.secure = true;
    discardPlaintextState(this);
    if (!this.#greeted) return this.#greet();
    this.#phase = 'open';
    this.#changed();
  }

  #closeWith(response: SmtpResponse): void {
    this.#respond(response);
    this.#flush();
  }

  #finish(): void {
    if (this.#phase === 'closing' || this.#phase === 'closed') return;
    this.#flush();
    this.#phase = 'closing';
    this.#since = this.options.clock.monotonic();
    this.#release();
    this.peer.resume();
    this.peer.end();
  }

  #failed(code: string | undefined): void {
    if (this.#phase === 'handshake') this.options.meter.count('smtp_handshakes_total', { outcome: 'failed' });
    this.options.log.debug({ service: this.service, ip: this.peer.ip, code }, 'connection failed');
  }

  #closed(): void {
    if (this.#phase === 'closed') return;
    this.#release();
    this.#phase = 'closed';
    this.#onClosed(this);
  }

  /** Discards a message that is still coming in. One that was passed to `finish` belongs to the backend. */
  #release(): void {
    clearTimeout(this.#timer);
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    resetTransaction(this);
    this.#input = undefined;
    this.#lines.drop();
  }

  /** True if a part of a message was received by BDAT. */
  #isMidMessage(): boolean {
    const { chunks, transfer } = this.transaction ?? {};
    return chunks !== undefined && transfer !== undefined && transfer.octets > 0;
  }

  #isIdle(): boolean {
    return this.#input === undefined && this.transaction?.transfer === undefined;
  }

  #pending(): PendingEvent {
    const since = this.#since;
    if (this.#phase === 'closing' || this.#phase === 'closed') return { for: 'end', since };
    if (this.#phase === 'handshake') return { for: 'handshake', since };
    if (this.peer.blocked) return { for: 'reader', since };
    if (this.#busy) return { for: 'us' };
    if (this.#input !== undefined) return { for: 'octets', since };
    return { for: 'command', since, connected: this.#connected, trusted: this.trusted };
  }
}

import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { Login } from '../login/types.ts';
import { LineReader } from '../smtp/line-reader.ts';
import { formatReply, reply } from '../smtp/reply.ts';
import { closing, flawedLine, later, type Answer, type Body, type Next } from './answer.ts';
import { Connection } from './connection.ts';
import { forgetPlaintext, resetTransaction, type Conversation, type Tally, type Transaction } from './conversation.ts';
import { isOverdue, type Waiting } from './deadline.ts';
import { dispatch } from './dispatch.ts';
import type { Door, Settled } from './options.ts';

/** `banner`: nothing is said yet. `closing`: everything is said, the peer may still be sending. */
type Phase = 'banner' | 'handshake' | 'talking' | 'closing' | 'closed';

const CLASSES = ['', '', '2', '3', '4', '5'];
const tooLong = flawedLine('too-long');
const goingDown = closing(421, '4.3.2', 'Going down, try again later');
const revoked = closing(421, '4.7.0', 'This login has been revoked or has expired');

/** How far a peer is trusted by where it comes from. */
export interface Standing {
  /** Not limited in connections and pace. */
  trusted: boolean;
  /** Passwords may pass in the clear. */
  secure: boolean;
}

/**
 * One SMTP session: its state, and the one loop that reads, answers, counts and closes. What is answered is decided in
 * `commands/`; nothing there touches the socket.
 */
export class Session implements Conversation {
  readonly settled: Settled;
  readonly door: Door;
  readonly peer: Connection;
  readonly trusted: boolean;
  tls = false;
  secure: boolean;
  greeting: string | undefined;
  extended = false;
  login: Login | undefined;
  transaction: Transaction | undefined;
  readonly tally: Tally = {
    transactions: 0,
    failedRecipients: 0,
    postponedRecipients: 0,
    protocolErrors: 0,
    idleCommands: 0,
    failedLogins: 0,
  };

  #phase: Phase = 'banner';
  readonly #input = new LineReader();
  /** Answers that are not written yet: those to pipelined commands go out together. RFC 2920 3.2. */
  #out = '';
  #body: Body | undefined;
  #exchange: Extract<Next, { kind: 'line' }> | undefined;
  /** An answer is promised: nothing more is read before it is said. */
  #busy = false;
  #greeted = false;
  /** What is said once no message is being taken. */
  #farewell: Answer | undefined;
  readonly #connected: number;
  #since: number;
  #timer: NodeJS.Timeout | undefined;
  #unsubscribe: (() => void) | undefined;
  readonly #onClosed: (session: Session) => void;

  constructor(socket: Socket, door: Door, settled: Settled, standing: Standing, onClosed: (session: Session) => void) {
    this.settled = settled;
    this.door = door;
    this.trusted = standing.trusted;
    this.secure = standing.secure;
    this.#onClosed = onClosed;
    this.#connected = this.#since = settled.clock.monotonic();
    this.peer = new Connection(socket, {
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
    const delayMs = this.door === 'mx' && !this.trusted ? this.settled.limits.bannerDelayMs : 0;
    if (delayMs === 0) return this.#greet();
    this.#timer = setTimeout(() => this.#greet(), delayMs);
  }

  /** Ends the session when its peer has been waited for too long. Called about once a second. */
  sweep(now: number, stressed: boolean): void {
    const waiting = this.#waiting();
    const flood = this.#body !== undefined && this.#body.octets > 10 * this.settled.maxMessageBytes;
    if (!flood && !isOverdue(waiting, now, this.settled.limits, stressed)) return;
    if (waiting.for !== 'end') this.#tooSlow(waiting.for);
    if (waiting.for === 'command' || waiting.for === 'octets') this.#bye(closing(421, '4.4.2', 'Too slow, closing'));
    else this.peer.destroy();
  }

  #tooSlow(at: string): void {
    const { guard, meter } = this.settled;
    meter.count('smtp_timeouts_total', { at });
    // Who never came to a message or a login held a place for nothing.
    if (this.login === undefined && this.tally.transactions === 0) guard.offended(this.peer.ip, 'loitering');
  }

  /** Ends the session as soon as no message is being taken. */
  leave(): void {
    if (this.#phase === 'handshake') return this.peer.destroy();
    this.#farewell = goingDown;
    this.#changed();
  }

  enter(login: Login): void {
    this.login = login;
    this.#unsubscribe = this.settled.logins.onRevoked(login, () => {
      this.#farewell = revoked;
      // What is being committed gets its answer first; what is still coming in is dropped.
      if (!this.#busy || this.#body !== undefined) this.#bye(revoked);
    });
  }

  // The loop.

  #read(chunk: Buffer): void {
    if (this.#phase === 'closing' || this.#phase === 'closed') return;
    // RFC 5321 4.3.1: the client waits for the banner. Who does not is a script, or what another protocol's client was
    // made to send.
    if (this.#phase === 'banner') return this.#earlyTalker();
    this.#input.push(chunk);
    if (this.#busy || this.peer.blocked) this.peer.pause();
    else this.#pump();
  }

  #earlyTalker(): void {
    this.settled.guard.offended(this.peer.ip, 'scans');
    this.#bye(closing(554, '5.5.1', 'Wait for the banner'));
  }

  #changed(): void {
    this.#since = this.settled.clock.monotonic();
    if (!this.#busy) this.#pump();
  }

  #pump(): void {
    try {
      while (this.#phase === 'talking' && !this.#busy && !this.peer.blocked) {
        if (this.#farewell !== undefined && this.#isIdle()) break;
        if (this.#body === undefined ? !this.#takeLine() : !this.#takeOctets(this.#body)) break;
      }
    } catch (err) {
      return this.#broken(err);
    }
    if (this.#busy) {
      // A promise that is kept at once comes back before this, and then everything is written together.
      if (this.#out !== '') setImmediate(this.#flush);
    } else this.#rest();
  }

  /** Nothing more can be done with what has come. */
  #rest(): void {
    if (this.#farewell !== undefined && this.#isIdle()) this.#say(this.#farewell);
    this.#flush();
    if (this.peer.blocked) return;
    if (this.peer.ended) this.#finish();
    this.peer.resume();
  }

  #takeLine(): boolean {
    const { lineOctets, authLineOctets } = this.settled.limits;
    const mayLogIn = this.door === 'submission' && this.login === undefined;
    const line = this.#input.line(mayLogIn ? authLineOctets : lineOctets);
    if (line === undefined) return false;
    const exchange = this.#exchange;
    this.#exchange = undefined;
    if (typeof line !== 'string') this.#settle(flawedLine(line.flaw));
    else if (line.length + 2 > lineOctets && exchange === undefined && !/^AUTH /i.test(line)) this.#settle(tooLong);
    else this.#settle(exchange === undefined ? dispatch(this, line) : exchange.take(line));
    return true;
  }

  #takeOctets(body: Body): boolean {
    if (body.ended) {
      this.#body = undefined;
      this.#settle(body.finish());
      return true;
    }
    const octets = this.#input.take();
    if (octets === undefined) return false;
    const before = body.octets;
    const written = body.feed(octets);
    this.#earn(body.octets - before);
    const rest = body.rest();
    if (rest !== undefined) this.#input.push(rest);
    if (written !== undefined) this.#waitFor(written);
    return true;
  }

  /** Time for octets that came. */
  #earn(octets: number): void {
    const { limits, clock } = this.settled;
    this.#since = Math.min(clock.monotonic(), this.#since + (octets / limits.octetsPerSecond) * 1000);
  }

  #waitFor(written: Promise<void>): void {
    const from = this.settled.clock.monotonic();
    this.#busy = true;
    void written.then(() => {
      this.#busy = false;
      this.#since += this.settled.clock.monotonic() - from; // a slow disk of ours is not a slow peer
      this.#pump();
    });
  }

  #settle(answer: Answer | Promise<Answer>): void {
    if (!(answer instanceof Promise)) return this.#say(answer);
    this.#busy = true;
    answer.then(this.#sayLater, this.#sayFailed);
  }

  readonly #sayLater = (answer: Answer): void => {
    this.#busy = false;
    this.#say(answer);
    this.#pump();
  };

  /** What was thrown at a command is answered like a promise that was broken; within a message nothing is sure any more. */
  #broken(err: unknown): void {
    if (this.#body === undefined) return this.#sayFailed(err);
    this.settled.log.error({ message: this.transaction?.id, ip: this.peer.ip, err }, 'session failed');
    this.#bye(closing(421, '4.3.0', 'Something went wrong here, try again later'));
  }

  readonly #sayFailed = (err: unknown): void => {
    this.settled.log.error({ message: this.transaction?.id, ip: this.peer.ip, err }, 'command failed');
    this.#sayLater(later);
  };

  #say(answer: Answer): void {
    if (this.#phase === 'closing' || this.#phase === 'closed') return;
    if (answer.delayMs !== undefined) return this.#sayAfter(answer, answer.delayMs);
    const said = this.#vet(answer);
    if (said.code !== 0) {
      this.#out += formatReply(said, this.transaction?.smtputf8);
      this.settled.meter.count('smtp_replies_total', { door: this.door, class: CLASSES[(said.code / 100) | 0]! });
    }
    // The answer to a chunk is no new beginning, or a message in very small ones could take for ever.
    if (!this.#isMidMessage()) this.#since = this.settled.clock.monotonic();
    if (said.next !== undefined) this.#go(said.next);
  }

  #sayAfter({ delayMs: _, ...answer }: Answer, delayMs: number): void {
    this.#busy = true;
    this.#timer = setTimeout(() => this.#sayLater(answer), delayMs);
  }

  #go(next: Next): void {
    if (next.kind === 'octets') this.#body = next.body;
    else if (next.kind === 'line') this.#exchange = next;
    else if (next.kind === 'start-tls') this.#encrypt(next.context);
    else this.#finish();
  }

  #vet(answer: Answer): Answer {
    // CVE-2011-0411: what was sent in the clear behind STARTTLS must never be read as if it had been encrypted.
    if (answer.next?.kind === 'start-tls' && (this.#input.waiting > 0 || this.peer.unread)) {
      return closing(554, '5.5.1', 'Wait for the answer to STARTTLS');
    }
    return this.#tooManyErrors(answer) ? closing(421, '4.7.0', 'Too many errors') : answer;
  }

  /** Syntax and sequence errors count; refused mail is no error of the peer. */
  #tooManyErrors({ code }: Answer): boolean {
    if (code < 500 || code > 504) return false;
    this.tally.protocolErrors += 1;
    if (this.tally.protocolErrors < this.settled.limits.protocolErrors) return false;
    if (this.login === undefined) this.settled.guard.offended(this.peer.ip, 'scans');
    return true;
  }

  readonly #flush = (): void => {
    if (this.#out === '' || this.#phase === 'closed') return;
    const out = this.#out;
    this.#out = '';
    this.peer.write(out);
  };

  // Beginning, encryption and end.

  #greet(): void {
    this.#phase = 'talking';
    this.#greeted = true;
    this.#say(reply(220, '', `${this.settled.hostname} ESMTP`));
    this.#pump();
  }

  #encrypt(context: SecureContext): void {
    this.#flush();
    this.#phase = 'handshake';
    this.#since = this.settled.clock.monotonic();
    this.peer.encrypt(context);
  }

  #secured(): void {
    this.settled.meter.count('smtp_handshakes_total', { outcome: 'done' });
    this.tls = this.secure = true;
    forgetPlaintext(this);
    if (!this.#greeted) return this.#greet();
    this.#phase = 'talking';
    this.#changed();
  }

  #bye(answer: Answer): void {
    this.#say(answer);
    this.#flush();
  }

  #finish(): void {
    if (this.#phase === 'closing' || this.#phase === 'closed') return;
    this.#flush();
    this.#phase = 'closing';
    this.#since = this.settled.clock.monotonic();
    this.#forget();
    this.peer.resume();
    this.peer.end();
  }

  #failed(code: string | undefined): void {
    if (this.#phase === 'handshake') this.settled.meter.count('smtp_handshakes_total', { outcome: 'failed' });
    this.settled.log.debug({ door: this.door, ip: this.peer.ip, code }, 'connection failed');
  }

  #closed(): void {
    if (this.#phase === 'closed') return;
    this.#forget();
    this.#phase = 'closed';
    this.#onClosed(this);
  }

  /** Forgets a message that is still coming in. One that was given to `finish` is the store's. */
  #forget(): void {
    clearTimeout(this.#timer);
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    resetTransaction(this);
    this.#body = undefined;
    this.#input.drop();
  }

  /** Some of a message has come by BDAT. */
  #isMidMessage(): boolean {
    const { chunks, incoming } = this.transaction ?? {};
    return chunks !== undefined && incoming !== undefined && incoming.octets > 0;
  }

  #isIdle(): boolean {
    return this.#body === undefined && this.transaction?.incoming === undefined;
  }

  #waiting(): Waiting {
    const since = this.#since;
    if (this.#phase === 'closing' || this.#phase === 'closed') return { for: 'end', since };
    if (this.#phase === 'handshake') return { for: 'handshake', since };
    if (this.peer.blocked) return { for: 'reader', since };
    if (this.#busy) return { for: 'us' };
    if (this.#body !== undefined) return { for: 'octets', since };
    return { for: 'command', since, connected: this.#connected, trusted: this.trusted };
  }
}

import { DotStuffer } from '../smtp/dot-stuff.ts';
import type { ServerReply } from '../smtp/reply-reader.ts';
import type { TlsResult } from '../store/tls-result.ts';
import type { Answer, Connection } from './connection.ts';
import type { Host } from './destination.ts';
import type { Timeouts } from './limits.ts';
import type { Offers } from './offers.ts';
import type { TlsWish } from './tls-policy/policy.ts';
import { cannotTake, commandsOf, type Outgoing, type Transaction, type TransactionResult } from './transaction.ts';
import { deferred, failed, lostVerdict, recipientVerdict, verdictOf, type Verdict } from './verdict.ts';

/** How a session is protected. */
export interface Protection {
  /** Version, cipher, how verified; or `none`. For people. */
  text: string;
  /** The wish that it was opened for. */
  wish: TlsWish;
  /** Of opening it. */
  results: readonly TlsResult[];
}

/** A greeted connection over which messages go one after the other. Never throws; one transaction at a time. */
export class Session {
  readonly host: Host;
  readonly protection: Protection;
  /** What opening it came to, for TLS-RPT; who records it takes it away. */
  tlsResults: TlsResult[];
  readonly offers: Offers;
  /** Why a message could not be read to its end; the session is over then. */
  fault: unknown;
  /** Transactions begun. */
  count = 0;
  readonly #connection: Connection;
  readonly #timeouts: Timeouts;
  /** RSET has to come before the next MAIL: the last transaction did not end by itself. */
  #dirty = false;

  constructor(connection: Connection, host: Host, offers: Offers, timeouts: Timeouts, protection: Protection) {
    this.#connection = connection;
    this.#timeouts = timeouts;
    this.host = host;
    this.offers = offers;
    this.protection = protection;
    this.tlsResults = [...protection.results];
  }

  /** False when the server has closed, or has said something unasked such as an idle 421. */
  get usable(): boolean {
    return !this.#connection.closed && !this.#connection.unread;
  }

  /** How it is protected, for the record of an attempt. */
  get tls(): string {
    return this.protection.text;
  }

  /** Whether a message with this wish may go over it: a session that no policy was asked for is for nobody else. */
  fits(wish: TlsWish): boolean {
    const { protection } = this;
    return wish === 'optional' || protection.wish === wish || (wish === 'policy' && protection.wish === 'required');
  }

  quit(): void {
    this.#connection.quit();
  }

  destroy(): void {
    this.#connection.destroy();
  }

  /** Sends one message. At most `offers.rcptMax` recipients. RFC 5321 3.3. */
  async transact(transaction: Transaction): Promise<TransactionResult> {
    const { offers } = this;
    this.count += 1;
    const verdicts: (Verdict | undefined)[] = transaction.recipients.map((to) =>
      cannotTake(offers, transaction, to.address),
    );
    const open = verdicts.flatMap((verdict, at) => (verdict === undefined ? [at] : []));
    const untouched = open.length > 0 && (await this.#run(transaction, open, verdicts));
    return {
      verdicts: verdicts.map((verdict) => verdict ?? deferred('4.5.0', 'the server did not answer')),
      untouched,
    };
  }

  /** Fills in the open verdicts. True when the server said nothing to any of it. */
  async #run(transaction: Transaction, open: number[], verdicts: (Verdict | undefined)[]): Promise<boolean> {
    const setAll = (verdict: Verdict): void => open.forEach((at) => (verdicts[at] ??= verdict));
    const commands = [...(this.#dirty ? ['RSET'] : []), ...commandsOf(this.offers, transaction, open)];
    const ask = this.offers.pipelining ? await this.#askTogether(commands) : this.#askSingly(commands);
    if (this.#dirty) {
      const reset = await ask();
      if (reset.kind === 'lost') return this.#lose(setAll, reset, true);
      this.#dirty = false;
    }
    const mail = await ask();
    if (mail.kind === 'lost') return this.#lose(setAll, mail, true);
    const begun = verdictOf(mail.reply);
    if (begun.outcome !== 'delivered') setAll(begun);
    if (mail.reply.code === 421) return !this.#stop(mail.reply);
    if (begun.outcome !== 'delivered' && !this.offers.pipelining) return this.#stop(mail.reply);
    let admitted = false;
    for (const at of open) {
      const rcpt = await ask();
      if (rcpt.kind === 'lost') return this.#lose(setAll, rcpt, false);
      const verdict = recipientVerdict(rcpt.reply);
      if (verdict.outcome !== 'delivered') verdicts[at] ??= verdict;
      else admitted = true;
      if (rcpt.reply.code === 421) return this.#stop(rcpt.reply, setAll);
    }
    const taken = verdicts.some((verdict) => verdict === undefined);
    if (!taken && !this.offers.pipelining) return this.#stop(mail.reply);
    const data = await ask();
    if (data.kind === 'lost') return this.#lose(setAll, data, false);
    if (data.reply.code !== 354) return this.#stop(data.reply, setAll);
    setAll(taken ? await this.#send(transaction.message) : await this.#sendNothing(admitted));
    return false;
  }

  /** Writes all commands at once and reads the answers as they are asked for. RFC 2920. */
  async #askTogether(commands: readonly string[]): Promise<() => Promise<Answer>> {
    const { command, data } = this.#timeouts;
    const lost = await this.#connection.write(Buffer.from(`${commands.join('\r\n')}\r\n`), command);
    let asked = 0;
    return () => {
      asked += 1;
      // What was answered before the connection went is still good.
      return lost !== undefined && !this.#connection.unread
        ? Promise.resolve(lost)
        : this.#connection.reply(asked === commands.length ? data : command);
    };
  }

  #askSingly(commands: readonly string[]): () => Promise<Answer> {
    const { command, data } = this.#timeouts;
    let asked = 0;
    return async () => {
      const line = commands[asked] ?? 'NOOP';
      asked += 1;
      const lost = await this.#connection.write(Buffer.from(`${line}\r\n`), command);
      return lost ?? this.#connection.reply(asked === commands.length ? data : command);
    };
  }

  async #send(message: Outgoing): Promise<Verdict> {
    try {
      const stopped = await this.#writeMessage(message);
      return stopped ?? (await this.#ending());
    } catch (error) {
      this.fault = error;
      // The message could not be read to its end. The connection goes without the final dot, so nothing was delivered.
      this.#connection.destroy();
      return deferred('4.3.0', 'the message could not be read from the store');
    }
  }

  async #writeMessage(message: Outgoing): Promise<Verdict | undefined> {
    const connection = this.#connection;
    const stuffer = new DotStuffer();
    connection.cork();
    for await (const chunk of message.chunks()) {
      const stuffed = stuffer.push(chunk);
      if (stuffed.kind === 'refused') return this.#unsendable();
      const waiting = connection.write(stuffed.octets, this.#timeouts.block);
      if (waiting === undefined) continue;
      connection.uncork();
      const lost = await waiting;
      if (connection.unread) return this.#refusedEarly();
      if (lost !== undefined) return lostVerdict(lost);
      connection.cork();
    }
    const end = stuffer.end();
    if (end.kind === 'refused') return this.#unsendable();
    const waiting = connection.write(end.octets, this.#timeouts.block);
    connection.uncork();
    const lost = await waiting;
    return lost === undefined ? undefined : lostVerdict(lost);
  }

  #unsendable(): Verdict {
    this.#connection.destroy();
    return failed('5.6.0', 'The message holds line ends that cannot be sent');
  }

  /** An answer before the end of the message can only be a refusal; the rest of the message is not wanted. */
  async #refusedEarly(): Promise<Verdict> {
    const answer = await this.#connection.reply(this.#timeouts.command);
    this.#connection.destroy();
    if (answer.kind === 'lost') return lostVerdict(answer);
    const verdict = verdictOf(answer.reply);
    return verdict.outcome === 'delivered' ? deferred('4.5.0', 'the server took the message before its end') : verdict;
  }

  async #ending(): Promise<Verdict> {
    const answer = await this.#connection.reply(this.#timeouts.end);
    // Nobody can tell whether a message whose last answer was lost has arrived: better twice than never. RFC 1047.
    if (answer.kind === 'lost') return lostVerdict(answer);
    if (answer.reply.code === 421) this.#connection.destroy();
    return verdictOf(answer.reply);
  }

  /** RFC 2920 3.1: DATA was on its way before the refusals were known; an empty message to nobody ends it. */
  async #sendNothing(admitted: boolean): Promise<Verdict> {
    // A server that refused MAIL and yet took a recipient would deliver the empty message.
    if (admitted) this.#connection.destroy();
    const lost = await this.#connection.write('.\r\n', this.#timeouts.command);
    const answer = lost ?? (await this.#connection.reply(this.#timeouts.end));
    return answer.kind === 'lost' ? lostVerdict(answer) : deferred('4.5.0', 'nobody was left to send to');
  }

  /** Ends a transaction that the server did not let through. 421 says that it closes. RFC 5321 3.8. */
  #stop(reply: ServerReply, setAll?: (verdict: Verdict) => void): false {
    const verdict = verdictOf(reply);
    setAll?.(
      verdict.outcome === 'delivered' ? deferred('4.5.0', 'the server answered out of order', reply.code) : verdict,
    );
    this.#dirty = true;
    // 1xx to 3xx where none belongs: the two sides no longer agree on what is being answered.
    if (reply.code === 421 || (setAll !== undefined && reply.code < 400)) this.#connection.destroy();
    return false;
  }

  #lose(setAll: (verdict: Verdict) => void, lost: Answer & { kind: 'lost' }, untouched: boolean): boolean {
    setAll(lostVerdict(lost));
    return untouched && !lost.late;
  }
}

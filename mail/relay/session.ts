import { DotStuffer } from '../smtp/dot-stuff.ts';
import type { ServerReply } from '../smtp/reply-reader.ts';
import type { TlsResult } from '../store/queue/tls-result.ts';
import type { ReplyResult, Connection } from './connection.ts';
import type { Host } from './destination.ts';
import type { RelayTimeouts } from './limits.ts';
import type { ServerExtensions } from './server-extensions.ts';
import type { TlsRequirement } from './tls-policy/policy.ts';
import {
  missingExtension,
  transactionCommands,
  type WireMessage,
  type Transaction,
  type TransactionResult,
} from './transaction.ts';
import { deferred, failed, lostVerdict, recipientVerdict, verdictOf, type AttemptVerdict } from './attempt-verdict.ts';

/** TLS state of a session. */
export interface SessionProtection {
  /** Version, cipher and verification, or `none`; for people. */
  text: string;
  /** TLS requirement that it was opened for. */
  requirement: TlsRequirement;
  /** TLS-RPT results of opening it. */
  results: readonly TlsResult[];
}

/** An SMTP session that sends one message after the other. Never throws; one transaction at a time. */
export class RelaySession {
  readonly host: Host;
  readonly protection: SessionProtection;
  /** TLS-RPT results of opening it; the recorder removes them. */
  tlsResults: TlsResult[];
  readonly extensions: ServerExtensions;
  /** Error while reading a message; the session is closed then. */
  fault: unknown;
  /** Started transactions. */
  count = 0;
  readonly #connection: Connection;
  readonly #timeouts: RelayTimeouts;
  /** RSET is needed before the next MAIL: the last transaction was not completed. */
  #dirty = false;

  constructor(
    connection: Connection,
    host: Host,
    offers: ServerExtensions,
    timeouts: RelayTimeouts,
    protection: SessionProtection,
  ) {
    this.#connection = connection;
    this.#timeouts = timeouts;
    this.host = host;
    this.extensions = offers;
    this.protection = protection;
    this.tlsResults = [...protection.results];
  }

  /** False if the server closed it, or sent an unsolicited reply such as an idle 421. */
  get usable(): boolean {
    return !this.#connection.closed && !this.#connection.unread;
  }

  /** TLS state for the record of an attempt. */
  get tls(): string {
    return this.protection.text;
  }

  /** True if it satisfies this TLS requirement. A session without a policy check is for `optional` only. */
  satisfies(wish: TlsRequirement): boolean {
    const { protection } = this;
    return (
      wish === 'optional' ||
      protection.requirement === wish ||
      (wish === 'policy' && protection.requirement === 'required')
    );
  }

  quit(): void {
    this.#connection.quit();
  }

  destroy(): void {
    this.#connection.destroy();
  }

  /** Sends one message. At most `offers.rcptMax` recipients. RFC 5321 3.3. */
  async transact(transaction: Transaction): Promise<TransactionResult> {
    const { extensions: offers } = this;
    this.count += 1;
    const verdicts: (AttemptVerdict | undefined)[] = transaction.recipients.map((to) =>
      missingExtension(offers, transaction, to.address),
    );
    const open = verdicts.flatMap((verdict, at) => (verdict === undefined ? [at] : []));
    const untouched = open.length > 0 && (await this.#run(transaction, open, verdicts));
    return {
      verdicts: verdicts.map((verdict) => verdict ?? deferred('4.5.0', 'no reply from the server')),
      untouched,
    };
  }

  /** Sets the open verdicts. True if the server replied to nothing. */
  async #run(transaction: Transaction, open: number[], verdicts: (AttemptVerdict | undefined)[]): Promise<boolean> {
    const setAll = (verdict: AttemptVerdict): void => open.forEach((at) => (verdicts[at] ??= verdict));
    const commands = [...(this.#dirty ? ['RSET'] : []), ...transactionCommands(this.extensions, transaction, open)];
    const nextReply = this.extensions.pipelining
      ? await this.#sendPipelined(commands)
      : this.#sendSequentially(commands);
    if (this.#dirty) {
      const reset = await nextReply();
      if (reset.kind === 'lost') return this.#lose(setAll, reset, true);
      this.#dirty = false;
    }
    const mail = await nextReply();
    if (mail.kind === 'lost') return this.#lose(setAll, mail, true);
    const mailVerdict = verdictOf(mail.reply);
    if (mailVerdict.outcome !== 'delivered') setAll(mailVerdict);
    if (mail.reply.code === 421) return !this.#stop(mail.reply);
    if (mailVerdict.outcome !== 'delivered' && !this.extensions.pipelining) return this.#stop(mail.reply);
    let rcptAccepted = false;
    for (const at of open) {
      const rcpt = await nextReply();
      if (rcpt.kind === 'lost') return this.#lose(setAll, rcpt, false);
      const verdict = recipientVerdict(rcpt.reply);
      if (verdict.outcome !== 'delivered') verdicts[at] ??= verdict;
      else rcptAccepted = true;
      if (rcpt.reply.code === 421) return this.#stop(rcpt.reply, setAll);
    }
    const hasRecipients = verdicts.some((verdict) => verdict === undefined);
    if (!hasRecipients && !this.extensions.pipelining) return this.#stop(mail.reply);
    const data = await nextReply();
    if (data.kind === 'lost') return this.#lose(setAll, data, false);
    if (data.reply.code !== 354) return this.#stop(data.reply, setAll);
    setAll(hasRecipients ? await this.#send(transaction.message) : await this.#sendNothing(rcptAccepted));
    return false;
  }

  /** Writes all commands at once; the returned function reads reply after reply. RFC 2920. */
  async #sendPipelined(commands: readonly string[]): Promise<() => Promise<ReplyResult>> {
    const { command, data } = this.#timeouts;
    const lost = await this.#connection.write(Buffer.from(`${commands.join('\r\n')}\r\n`), command);
    let sent = 0;
    return () => {
      sent += 1;
      // Replies from before the loss of the connection still count.
      return lost !== undefined && !this.#connection.unread
        ? Promise.resolve(lost)
        : this.#connection.reply(sent === commands.length ? data : command);
    };
  }

  #sendSequentially(commands: readonly string[]): () => Promise<ReplyResult> {
    const { command, data } = this.#timeouts;
    let sent = 0;
    return async () => {
      const line = commands[sent] ?? 'NOOP';
      sent += 1;
      const lost = await this.#connection.write(Buffer.from(`${line}\r\n`), command);
      return lost ?? this.#connection.reply(sent === commands.length ? data : command);
    };
  }

  async #send(message: WireMessage): Promise<AttemptVerdict> {
    try {
      const stopped = await this.#writeMessage(message);
      return stopped ?? (await this.#readFinalReply());
    } catch (error) {
      this.fault = error;
      // The message could not be read completely. Closed without the final dot, so nothing was delivered.
      this.#connection.destroy();
      return deferred('4.3.0', 'the message could not be read from the store');
    }
  }

  async #writeMessage(message: WireMessage): Promise<AttemptVerdict | undefined> {
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

  #unsendable(): AttemptVerdict {
    this.#connection.destroy();
    return failed('5.6.0', 'The message contains invalid line ends (bare CR or LF)');
  }

  /** Handles a reply before the end of the message, which can only be a rejection. */
  async #refusedEarly(): Promise<AttemptVerdict> {
    const answer = await this.#connection.reply(this.#timeouts.command);
    this.#connection.destroy();
    if (answer.kind === 'lost') return lostVerdict(answer);
    const verdict = verdictOf(answer.reply);
    return verdict.outcome === 'delivered'
      ? deferred('4.5.0', 'the server accepted the message before its end')
      : verdict;
  }

  async #readFinalReply(): Promise<AttemptVerdict> {
    const answer = await this.#connection.reply(this.#timeouts.end);
    // If the last reply is lost the message may have arrived: a duplicate is better than a loss. RFC 1047.
    if (answer.kind === 'lost') return lostVerdict(answer);
    if (answer.reply.code === 421) this.#connection.destroy();
    return verdictOf(answer.reply);
  }

  /** Ends DATA that was pipelined before all recipients were rejected: with an empty message. RFC 2920 3.1. */
  async #sendNothing(rcptAccepted: boolean): Promise<AttemptVerdict> {
    // A server that rejected MAIL but accepted a recipient would deliver the empty message.
    if (rcptAccepted) this.#connection.destroy();
    const lost = await this.#connection.write('.\r\n', this.#timeouts.command);
    const answer = lost ?? (await this.#connection.reply(this.#timeouts.end));
    return answer.kind === 'lost' ? lostVerdict(answer) : deferred('4.5.0', 'no recipient was accepted');
  }

  /** Ends a rejected transaction. 421 means that the server closes. RFC 5321 3.8. */
  #stop(reply: ServerReply, setAll?: (verdict: AttemptVerdict) => void): false {
    const verdict = verdictOf(reply);
    setAll?.(verdict.outcome === 'delivered' ? deferred('4.5.0', 'unexpected reply', reply.code) : verdict);
    this.#dirty = true;
    // Unexpected 1xx to 3xx: replies do not match commands any more.
    if (reply.code === 421 || (setAll !== undefined && reply.code < 400)) this.#connection.destroy();
    return false;
  }

  #lose(setAll: (verdict: AttemptVerdict) => void, lost: ReplyResult & { kind: 'lost' }, untouched: boolean): boolean {
    setAll(lostVerdict(lost));
    return untouched && !lost.isTimeout;
  }
}

import { createHash } from 'node:crypto';
import type { AnswerDesk } from '../delivery/answers.ts';
import { destinations, suppressedOf, UNREACHABLE } from '../delivery/destinations.ts';
import { dueMessages, type DueMessage, type Leaving, putOff, sendScheduled } from '../delivery/schedule.ts';
import type { Outgoing } from '../delivery/outgoing.ts';
import { reachedHere, reportOfSuccess } from '../delivery/success-report.ts';
import type { Log } from '../log.ts';
import { type Address, addressKey, parseAddress, textKey } from '../message/address.ts';
import { readFields } from '../message/header.ts';
import { indexMessage } from '../message/indexer.ts';
import { StoreBusy } from '../store/engine/types.ts';
import type { MailStore } from '../store/store.ts';

/** Looked at this often even when nothing says that something is due: clocks jump, and people let mail go that waited. */
const LONGEST_SLEEP_MS = 2_000;
const SHORTEST_SLEEP_MS = 50;

export interface SchedulerOptions {
  store: MailStore;
  /** Our own name. */
  hostname: string;
  clock: () => number;
  log: Log;
  /** Of the box, for what is forwarded. */
  forwardKey: Buffer;
  /** Why mail for elsewhere may not go out now; null lets it go. */
  hold: string | null;
  /** Knows where letters of the box are answered: such an answer was read when it was handed in. */
  answers?: Pick<AnswerDesk, 'meant'>;
  /** A new id, under which a report is logged and journaled. */
  traceId: () => string;
  /** Something was queued. */
  queued: () => void;
}

/** A message that cannot go yet, for a reason that its sender may know. */
class Waits extends Error {
  override readonly name = 'Waits';
}

/** Lets scheduled messages go when their time has come, late ones of a time when nothing ran first. */
export class Scheduler implements AsyncDisposable {
  readonly #options: SchedulerOptions;
  #timer: NodeJS.Timeout;
  #round: Promise<void> | undefined;
  #closing = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#timer = this.#later(SHORTEST_SLEEP_MS);
  }

  /** Everything that is due now. Answers when the next one is, ms UTC. */
  async run(): Promise<number | undefined> {
    const { store, clock } = this.#options;
    for (;;) {
      const { due, next } = await store.read(dueMessages, { now: clock() });
      for (const message of due) await this.#send(message);
      if (due.length === 0 || this.#closing) return next;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  /** One that cannot be sent must not keep back those behind it. */
  async #send(message: DueMessage): Promise<void> {
    const { store, queued, log } = this.#options;
    try {
      const done = await store.write(sendScheduled, await this.#prepare(message));
      if (done.queued) queued();
    } catch (error) {
      // The store takes nothing now, of any message.
      if (error instanceof StoreBusy) throw error;
      log.error({ err: error, message: message.trace }, 'a scheduled message could not be sent, it is tried again');
      const because = error instanceof Waits ? error.message : 'it could not be read or made ready; the log knows more';
      await store.write(putOff, { id: message.id, because });
    }
  }

  /** Rejects when it cannot go yet. */
  async #prepare(message: DueMessage): Promise<Leaving> {
    const { id, blob, size, sender, recipients, tenant, spares, signAs } = message;
    const { store, hostname, forwardKey: key, clock, hold, answers } = this.#options;
    const data = await store.blob(blob, 0, size);
    const index = indexMessage(data, store.secretLinks);
    const keys = spares ? recipients.map(textKey) : [];
    const reasons = new Map((await store.read(suppressedOf, { tenant, keys })).map((one) => [one.key, one.reason]));
    const addresses = recipients.map(parseAddress).filter((one): one is Address => one !== undefined);
    const open = addresses.filter((one) => !reasons.has(addressKey(one)));
    const fields = readFields(data.toString('latin1', 0, index.headerLength));
    const { secretLink } = index;
    const way = { key, now: clock(), hostname, answers };
    const mail = { ...way, sender: parseAddress(sender), fields, authors: signAs, secretLink };
    const suppressed = recipients.flatMap((address) => {
      const reason = reasons.get(textKey(address));
      return reason === undefined ? [] : [{ address, reason }];
    });
    const where = await destinations(store, open, mail, { late: true });
    const waits = where.unreachable.find(({ why }) => why === 'later');
    if (waits !== undefined) throw new Waits(`${waits.address} cannot be reached yet: ${UNREACHABLE.later}`);
    const wishes = new Map(message.wishes.map((wish) => [wish.recipient, wish]));
    const elsewhere = where.elsewhere.map((row) => ({ ...row, ...wishes.get(row.recipient) }));
    const report = await this.#report(message, where.local, data.subarray(0, index.headerLength));
    const sha256 = createHash('sha256').update(data).digest('hex');
    return { id, index, hold, suppressed, sha256, ...where, elsewhere, ...(report !== undefined && { report }) };
  }

  /** To who asked to be told of success, of recipients here. */
  async #report(message: DueMessage, local: readonly string[], header: Buffer): Promise<Outgoing | undefined> {
    const { store, hostname, clock, hold, traceId } = this.#options;
    const to = parseAddress(message.sender);
    const reached = await reachedHere(store, message.wishes, local);
    if (to === undefined || reached.length === 0) return undefined;
    const report = { to, envid: message.envid, header, reached, hostname, now: clock(), trace: traceId(), hold };
    return reportOfSuccess(store, report);
  }

  #later(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#round = this.run()
        .catch((error: unknown) => {
          this.#options.log.error({ err: error }, 'scheduled messages could not be sent');
          return undefined;
        })
        .then((next) => {
          const wait = next === undefined ? LONGEST_SLEEP_MS : next - this.#options.clock();
          const sleep = Math.min(LONGEST_SLEEP_MS, Math.max(SHORTEST_SLEEP_MS, wait));
          if (!this.#closing) this.#timer = this.#later(sleep);
        });
    }, ms).unref();
  }
}

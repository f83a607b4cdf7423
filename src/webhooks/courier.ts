import type { Log, Meter } from '../../mail/log.ts';
import { dueNotices, type Notice } from '../../mail/store/notice.ts';
import { forgetWebhookAttempts } from './commands.ts';
import { newsOf } from './news.ts';
import { type DueHook, dueHooks, nextNotice } from './queries.ts';
import { Recorder } from './recorder.ts';
import { Slots } from './slots.ts';
import { Teller, type TellerOptions, type Told } from './teller.ts';

/** Webhooks that wait for a slot in memory; the others wait in the store. */
const MOST_WAITING = 1_000;
/** Ends that could not be written yet: beyond, nothing more is told. */
const MOST_UNWRITTEN = 400;
/** Notices that a webhook is told before another has its turn, and how long that may take. */
const TURN = 8;
const TURN_MS = 100;
const LONGEST_SLEEP_MS = 30_000;
const PAUSE_MS = 5_000;
const SOON_MS = 25;
const FORGET_EVERY_MS = 3_600_000;
/** How long attempts are remembered. */
const KEEP_ATTEMPTS_MS = 30 * 24 * 3_600_000;
/** How long receivers may still answer when this closes. */
const PARTING_MS = 2_000;

export interface CourierOptions extends TellerOptions {
  settings: TellerOptions['settings'] & { hostname: string };
  /** Why mail for elsewhere may not go out now; null lets it go. */
  hold: string | null;
  /** A letter was queued. */
  queued: () => void;
  log: Log;
  metrics: Meter;
}

type Waiting = DueHook & { host: string };

/**
 * Tells webhooks what happened: each in order, one at a time, in turns, so that a backlog of one delays no other. At
 * least once: what a crash interrupts is told again, under the same id.
 */
export class Courier implements AsyncDisposable {
  readonly #options: CourierOptions;
  readonly #teller: Teller;
  readonly #recorder: Recorder;
  readonly #slots = new Slots();
  /** Listeners that are being told right now, or whose ends are being written. */
  readonly #busy = new Map<number, Promise<void>>();
  /** Those that are due and wait for a slot, in order. */
  #waiting: Waiting[] = [];
  readonly #stopListening: () => void;
  readonly #forgetting: NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #paused = false;
  #closing = false;

  constructor(options: CourierOptions) {
    this.#options = options;
    this.#teller = new Teller(options);
    this.#recorder = new Recorder(options.store, options.log, options.queued);
    this.#stopListening = options.store.onWakeUp(() => this.#lookSoon());
    this.#forgetting = setInterval(() => void this.forget(), FORGET_EVERY_MS).unref();
    this.look();
  }

  /** Forgets attempts of long ago, in slices. */
  async forget(): Promise<void> {
    const { store, clock, log } = this.#options;
    try {
      const before = clock() - KEEP_ATTEMPTS_MS;
      while (!this.#closing && (await store.writeSlice(forgetWebhookAttempts, { before })));
    } catch (error) {
      log.warn({ err: error }, 'old attempts at webhooks could not be forgotten, it goes on in an hour');
    }
  }

  /** Looks for what is due. Calls that come while it looks are one more look. */
  look(): void {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    if (this.#closing || this.#paused) return;
    if (this.#looking !== undefined) {
      this.#again = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#looking = this.#look().then((sleep) => {
      this.#looking = undefined;
      if (this.#closing || this.#paused) return;
      if (this.#again) {
        this.#again = false;
        return this.#lookSoon();
      }
      this.#timer = setTimeout(() => this.look(), sleep).unref();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    this.#stopListening();
    clearInterval(this.#forgetting);
    this.#waiting = [];
    clearTimeout(this.#timer);
    clearTimeout(this.#soon);
    await this.#looking;
    const parting = setTimeout(() => this.#teller.hurry(), PARTING_MS);
    const told = Promise.all(this.#busy.values());
    // The recorder gives up its pauses: whoever waits for it is released.
    await Promise.all([told, this.#recorder.close()]);
    clearTimeout(parting);
    this.#teller.close();
  }

  /** A busy box commits a thousand times a second: one look serves all that happened meanwhile. */
  #lookSoon(): void {
    if (!this.#closing) this.#soon ??= setTimeout(() => this.look(), SOON_MS).unref();
  }

  /** The store is in trouble: nothing is known, so nothing is told for a while. */
  #pause(error: unknown): void {
    this.#options.log.error({ err: error }, 'webhooks wait: the store cannot be read');
    if (this.#paused || this.#closing) return;
    this.#paused = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#paused = false;
      this.look();
    }, PAUSE_MS).unref();
  }

  /** Lines up what is due and answers how long to sleep then, ms. */
  async #look(): Promise<number> {
    const { store, clock } = this.#options;
    try {
      const known = [...this.#busy.keys(), ...this.#waiting.map((one) => one.listener)];
      const limit = MOST_WAITING - this.#waiting.length;
      const due = limit <= 0 ? [] : await store.read(dueHooks, { now: clock(), not: known, limit });
      this.#waiting.push(...due.map((one) => ({ ...one, host: URL.parse(one.url)?.host ?? one.url })));
      this.#begin();
      const next = await store.read(nextNotice, { not: [...known, ...due.map((one) => one.listener)] });
      return next === undefined ? LONGEST_SLEEP_MS : Math.min(LONGEST_SLEEP_MS, Math.max(200, next - clock()));
    } catch (error) {
      this.#pause(error);
      return PAUSE_MS;
    }
  }

  /** Begins with whom there is a slot for, in order. */
  #begin(): void {
    if (this.#closing || this.#paused) return;
    const left: Waiting[] = [];
    for (const one of this.#waiting) {
      const free = !this.#slots.full && !this.#busy.has(one.listener) && this.#recorder.depth < MOST_UNWRITTEN;
      if (free && this.#slots.take(one)) this.#busy.set(one.listener, this.#turnOf(one));
      else left.push(one);
    }
    this.#waiting = left;
  }

  async #turnOf(hook: Waiting): Promise<void> {
    const written: Promise<void>[] = [];
    let more = false;
    try {
      more = await this.#tellAll(hook, written);
    } catch (error) {
      this.#pause(error);
    } finally {
      this.#slots.release(hook);
    }
    this.#begin();
    // Only then is it known what comes next.
    await Promise.all(written);
    this.#busy.delete(hook.listener);
    if (more && !this.#closing) this.#waiting.push(hook);
    this.#begin();
    // What happened to this one meanwhile was not looked for.
    if (!more) this.#lookSoon();
  }

  /** Tells one webhook what is due, in order, until its turn is over. Answers whether more may be due. */
  async #tellAll({ listener }: DueHook, written: Promise<void>[]): Promise<boolean> {
    const { store, clock } = this.#options;
    const until = performance.now() + TURN_MS;
    const notices = await store.read(dueNotices, { listener, now: clock(), limit: TURN });
    for (const [i, notice] of notices.entries()) {
      const told = await this.#teller.tell(listener, notice);
      if (told === 'removed') return false;
      written.push(this.#write(listener, notice, told));
      // Those behind it wait for it, as long as it is in line.
      if (told !== 'silent' && told.end.kind !== 'told') return false;
      if (this.#closing || performance.now() > until) return i + 1 < notices.length || notices.length === TURN;
    }
    return notices.length === TURN;
  }

  async #write(listener: number, notice: Notice, told: Told | 'silent'): Promise<void> {
    const { id, account, event, email, trace } = notice;
    if (told === 'silent') return this.#recorder.record({ notice: id, end: { kind: 'told' }, attempt: null, news: [] });
    const { log, metrics } = this.#options;
    const { target, end, posted, request, durationMs } = told;
    const { status, problem } = posted;
    metrics.count('webhook_attempts_total', { outcome: end.kind });
    log[problem === null ? 'debug' : 'info'](
      { webhook: listener, account, notice: id, event, status, problem, outcome: end.kind, ms: durationMs },
      'webhook',
    );
    const attempt = { listener, account: target.account, event, email, trace, url: target.url, request, durationMs };
    const news = await newsOf(this.#options, told).catch((error: unknown) => {
      log.error({ err: error, webhook: listener }, 'the owner of a webhook could not be written to');
      return [];
    });
    return this.#recorder.record({ notice: id, end, attempt: { ...attempt, ...posted }, news });
  }
}

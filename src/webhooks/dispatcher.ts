import { KeyedSemaphore } from '../../mail/limits/keyed-semaphore.ts';
import type { Permit } from '../../mail/limits/semaphore.ts';
import type { Log, Meter } from '../../mail/log.ts';
import { dueWebhookEvents, type WebhookEvent } from '../../mail/store/notification/webhook-event.ts';
import { type DueWebhook, dueWebhooks, nextNotice } from './queries.ts';
import { WebhookRecorder } from './recorder.ts';
import { type SentAttempt, WebhookSender, type WebhookSenderOptions } from './sender.ts';

/**
 * Concurrent requests per host and per organization. Host names are free: without the second limit one organization could
 * use up all requests with hosts that never respond.
 */
const MAX_CONCURRENT = { host: 10, organization: 40 };
const MAX_CONCURRENT_TOTAL = 100;
/** Webhooks in memory that wait for a permit; others wait in the store. */
const MAX_WAITING = 1_000;
/** Unrecorded attempts beyond which nothing is sent. */
const MAX_UNRECORDED = 400;
/** Events and time of one webhook before the next one. */
const EVENTS_PER_TURN = 8;
const MAX_TURN_MS = 100;
const MAX_SLEEP_MS = 30_000;
const PAUSE_MS = 5_000;
const COALESCE_MS = 25;
/** Time for running requests to finish when this closes. */
const CLOSE_GRACE_MS = 2_000;

export interface WebhookDispatcherOptions extends WebhookSenderOptions {
  log: Log;
  metrics: Meter;
}

type PendingWebhook = DueWebhook & { host: string };

/**
 * Delivers events to webhooks: in order and one at a time per webhook, in turns, so that the backlog of one does not delay
 * others. At least once: a delivery interrupted by a crash is repeated with the same id.
 */
export class WebhookDispatcher implements AsyncDisposable {
  readonly #options: WebhookDispatcherOptions;
  readonly #sender: WebhookSender;
  readonly #recorder: WebhookRecorder;
  readonly #receivers = new KeyedSemaphore(MAX_CONCURRENT, MAX_CONCURRENT_TOTAL);
  /** Listeners with a running request, or with an attempt that is being recorded. */
  readonly #busy = new Map<number, Promise<void>>();
  /** Due webhooks that wait for a permit, in order. */
  #waiting: PendingWebhook[] = [];
  readonly #stopListening: () => void;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #paused = false;
  #closing = false;

  constructor(options: WebhookDispatcherOptions) {
    this.#options = options;
    this.#sender = new WebhookSender(options);
    this.#recorder = new WebhookRecorder(options.store, options.log);
    this.#stopListening = options.store.onWakeUp(() => this.#lookSoon());
    this.look();
  }

  /** Looks for due events. Calls during a look cause one more look. */
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
    this.#waiting = [];
    clearTimeout(this.#timer);
    clearTimeout(this.#soon);
    await this.#looking;
    const parting = setTimeout(() => this.#sender.abort(), CLOSE_GRACE_MS);
    // Closing the recorder ends its pauses, so that the busy listeners end.
    await Promise.all([...this.#busy.values(), this.#recorder.close()]);
    clearTimeout(parting);
    this.#sender.close();
  }

  /** Coalesces looks: a busy box commits a thousand times a second. */
  #lookSoon(): void {
    if (!this.#closing) this.#soon ??= setTimeout(() => this.look(), COALESCE_MS).unref();
  }

  /** Pauses sending after a read error of the store. */
  #pause(error: unknown): void {
    this.#options.log.error({ err: error }, 'failed to read webhook events, will retry');
    if (this.#paused || this.#closing) return;
    this.#paused = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#paused = false;
      this.look();
    }, PAUSE_MS).unref();
  }

  /** Queues due webhooks. Returns the time to the next look, ms. */
  async #look(): Promise<number> {
    const { store, clock } = this.#options;
    try {
      const active = [...this.#busy.keys(), ...this.#waiting.map((one) => one.listener)];
      const limit = MAX_WAITING - this.#waiting.length;
      const due = limit <= 0 ? [] : await store.read(dueWebhooks, { now: clock(), not: active, limit });
      this.#waiting.push(...due.map((one) => ({ ...one, host: URL.parse(one.url)?.host ?? one.url })));
      this.#begin();
      const next = await store.read(nextNotice, { not: [...active, ...due.map((one) => one.listener)] });
      return next === undefined ? MAX_SLEEP_MS : Math.min(MAX_SLEEP_MS, Math.max(200, next - clock()));
    } catch (error) {
      this.#pause(error);
      return PAUSE_MS;
    }
  }

  /** Starts queued webhooks that get a permit, in order. */
  #begin(): void {
    if (this.#closing || this.#paused) return;
    const blocked: PendingWebhook[] = [];
    for (const one of this.#waiting) {
      const free = !this.#busy.has(one.listener) && this.#recorder.depth < MAX_UNRECORDED;
      const permit = free ? this.#receivers.tryAcquire(one) : undefined;
      if (permit === undefined) blocked.push(one);
      else this.#busy.set(one.listener, this.#turnOf(one, permit));
    }
    this.#waiting = blocked;
  }

  async #turnOf(hook: PendingWebhook, permit: Permit): Promise<void> {
    const written: Promise<void>[] = [];
    let more = false;
    try {
      more = await this.#sendAll(hook, written);
    } catch (error) {
      this.#pause(error);
    } finally {
      permit[Symbol.dispose]();
    }
    this.#begin();
    // The next due event is active only after the records are committed.
    await Promise.all(written);
    this.#busy.delete(hook.listener);
    if (more && !this.#closing) this.#waiting.push(hook);
    this.#begin();
    // Looks skipped this webhook while it was busy.
    if (!more) this.#lookSoon();
  }

  /** Sends the due events of one webhook in order, until its turn is over. Returns true if more may be due. */
  async #sendAll({ listener }: DueWebhook, written: Promise<void>[]): Promise<boolean> {
    const { store, clock } = this.#options;
    const until = performance.now() + MAX_TURN_MS;
    const notices = await store.read(dueWebhookEvents, { listener, now: clock(), limit: EVENTS_PER_TURN });
    for (const [i, notice] of notices.entries()) {
      const sent = await this.#sender.send(listener, notice);
      if (sent === 'removed') return false;
      written.push(this.#record(listener, notice, sent));
      // Events after a failed one wait while it is retried.
      if (sent !== 'silent' && sent.end.kind !== 'told') return false;
      if (this.#closing || performance.now() > until)
        return i + 1 < notices.length || notices.length === EVENTS_PER_TURN;
    }
    return notices.length === EVENTS_PER_TURN;
  }

  async #record(listener: number, notice: WebhookEvent, sent: SentAttempt | 'silent'): Promise<void> {
    const { id, account, event, email, trace } = notice;
    if (sent === 'silent') return this.#recorder.record({ notice: id, end: { kind: 'told' }, attempt: null });
    const { log, metrics } = this.#options;
    const { target, end, posted, request, durationMs } = sent;
    const { status, problem } = posted;
    metrics.count('webhook_attempts_total', { outcome: end.kind });
    log[problem === null ? 'debug' : 'info'](
      { webhook: listener, account, notice: id, event, status, problem, outcome: end.kind, ms: durationMs },
      'webhook attempt ended',
    );
    const attempt = { listener, account: target.account, event, email, trace, url: target.url, request, durationMs };
    return this.#recorder.record({ notice: id, end, attempt: { ...attempt, ...posted } });
  }
}

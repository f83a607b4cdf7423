import type { Permit } from '../limits/semaphore.ts';
import type { Meter } from '../log.ts';
import type { SampleMessage } from '../store/filter/sample-words.ts';
import { type InboundMail, type MailFilter, FilterUnavailable, type FilterResult } from './mail-filter.ts';
import { IsolatedFilter } from './isolated-filter.ts';
import { FilterAdmission } from './filter-admission.ts';
import type { FilterResponse, FromFilterThread, FilterRequest } from './thread-messages.ts';
import { CrashingNetworks } from './crashing-networks.ts';
import { uncheckedResult } from './unchecked.ts';
import { type FilterExitReason, FilterWorker, type FilterWorkerOptions } from './worker.ts';

/** A message without a result after this time is deferred. */
const TIMEOUT_MS = 30_000;
/** A request that is open for this long means that the thread hangs: it is ended, so that its memory weight is released. */
const LOST_MS = 300_000;
const CHECK_INTERVAL_MS = 500;
/** Time between two thread starts: a thread that always crashes at start must not use up a CPU core. */
const MIN_RESTART_INTERVAL_MS = 1_000;
/** Log lines about the message that ended a thread. */
const EXIT_LOGS: Readonly<Record<FilterExitReason, string>> = {
  loop: 'the checks of a message ran into a loop, filed as junk',
  memory: 'the checks of a message ran out of memory, filed as junk',
  crash: 'the checks of a message crashed the filter, message deferred',
  silence: 'the checks of a message hung, message deferred',
};

interface PendingRequest {
  request: FilterRequest;
  /** The thread has started it. */
  started: boolean;
  resolve: (value: FilterResponse) => void;
  reject: (error: Error) => void;
  since: number;
  /** Timed out: the caller no longer waits for it. */
  abandoned: boolean;
  /** Its memory weight; undefined for a request that is not counted. */
  permit: Permit | undefined;
}

export interface FilterClientOptions extends FilterWorkerOptions {
  meter: Meter;
  timeoutMs?: number;
  restartIntervalMs?: number;
  /** Runs one request at a time, so that a crash has one cause. */
  serial?: boolean;
  /** Networks whose mail is not checked any more. */
  crashingNetworks?: CrashingNetworks;
}

/** Main-thread client of the filter worker. The worker starts with the first message. */
export class FilterClient implements MailFilter, AsyncDisposable {
  readonly #options: FilterClientOptions;
  readonly #timeoutMs: number;
  readonly #pending = new Map<number, PendingRequest>();
  readonly #admission: FilterAdmission;
  readonly #crashingNetworks: CrashingNetworks;
  readonly #isolated: IsolatedFilter;
  #progressTimer: NodeJS.Timeout | undefined;
  #worker: FilterWorker | undefined;
  #startedAt = -Infinity;
  #restartTimer: NodeJS.Timeout | undefined;
  #id = 0;
  #closed = false;

  constructor(options: FilterClientOptions) {
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#admission = new FilterAdmission(options.serial === true);
    const crashingNetworks = (this.#crashingNetworks = options.crashingNetworks ?? new CrashingNetworks());
    this.#isolated = new IsolatedFilter(() => new FilterClient({ ...options, serial: true, crashingNetworks }));
  }

  filter(mail: InboundMail): Promise<FilterResult> {
    const began = performance.now();
    const result = this.request({ kind: 'filter', mail }) as Promise<FilterResult>;
    return result.finally(() => this.#options.meter.observe('filter_seconds', (performance.now() - began) / 1000));
  }

  /** Extracts the words of a stored message, for training. */
  words(source: SampleMessage): Promise<number[]> {
    return this.request({ kind: 'words', source }) as Promise<number[]>;
  }

  /** Runs a request. A message whose checks loop or run out of memory resolves with the finding `unchecked`. */
  async request(request: FilterRequest): Promise<FilterResponse> {
    const refusal = this.#refusalOf(request);
    if (refusal !== undefined) throw refusal;
    const permit = await this.#admission.acquire(request);
    // Closed while it waited: a thread that starts now would never be ended.
    if (this.#closed) {
      permit?.[Symbol.dispose]();
      throw clientClosed();
    }
    const { promise, resolve, reject } = Promise.withResolvers<FilterResponse>();
    this.#send({ request, resolve, reject, since: performance.now(), abandoned: false, started: false, permit });
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#restartTimer);
    await this.#isolated[Symbol.asyncDispose]();
    await this.#worker?.close();
    this.#refuseAll();
  }

  #refusalOf(request: FilterRequest): FilterUnavailable | undefined {
    if (this.#closed) return clientClosed();
    if (request.kind === 'words' || !this.#crashingNetworks.isBlocked(request.mail.peer.ip, performance.now()))
      return undefined;
    return new FilterUnavailable('mail of this network crashed the filter repeatedly');
  }

  #send(waiting: PendingRequest): void {
    const id = ++this.#id;
    this.#pending.set(id, waiting);
    this.#progressTimer ??= setInterval(() => this.#checkProgress(), Math.min(CHECK_INTERVAL_MS, this.#timeoutMs / 2));
    if (this.#worker === undefined) this.#startSoon();
    else this.#post(this.#worker, id, waiting);
  }

  #post(worker: FilterWorker, id: number, { request, abandoned }: PendingRequest): void {
    // Its network may have been blocked while it waited.
    const refusal = this.#refusalOf(request);
    if (refusal !== undefined) this.#remove(id)?.reject(refusal);
    // The octets of an abandoned message may be deleted.
    else if (abandoned) this.#remove(id);
    else worker.post({ id, ...request });
  }

  /** Fails slow messages one by one; ends a thread that is in a loop, since it blocks all others. */
  #checkProgress(): void {
    const now = performance.now();
    const all = [...this.#pending.values()];
    if (all.some(({ since }) => now - since > LOST_MS)) this.#worker?.end('silence');
    else this.#worker?.checkProgress(now);
    for (const one of all) {
      if (one.abandoned || now - one.since < this.#timeoutMs) continue;
      one.abandoned = true;
      one.reject(new Error('the inbound filter timed out'));
    }
  }

  #startSoon(): void {
    const rest = this.#startedAt + (this.#options.restartIntervalMs ?? MIN_RESTART_INTERVAL_MS) - performance.now();
    if (rest <= 0) return this.#start();
    this.#restartTimer ??= setTimeout(() => {
      this.#restartTimer = undefined;
      this.#start();
    }, rest);
  }

  /** Starts a new thread and passes it all pending requests. */
  #start(): void {
    this.#startedAt = performance.now();
    try {
      const worker: FilterWorker = new FilterWorker(this.#options, {
        onMessage: (message) => this.#onMessage(message),
        onExit: (why) => this.#onExit(worker, why),
      });
      this.#worker = worker;
      for (const [id, one] of this.#pending) this.#post(worker, id, one);
    } catch (error) {
      // Out of threads or memory: thrown from the restart timer, the error would end the process.
      this.#options.log.error({ err: error }, 'failed to start the filter thread, mail is deferred');
      this.#refuseAll();
    }
  }

  /**
   * Restarts after a thread ended. Requests that were not started go to the next thread. A started request is the cause if it
   * was the only one during a loop, or the only one its thread ever had; otherwise each is retried in isolation.
   */
  #onExit({ startedCount }: FilterWorker, why: FilterExitReason): void {
    this.#worker = undefined;
    if (why === 'loop') this.#options.meter.count('filter_loops_total');
    // The thread fails at start, and so would the next one.
    if (this.#closed || startedCount === 0) return this.#refuseAll();
    const started = [...this.#pending].filter(([, one]) => one.started);
    const isCause = started.length === 1 && (why === 'loop' || startedCount === 1);
    for (const [id, one] of started) {
      // An earlier request of this thread may be the cause: retry this one first in a fresh thread.
      if (this.#options.serial === true && !isCause) {
        one.started = false;
        continue;
      }
      this.#remove(id);
      if (isCause) this.#failCause(one, why);
      else this.#filterIsolated(one);
    }
    if (this.#pending.size > 0) this.#startSoon();
  }

  #filterIsolated({ request, abandoned, resolve, reject }: PendingRequest): void {
    // The octets of an abandoned message may be deleted.
    if (!abandoned) this.#isolated.request(request).then(resolve, reject);
  }

  /**
   * Ends the request that caused a thread to end. A loop or memory exhaustion is a defect of the checks: the message is
   * stored in Junk. A crash may be a problem of the box and would turn all mail into junk: the message is deferred.
   */
  #failCause({ request, resolve, reject }: PendingRequest, why: FilterExitReason): void {
    if (request.kind === 'words') return reject(new Error('the filter thread ended over a training sample'));
    const { mail } = request;
    const { trace, peer, size } = mail;
    this.#crashingNetworks.record(peer.ip, performance.now());
    this.#options.log.error({ message: trace, ip: peer.ip, size }, EXIT_LOGS[why]);
    if (why === 'loop' || why === 'memory') resolve(uncheckedResult(mail));
    else reject(new Error('the filter thread ended'));
  }

  #refuseAll(): void {
    for (const id of this.#pending.keys()) this.#remove(id)?.reject(new FilterUnavailable('the filter thread ended'));
  }

  #onMessage(message: FromFilterThread): void {
    const { log, meter } = this.#options;
    if (message.kind === 'heartbeat') return;
    if (message.kind === 'started') {
      const waiting = this.#pending.get(message.id);
      if (waiting !== undefined) waiting.started = true;
      return;
    }
    if (message.kind === 'log') return log[message.level](message.fields, message.text);
    if (message.kind === 'metric') return meter.count(message.name, message.labels);
    const waiting = this.#remove(message.id);
    if (message.kind === 'response') waiting?.resolve(message.value);
    else waiting?.reject(Object.assign(new Error(message.message), { stack: message.stack }));
  }

  #remove(id: number): PendingRequest | undefined {
    const waiting = this.#pending.get(id);
    if (this.#pending.delete(id) && this.#pending.size === 0) {
      clearInterval(this.#progressTimer);
      this.#progressTimer = undefined;
    }
    waiting?.permit?.[Symbol.dispose]();
    return waiting;
  }
}

function clientClosed(): FilterUnavailable {
  return new FilterUnavailable('the inbound filter is closed');
}

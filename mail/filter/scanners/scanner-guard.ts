import { Semaphore } from '../../limits/semaphore.ts';
import type { Log, Meter } from '../../log.ts';
import type { Finding } from '../../policy/finding.ts';
import { type ScannedMessage, type Scanner, ScanError } from './scanner.ts';

/** Concurrent messages at one scanner; more would wait longer than their senders do. */
const MAX_CONCURRENT = 20;
/** Consecutive failures after which the scanner is suspended. */
const MAX_FAILURES = 5;
const SUSPENSION_MS = 30_000;
const LOG_INTERVAL_MS = 60_000;

export interface ScannerGuardOptions {
  log: Log;
  meter: Meter;
  /** Monotonic clock, ms. */
  clock?: () => number;
  /** Time for one message, ms. */
  timeoutMs?: number;
}

/**
 * Calls a scanner as a circuit breaker: on any failure it resolves in time with a finding of score 0 that says that the
 * message was not scanned. A scanner that fails repeatedly is retried after half a minute, with one message.
 */
export class ScannerGuard {
  readonly #scanner: Scanner;
  readonly #options: ScannerGuardOptions;
  readonly #clock: () => number;
  readonly #semaphore = new Semaphore({ limit: MAX_CONCURRENT });
  #failures = 0;
  #suspendedUntil = -Infinity;
  #loggedAt = -Infinity;

  constructor(scanner: Scanner, options: ScannerGuardOptions) {
    this.#scanner = scanner;
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
  }

  /** Never rejects. */
  async scan(mail: ScannedMessage): Promise<readonly Finding[]> {
    const { maxSize } = this.#scanner;
    if (mail.size > maxSize) return this.#skipped(`the message has more than ${maxSize} octets`);
    using permit = this.#semaphore.tryAcquire();
    if (permit === undefined) return this.#skipped('too many concurrent scans');
    if (this.#clock() < this.#suspendedUntil) return this.#skipped('it is suspended after repeated failures');
    // Messages that arrive during this retry are not scanned.
    if (this.#failures >= MAX_FAILURES) this.#suspendedUntil = this.#clock() + SUSPENSION_MS;
    try {
      const findings = await this.#callScanner(mail);
      this.#failures = 0;
      this.#suspendedUntil = -Infinity;
      this.#count(findings.length > 0 ? 'found' : 'clean');
      return findings;
    } catch (error) {
      return this.#failed(error, mail);
    }
  }

  async #callScanner(mail: ScannedMessage): Promise<readonly Finding[]> {
    const { timeoutMs = 5_000 } = this.#options;
    const signal = AbortSignal.timeout(timeoutMs);
    const timeout = Promise.withResolvers<never>();
    const onAbort = (): void => timeout.reject(new ScanError(`no response within ${timeoutMs / 1000} seconds`));
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([this.#scanner.scan(mail, signal), timeout.promise]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #failed(error: unknown, { trace }: ScannedMessage): readonly Finding[] {
    this.#failures++;
    if (this.#failures >= MAX_FAILURES) this.#suspendedUntil = this.#clock() + SUSPENSION_MS;
    this.#count('trouble');
    const why = error instanceof ScanError ? error.message : 'the request failed';
    if (this.#clock() - this.#loggedAt >= LOG_INTERVAL_MS) {
      this.#loggedAt = this.#clock();
      const { name } = this.#scanner;
      this.#options.log.warn({ err: error, message: trace, failures: this.#failures }, `mail goes on without ${name}`);
    }
    return [this.#notScanned(why)];
  }

  #skipped(why: string): readonly Finding[] {
    this.#count('skipped');
    return [this.#notScanned(why)];
  }

  #notScanned(why: string): Finding {
    const { name, label } = this.#scanner;
    return { rule: label, score: 0, why: `not scanned by ${name}: ${why}` };
  }

  #count(outcome: 'clean' | 'found' | 'trouble' | 'skipped'): void {
    this.#options.meter.count('scans_total', { scanner: this.#scanner.label, outcome });
  }
}

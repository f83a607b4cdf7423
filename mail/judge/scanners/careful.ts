import type { Log, Meter } from '../../log.ts';
import type { Finding } from '../../policy/finding.ts';
import { type Scanned, type Scanner, ScanTrouble } from './scanner.ts';

/** Messages at a scanner at the same time; more would wait longer than their senders do. */
const MOST_AT_ONCE = 20;
/** Failures one after the other, until it is left alone for a while. */
const FAILURES = 5;
const REST_MS = 30_000;
const LOG_EVERY_MS = 60_000;

export interface CareOptions {
  log: Log;
  meter: Meter;
  /** ms, of a clock that only goes on. */
  clock?: () => number;
  /** How long one message may take, ms. */
  timeoutMs?: number;
}

/**
 * Asks a scanner without depending on it: whatever is wrong with it, the answer comes in time, speaks against no message,
 * and says that it was not scanned. One that fails again and again is asked again after half a minute, by one message.
 */
export class CarefulScanner {
  readonly #scanner: Scanner;
  readonly #options: CareOptions;
  readonly #clock: () => number;
  #atOnce = 0;
  #failures = 0;
  #restsUntil = -Infinity;
  #loggedAt = -Infinity;

  constructor(scanner: Scanner, options: CareOptions) {
    this.#scanner = scanner;
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
  }

  /** Never rejects. */
  async scan(mail: Scanned): Promise<readonly Finding[]> {
    const { largest } = this.#scanner;
    if (mail.size > largest) return this.#skipped(`it has more than ${largest} octets`);
    if (this.#atOnce >= MOST_AT_ONCE) return this.#skipped('too many messages are there already');
    if (this.#clock() < this.#restsUntil) return this.#skipped('it does not answer at the moment');
    // Who comes while this one tries goes without.
    if (this.#failures >= FAILURES) this.#restsUntil = this.#clock() + REST_MS;
    this.#atOnce++;
    try {
      const findings = await this.#asked(mail);
      this.#failures = 0;
      this.#restsUntil = -Infinity;
      this.#count(findings.length > 0 ? 'found' : 'clean');
      return findings;
    } catch (error) {
      return this.#failed(error, mail);
    } finally {
      this.#atOnce--;
    }
  }

  async #asked(mail: Scanned): Promise<readonly Finding[]> {
    const { timeoutMs = 5_000 } = this.#options;
    const signal = AbortSignal.timeout(timeoutMs);
    const late = Promise.withResolvers<never>();
    const end = (): void => late.reject(new ScanTrouble(`it took more than ${timeoutMs / 1000} seconds`));
    signal.addEventListener('abort', end, { once: true });
    try {
      return await Promise.race([this.#scanner.scan(mail, signal), late.promise]);
    } finally {
      signal.removeEventListener('abort', end);
    }
  }

  #failed(error: unknown, { trace }: Scanned): readonly Finding[] {
    this.#failures++;
    if (this.#failures >= FAILURES) this.#restsUntil = this.#clock() + REST_MS;
    this.#count('trouble');
    const why = error instanceof ScanTrouble ? error.message : 'it cannot be asked';
    if (this.#clock() - this.#loggedAt >= LOG_EVERY_MS) {
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

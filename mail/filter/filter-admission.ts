import { type Permit, Semaphore, SemaphoreUnavailable } from '../limits/semaphore.ts';
import { FilterUnavailable } from './mail-filter.ts';
import type { FilterRequest } from './thread-messages.ts';

/** Total weight of the messages in the thread. A unit is up to three octets of memory while DNS lookups run. */
const CAPACITY = 48 * 1024 * 1024;
/** Weight of the smallest message. */
const MIN_WEIGHT = 64 * 1024;
/** Larger messages have a limit of their own: they take seconds. */
const LARGE = 1024 * 1024;
const MAX_LARGE = 8;
/** A message that waited this long is deferred; servers wait ten minutes (RFC 5321 4.5.3.2.6). */
const WAIT_MS = 120_000;

/** Limits the memory of the messages in the filter thread. The number of open sessions bounds those that wait. */
export class FilterAdmission {
  readonly #serial: boolean;
  readonly #weight = new Semaphore({ limit: CAPACITY, timeoutMs: WAIT_MS });
  readonly #large = new Semaphore({ limit: MAX_LARGE, timeoutMs: WAIT_MS });

  /** `serial`: one request at a time, whatever its size. */
  constructor(serial: boolean) {
    this.#serial = serial;
  }

  /** Rejects with FilterUnavailable after {@link WAIT_MS}. Training samples come one at a time and are not counted. */
  async acquire(request: FilterRequest): Promise<Permit | undefined> {
    try {
      if (this.#serial) return await this.#weight.acquire(CAPACITY);
      if (request.kind === 'words') return undefined;
      const { size, headerLength } = request.mail;
      if (size > LARGE) return await this.#large.acquire();
      // Non-Latin text with links takes six times its octets, and short header fields seventeen times.
      return await this.#weight.acquire(Math.max(MIN_WEIGHT, 2 * size + 4 * headerLength));
    } catch (error) {
      throw error instanceof SemaphoreUnavailable
        ? new FilterUnavailable('too many messages wait for the filter')
        : error;
    }
  }
}

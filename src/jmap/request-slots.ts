import { RequestError } from '../../mail/jmap/core/errors.ts';
import { type Permit, Semaphore, SemaphoreUnavailable } from '../../mail/limits/semaphore.ts';

/** Requests of one credential that wait; the others are refused at once. */
const MAX_WAITING = 16;
/** Time that a request waits, ms. Two windows of one person end theirs within it; who holds all slots is not waited for longer. */
const MAX_WAIT_MS = 5_000;

/** Requests that run at once for one credential, `maxConcurrentRequests` of RFC 8620 2. Stores only credentials with requests. */
export class RequestSlots {
  readonly #byCredential = new Map<string, Semaphore>();
  readonly #limit: number;
  readonly #waitMs: number;

  constructor(limit: number, waitMs = MAX_WAIT_MS) {
    this.#limit = limit;
    this.#waitMs = waitMs;
  }

  /** Credentials with a request that runs or waits. */
  get size(): number {
    return this.#byCredential.size;
  }

  /** The error of a request that gets no slot. RFC 8620 3.6.1. */
  refusal(): RequestError {
    const most = `At most ${this.#limit} concurrent requests are allowed. Wait for one to end.`;
    return new RequestError('limit', most, 'maxConcurrentRequests');
  }

  /** Waits for a slot, to be disposed of; undefined when none becomes free in time. */
  async take({ credential }: { credential: string }): Promise<Permit | undefined> {
    const slots = this.#byCredential.get(credential) ?? this.#add(credential);
    const leave = (): void => {
      // Disposed of twice, it would remove the slots that the credential has by then, and their limit with them.
      const isStored = this.#byCredential.get(credential) === slots;
      if (isStored && slots.held === 0 && slots.waiting === 0) this.#byCredential.delete(credential);
    };
    try {
      const permit = await slots.acquire();
      return { [Symbol.dispose]: () => (permit[Symbol.dispose](), leave()) };
    } catch (error) {
      leave();
      if (error instanceof SemaphoreUnavailable) return undefined;
      throw error;
    }
  }

  #add(credential: string): Semaphore {
    const slots = new Semaphore({ limit: this.#limit, maxWaiting: MAX_WAITING, timeoutMs: this.#waitMs });
    this.#byCredential.set(credential, slots);
    return slots;
  }
}

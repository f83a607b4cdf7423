import type { MemoryBudget, MemoryHolder, MemoryReservation } from '../limits/memory-budget.ts';

/** Octets that are not counted: of unsent output, above which the socket reports that it was sent, and of input. */
const UNCOUNTED = 64 * 1024;
/** The buffer of an incomplete command doubles when it grows. */
const INPUT_CAPACITY = 2;

/** Octets that a session holds between two turns. */
export interface SessionOctets {
  /** Output that is not sent. */
  readonly output: number;
  /** Input that is not parsed: of a command that is not complete. */
  readonly input: number;
}

/** Memory of one session, from login. Smaller output causes no event when it was sent, so it is not counted. */
export class SessionMemory implements Disposable {
  readonly #reservation: MemoryReservation;

  constructor(budget: MemoryBudget, holders: readonly MemoryHolder[]) {
    this.#reservation = budget.open(holders);
  }

  /** Counts what the session holds now; false: there is no memory for it. */
  count({ output, input }: SessionOctets): boolean {
    const counted = (octets: number): number => (octets > UNCOUNTED ? octets : 0);
    return this.#reservation.tryResize(counted(output) + INPUT_CAPACITY * counted(input));
  }

  [Symbol.dispose](): void {
    this.#reservation[Symbol.dispose]();
  }
}

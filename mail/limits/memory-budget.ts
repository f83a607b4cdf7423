/** A holder of memory: a tenant, a credential, an account or an address. */
export type MemoryHolder = string | number;

/** The holder of an organization's memory, the same for all protocols. */
export function organizationHolder(organization: number): MemoryHolder {
  return `organization ${organization}`;
}

/**
 * Limits the octets that clients make the process hold: answers that nobody reads, bodies that are parsed. Never waits.
 * A holder may hold at most as much as is free: a single one gets half of all, two get a third each, and there is always
 * room for the next.
 */
export class MemoryBudget {
  readonly #octets: number;
  /** Holders with octets held. */
  readonly #holders = new Map<MemoryHolder, number>();
  #held = 0;

  constructor(octets: number) {
    this.#octets = octets;
  }

  /** Octets held now. */
  get held(): number {
    return this.#held;
  }

  /** Octets that nobody holds. */
  get free(): number {
    return this.#octets - this.#held;
  }

  heldBy(holder: MemoryHolder): number {
    return this.#holders.get(holder) ?? 0;
  }

  /** Begins a reservation without octets. `holders`: all that it counts for. */
  open(holders: readonly MemoryHolder[]): MemoryReservation {
    return new MemoryReservation(this, holders);
  }

  /** Used by {@link MemoryReservation}. */
  add(holders: readonly MemoryHolder[], octets: number): void {
    this.#held += octets;
    for (const holder of holders) {
      const left = this.heldBy(holder) + octets;
      if (left > 0) this.#holders.set(holder, left);
      else this.#holders.delete(holder);
    }
  }
}

/**
 * Octets that one piece of work holds until it is disposed of. Work may go on a while after that, as its client is gone: what
 * it added then would be held for ever, so nothing is added.
 */
export class MemoryReservation implements Disposable {
  readonly #budget: MemoryBudget;
  readonly #holders: readonly MemoryHolder[];
  #octets = 0;
  #isDisposed = false;

  constructor(budget: MemoryBudget, holders: readonly MemoryHolder[]) {
    this.#budget = budget;
    this.#holders = holders;
  }

  /** Octets held. */
  get octets(): number {
    return this.#octets;
  }

  /** Adds octets; false: nothing was added, as the budget or a holder's share is used up. */
  tryGrow(octets: number): boolean {
    const { free } = this.#budget;
    if (
      this.#isDisposed ||
      octets > free ||
      this.#holders.some((holder) => this.#budget.heldBy(holder) + octets > free)
    )
      return false;
    this.#add(octets);
    return true;
  }

  /** Holds so many octets in total; less than before is always granted. */
  tryResize(octets: number): boolean {
    if (octets > this.#octets) return this.tryGrow(octets - this.#octets);
    this.#add(octets - this.#octets);
    return true;
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#add(-this.#octets);
  }

  #add(octets: number): void {
    this.#octets += octets;
    this.#budget.add(this.#holders, octets);
  }
}

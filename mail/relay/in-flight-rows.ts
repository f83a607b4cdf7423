import type { QueueItem } from './relay-queue.ts';

/** Maximum waiting rows in memory: per sender, per tenant, and in total. */
const MAX_ROWS = { owner: 1000, tenant: 2500, all: 10_000 } as const;
/** Rows of a sender that are allowed even if its tenant or the total is at the limit. */
const RESERVED_ROWS = 20;

/** Age of a started row, ms, after which it will soon look due again. */
const LONG_ATTEMPT_MS = 4 * 60_000;

/** Rows in the memory of the relay by lane, sender and tenant, so that no sender blocks the others. */
export class InFlightRows {
  readonly #rows = new Set<number>();
  /** Started rows by lane, the oldest first. */
  readonly #begun = new Map<number, Map<number, number>>();
  /** Waiting rows by lane, with their sender. */
  readonly #lanes = new Map<number, { rows: number; owner: number }>();
  readonly #owners = new Map<number, { rows: number; tenant: number }>();
  readonly #tenants = new Map<number, number>();
  /** Lanes and senders that a query excluded since they were last free. */
  readonly #excluded = new Set<string>();

  get size(): number {
    return this.#rows.size;
  }

  has(row: QueueItem): boolean {
    return this.#rows.has(row.id);
  }

  /** Adds a waiting row; it waits until {@link markBegun}. */
  add({ id, ownerDestination: lane, owner, tenant }: QueueItem): void {
    this.#rows.add(id);
    const waiting = this.#lanes.get(lane);
    if (waiting === undefined) this.#lanes.set(lane, { rows: 1, owner });
    else waiting.rows += 1;
    adjustCount(this.#tenants, tenant, 1);
    const held = this.#owners.get(owner);
    if (held === undefined) this.#owners.set(owner, { rows: 1, tenant });
    else held.rows += 1;
  }

  /**
   * Marks rows as started, or as not to be started. They stay in memory until {@link release}. True if an excluded lane or
   * sender can be queried again.
   */
  markBegun(rows: readonly QueueItem[], at: number): boolean {
    let free = false;
    for (const { id, ownerDestination: lane, owner, tenant } of rows) {
      if (this.#rows.has(id)) this.#begun.set(lane, (this.#begun.get(lane) ?? new Map<number, number>()).set(id, at));
      if (this.#removeWaiting(lane)) free = this.#excluded.delete(`lane ${lane}`) || free;
      adjustCount(this.#tenants, tenant, -1);
      const held = this.#owners.get(owner);
      if (held === undefined) continue;
      held.rows -= 1;
      if (held.rows === 0) this.#owners.delete(owner);
      if (held.rows <= RESERVED_ROWS / 2 || held.rows === MAX_ROWS.owner / 2)
        free = this.#excluded.delete(`owner ${owner}`) || free;
    }
    return free;
  }

  /** Removes a row whose result is recorded, or that is not attempted. */
  release({ id, ownerDestination: lane }: QueueItem): void {
    this.#rows.delete(id);
    const begun = this.#begun.get(lane);
    begun?.delete(id);
    if (begun?.size === 0) this.#begun.delete(lane);
  }

  /**
   * Lists lanes and senders to exclude from the next query: senders at their limit, lanes with waiting rows, and lanes with
   * an attempt so slow that its row would be found again. `now`: monotonic ms.
   */
  exclusions(now: number): { lanes: number[]; owners: number[] } {
    const owners = this.#sendersAtLimit();
    const full = new Set(owners);
    // Excluded senders need no exclusion of their lanes.
    const waiting = [...this.#lanes].flatMap(([lane, { owner }]) => (full.has(owner) ? [] : [lane]));
    const slow = [...this.#begun].filter(([, rows]) => now - (rows.values().next().value ?? now) > LONG_ATTEMPT_MS);
    const excluded = { lanes: [...new Set([...waiting, ...slow.map(([lane]) => lane)])], owners };
    for (const lane of waiting) this.#excluded.add(`lane ${lane}`);
    for (const owner of excluded.owners) this.#excluded.add(`owner ${owner}`);
    return excluded;
  }

  /** Removes one waiting row of a lane; true if it was the last. */
  #removeWaiting(lane: number): boolean {
    const waiting = this.#lanes.get(lane);
    if (waiting === undefined) return false;
    waiting.rows -= 1;
    if (waiting.rows > 0) return false;
    return this.#lanes.delete(lane);
  }

  #sendersAtLimit(): number[] {
    const isFull = this.#rows.size >= MAX_ROWS.all;
    return [...this.#owners].flatMap(([owner, { rows, tenant }]) => {
      const scarce = isFull || (this.#tenants.get(tenant) ?? 0) >= MAX_ROWS.tenant;
      return rows >= (scarce ? RESERVED_ROWS : MAX_ROWS.owner) ? [owner] : [];
    });
  }
}

function adjustCount(counts: Map<number, number>, key: number, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

import type { QueueItem } from './needs.ts';

/** Rows held in memory and not begun: of one sender, of one tenant, and of all. */
const MOST = { owner: 1000, tenant: 2500, all: 10_000 } as const;
/** What a sender may hold when its tenant or all together hold too much: whoever has little is never shut out. */
const FEW = 20;

/** A begun row that is held for so long, ms, will soon look due again. */
const LONG = 4 * 60_000;

/** What the worker has in memory, by row, lane and sender, so that nobody's mail keeps out that of the others. */
export class Holdings {
  readonly #rows = new Set<number>();
  /** Rows that are begun, the oldest first, by lane. */
  readonly #begun = new Map<number, Map<number, number>>();
  readonly #lanes = new Map<number, number>();
  readonly #owners = new Map<number, { rows: number; tenant: number }>();
  readonly #tenants = new Map<number, number>();
  /** Lanes and senders that a look has left out since they were last free. */
  readonly #leftOut = new Set<string>();

  get size(): number {
    return this.#rows.size;
  }

  has(row: QueueItem): boolean {
    return this.#rows.has(row.id);
  }

  /** Takes a row on; it waits until {@link begun}. */
  take({ id, lane, owner, tenant }: QueueItem): void {
    this.#rows.add(id);
    add(this.#lanes, lane, 1);
    add(this.#tenants, tenant, 1);
    const held = this.#owners.get(owner);
    if (held === undefined) this.#owners.set(owner, { rows: 1, tenant });
    else held.rows += 1;
  }

  /**
   * They wait no longer: their attempts were recorded, or are not to be. They stay held until {@link release}. True when a
   * lane or a sender that was left out of a look can be looked at again.
   */
  begun(rows: readonly QueueItem[], at: number): boolean {
    let free = false;
    for (const { id, lane, owner, tenant } of rows) {
      if (this.#rows.has(id)) this.#begun.set(lane, (this.#begun.get(lane) ?? new Map<number, number>()).set(id, at));
      if (add(this.#lanes, lane, -1) === 0) free = this.#leftOut.delete(`lane ${lane}`) || free;
      add(this.#tenants, tenant, -1);
      const held = this.#owners.get(owner);
      if (held === undefined) continue;
      held.rows -= 1;
      if (held.rows === 0) this.#owners.delete(owner);
      if (held.rows <= FEW / 2 || held.rows === MOST.owner / 2) free = this.#leftOut.delete(`owner ${owner}`) || free;
    }
    return free;
  }

  /** Its result is written, or it is not tried now. */
  release({ id, lane }: QueueItem): void {
    this.#rows.delete(id);
    const begun = this.#begun.get(lane);
    begun?.delete(id);
    if (begun?.size === 0) this.#begun.delete(lane);
  }

  /**
   * What the next look leaves out: senders that have their share, and lanes until their rows are begun, or while an
   * attempt takes so long that its row would be found again. `now` is monotonic, as in {@link begun}.
   */
  left(now: number): { lanes: number[]; owners: number[] } {
    const slow = [...this.#begun].filter(([, rows]) => now - (rows.values().next().value ?? now) > LONG);
    const lanes = new Set([...this.#lanes.keys(), ...slow.map(([lane]) => lane)]);
    const left = { lanes: [...lanes], owners: this.#full() };
    for (const lane of left.lanes) this.#leftOut.add(`lane ${lane}`);
    for (const owner of left.owners) this.#leftOut.add(`owner ${owner}`);
    return left;
  }

  #full(): number[] {
    const crowded = this.#rows.size >= MOST.all;
    return [...this.#owners].flatMap(([owner, { rows, tenant }]) => {
      const scarce = crowded || (this.#tenants.get(tenant) ?? 0) >= MOST.tenant;
      return rows >= (scarce ? FEW : MOST.owner) ? [owner] : [];
    });
  }
}

/** Answers the new count. */
function add(counts: Map<number, number>, key: number, by: number): number {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
  return count;
}

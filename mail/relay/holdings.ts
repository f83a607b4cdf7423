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
  /** Rows that wait, by lane, and whose they are. */
  readonly #lanes = new Map<number, { rows: number; owner: number }>();
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
    const waiting = this.#lanes.get(lane);
    if (waiting === undefined) this.#lanes.set(lane, { rows: 1, owner });
    else waiting.rows += 1;
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
      if (this.#endsLane(lane)) free = this.#leftOut.delete(`lane ${lane}`) || free;
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
    const owners = this.#full();
    const full = new Set(owners);
    // Nothing of a sender is looked at that has its share: its lanes need not be named.
    const waiting = [...this.#lanes].flatMap(([lane, { owner }]) => (full.has(owner) ? [] : [lane]));
    const slow = [...this.#begun].filter(([, rows]) => now - (rows.values().next().value ?? now) > LONG);
    const left = { lanes: [...new Set([...waiting, ...slow.map(([lane]) => lane)])], owners };
    for (const lane of waiting) this.#leftOut.add(`lane ${lane}`);
    for (const owner of left.owners) this.#leftOut.add(`owner ${owner}`);
    return left;
  }

  /** One row less waits in it; true when it was the last. */
  #endsLane(lane: number): boolean {
    const waiting = this.#lanes.get(lane);
    if (waiting === undefined) return false;
    waiting.rows -= 1;
    if (waiting.rows > 0) return false;
    return this.#lanes.delete(lane);
  }

  #full(): number[] {
    const crowded = this.#rows.size >= MOST.all;
    return [...this.#owners].flatMap(([owner, { rows, tenant }]) => {
      const scarce = crowded || (this.#tenants.get(tenant) ?? 0) >= MOST.tenant;
      return rows >= (scarce ? FEW : MOST.owner) ? [owner] : [];
    });
  }
}

function add(counts: Map<number, number>, key: number, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

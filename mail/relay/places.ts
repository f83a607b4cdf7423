import type { Lane } from './lane.ts';

/** Part of all places that destinations may have which have not yet answered: the rest is for those that do. */
const UNPROVEN_SHARE = 0.75;
const MOST_PROVEN = 10_000;
/** Messages after which a connection makes place for a destination that has none. */
const TURN = 10;
/** A connection that has had its place for so long, ms, makes place after its next message. */
const LONG_TURN = 10_000;

interface Taken {
  tenant: number;
  unproven: boolean;
}

/** Who may have a connection: the one bound over all destinations, shared so that none is shut out. */
export class Places {
  readonly #most: number;
  #taken = 0;
  #unproven = 0;
  /** What each lane has taken, the newest last. */
  readonly #lanes = new Map<Lane, Taken[]>();
  /** Places by the tenant whose mail they were taken for. */
  readonly #tenants = new Map<number, number>();
  /** Destinations that wait for a place, by the tenant whose mail comes next, the longest waiting first. */
  readonly #queue = new Map<number, Set<Lane>>();
  readonly #queued = new Map<Lane, number>();
  readonly #proven = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Takes a place for a lane, or puts it in the queue and answers false. */
  take(lane: Lane): boolean {
    if (this.#taken >= this.#most || !this.#couldUse(lane)) {
      this.#enqueue(lane);
      return false;
    }
    this.forget(lane);
    const { tenant } = lane;
    const unproven = !this.#proven.has(lane.name);
    this.#taken += 1;
    if (unproven) this.#unproven += 1;
    this.#tenants.set(tenant, (this.#tenants.get(tenant) ?? 0) + 1);
    const had = this.#lanes.get(lane);
    if (had === undefined) this.#lanes.set(lane, [{ tenant, unproven }]);
    else had.push({ tenant, unproven });
    return true;
  }

  give(lane: Lane): void {
    const had = this.#lanes.get(lane);
    const place = had?.pop();
    if (had === undefined || place === undefined) return;
    if (had.length === 0) this.#lanes.delete(lane);
    this.#taken -= 1;
    if (place.unproven) this.#unproven -= 1;
    const left = (this.#tenants.get(place.tenant) ?? 0) - 1;
    if (left > 0) this.#tenants.set(place.tenant, left);
    else this.#tenants.delete(place.tenant);
  }

  /** A host of the destination answers: it is no longer held to the share of the unproven. */
  prove(lane: Lane): void {
    for (const place of this.#lanes.get(lane) ?? []) {
      if (place.unproven) this.#unproven -= 1;
      place.unproven = false;
    }
    this.#proven.delete(lane.name);
    this.#proven.add(lane.name);
    for (const oldest of this.#proven) {
      if (this.#proven.size <= MOST_PROVEN) break;
      this.#proven.delete(oldest);
    }
  }

  disprove(lane: Lane): void {
    this.#proven.delete(lane.name);
  }

  /** The lane that has the next free place: of the tenant that has fewest, the one that waits longest. It waits no more. */
  next(): Lane | undefined {
    if (this.#taken >= this.#most) return undefined;
    const tenants = [...this.#queue.keys()].sort((a, b) => this.#count(a) - this.#count(b));
    for (const tenant of tenants) {
      for (const lane of this.#queue.get(tenant) ?? []) {
        if (!this.#couldUse(lane)) continue;
        this.forget(lane);
        // Among those that have as many, it is the turn of the others then.
        const rest = this.#queue.get(tenant);
        this.#queue.delete(tenant);
        if (rest !== undefined) this.#queue.set(tenant, rest);
        return lane;
      }
    }
    return undefined;
  }

  forget(lane: Lane): void {
    const tenant = this.#queued.get(lane);
    if (tenant === undefined) return;
    this.#queued.delete(lane);
    const lanes = this.#queue.get(tenant);
    lanes?.delete(lane);
    if (lanes?.size === 0) this.#queue.delete(tenant);
  }

  /** True when a connection that has sent `sent` messages in `held` ms should make place for a destination that has none. */
  shouldYield(lane: Lane, sent: number, held: number): boolean {
    if (this.#queued.size === 0 || (lane.connections === 1 && sent < TURN && held < LONG_TURN)) return false;
    const freed = this.#lanes.get(lane)?.at(-1)?.unproven === true ? 1 : 0;
    for (const other of this.#queued.keys())
      if (other.connections === 0 && other.work > 0 && this.#couldUse(other, freed)) return true;
    return false;
  }

  /** True when a connection that has nothing to do keeps a destination waiting. */
  areWanted(): boolean {
    for (const waiting of this.#queued.keys()) if (waiting.work > 0 && this.#couldUse(waiting)) return true;
    return false;
  }

  #enqueue(lane: Lane): void {
    if (this.#queued.has(lane)) return;
    const { tenant } = lane;
    this.#queued.set(lane, tenant);
    const lanes = this.#queue.get(tenant);
    if (lanes === undefined) this.#queue.set(tenant, new Set([lane]));
    else lanes.add(lane);
  }

  #count(tenant: number): number {
    return this.#tenants.get(tenant) ?? 0;
  }

  /** `freed`: places of the unproven that would be given back for it. */
  #couldUse(lane: Lane, freed = 0): boolean {
    const share = Math.max(1, Math.floor(this.#most * UNPROVEN_SHARE));
    return this.#proven.has(lane.name) || this.#unproven - freed < share;
  }
}

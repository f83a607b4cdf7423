import type { Lane } from './lane.ts';

/** Part of all places that destinations may have which have not yet answered: the rest is for those that do. */
const UNPROVEN_SHARE = 0.75;
const MOST_PROVEN = 10_000;
/** Messages after which a connection makes place for a destination that has none. */
const TURN = 10;

/** Who may have a connection: the one bound over all destinations, shared so that none is shut out. */
export class Places {
  readonly #most: number;
  #taken = 0;
  /** Those in #taken of destinations that have not answered lately. */
  readonly #unproven = new Map<Lane, number>();
  /** Destinations that wait for a place, the longest waiting first. */
  readonly #queue = new Set<Lane>();
  readonly #proven = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Takes a place for a lane, or puts it in the queue and answers false. */
  take(lane: Lane): boolean {
    if (!this.#free(lane)) {
      this.#queue.add(lane);
      return false;
    }
    this.#queue.delete(lane);
    this.#taken += 1;
    if (!this.#proven.has(lane.domain)) this.#unproven.set(lane, (this.#unproven.get(lane) ?? 0) + 1);
    return true;
  }

  give(lane: Lane): void {
    this.#taken -= 1;
    const unproven = this.#unproven.get(lane) ?? 0;
    if (unproven > 1) this.#unproven.set(lane, unproven - 1);
    else this.#unproven.delete(lane);
  }

  /** A host of the destination answers: it is no longer held to the share of the unproven. */
  prove(lane: Lane): void {
    this.#unproven.delete(lane);
    this.#proven.delete(lane.domain);
    this.#proven.add(lane.domain);
    for (const oldest of this.#proven) {
      if (this.#proven.size <= MOST_PROVEN) break;
      this.#proven.delete(oldest);
    }
  }

  disprove(lane: Lane): void {
    this.#proven.delete(lane.domain);
  }

  /** Lanes that wait for a place, in turn. */
  waiting(): Lane[] {
    return [...this.#queue];
  }

  forget(lane: Lane): void {
    this.#queue.delete(lane);
  }

  /** True when a connection that has sent `sent` messages should make place for a destination that has none. */
  shouldYield(lane: Lane, sent: number): boolean {
    if (this.#queue.size === 0 || (lane.connections === 1 && sent < TURN)) return false;
    for (const other of this.#queue)
      if (other.connections === 0 && other.work > 0 && this.#couldUse(other)) return true;
    return false;
  }

  /** True when a connection that has nothing to do keeps a destination waiting. */
  areWanted(): boolean {
    for (const waiting of this.#queue) if (waiting.work > 0 && this.#couldUse(waiting)) return true;
    return false;
  }

  #free(lane: Lane): boolean {
    return this.#taken < this.#most && this.#couldUse(lane);
  }

  #couldUse(lane: Lane): boolean {
    if (this.#proven.has(lane.domain)) return true;
    let unproven = 0;
    for (const count of this.#unproven.values()) unproven += count;
    return unproven < Math.max(1, Math.floor(this.#most * UNPROVEN_SHARE));
  }
}

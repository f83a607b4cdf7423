import type { DestinationQueue } from './destination-queue.ts';
import { lruMap } from '../limits/lru-map.ts';

/** Share of connections for destinations that have not responded yet; the rest is for responsive ones. */
const UNPROVEN_SHARE = 0.75;
/** Responsive destinations in memory. */
const MAX_PROVEN = 10_000;
/** Messages after which a connection yields to a destination without one. */
const MESSAGES_PER_TURN = 10;
/** A connection that is open for this long, ms, yields after its next message. */
const MAX_TURN_MS = 10_000;

interface AllocatedConnection {
  tenant: number;
  unproven: boolean;
}

/** Allocates connections under one limit for all destinations, so that none starves. */
export class ConnectionAllocator {
  readonly #most: number;
  #taken = 0;
  #unproven = 0;
  /** Connections of each destination, the newest last. */
  readonly #connections = new Map<DestinationQueue, AllocatedConnection[]>();
  /** Connections by the tenant whose mail they were allocated for. */
  readonly #tenants = new Map<number, number>();
  /** Waiting destinations by the tenant of their next mail, the longest waiting first. */
  readonly #queue = new Map<number, Set<DestinationQueue>>();
  readonly #queued = new Map<DestinationQueue, number>();
  readonly #proven = lruMap<string, true>(MAX_PROVEN);

  constructor(most: number) {
    this.#most = most;
  }

  get allocated(): number {
    return this.#taken;
  }

  /** Allocates a connection to a destination, or enqueues it and returns false. */
  allocate(destination: DestinationQueue): boolean {
    if (this.#taken >= this.#most || !this.#couldUse(destination)) {
      this.#enqueue(destination);
      return false;
    }
    this.dequeue(destination);
    const { tenant } = destination;
    const unproven = !this.#proven.has(destination.name);
    this.#taken += 1;
    if (unproven) this.#unproven += 1;
    this.#tenants.set(tenant, (this.#tenants.get(tenant) ?? 0) + 1);
    const allocatedToIt = this.#connections.get(destination);
    if (allocatedToIt === undefined) this.#connections.set(destination, [{ tenant, unproven }]);
    else allocatedToIt.push({ tenant, unproven });
    return true;
  }

  release(destination: DestinationQueue): void {
    const allocatedToIt = this.#connections.get(destination);
    const connection = allocatedToIt?.pop();
    if (allocatedToIt === undefined || connection === undefined) return;
    if (allocatedToIt.length === 0) this.#connections.delete(destination);
    this.#taken -= 1;
    if (connection.unproven) this.#unproven -= 1;
    const left = (this.#tenants.get(connection.tenant) ?? 0) - 1;
    if (left > 0) this.#tenants.set(connection.tenant, left);
    else this.#tenants.delete(connection.tenant);
  }

  /** Marks a destination as responsive: the share of the unproven does not apply any more. */
  markResponsive(destination: DestinationQueue): void {
    for (const connection of this.#connections.get(destination) ?? []) {
      if (connection.unproven) this.#unproven -= 1;
      connection.unproven = false;
    }
    this.#proven.set(destination.name, true);
  }

  markUnproven(destination: DestinationQueue): void {
    this.#proven.delete(destination.name);
  }

  /** Dequeues the destination for the next free connection: the longest waiting of the tenant with the fewest connections. */
  next(): DestinationQueue | undefined {
    if (this.#taken >= this.#most) return undefined;
    const tenants = [...this.#queue.keys()].sort((a, b) => this.#count(a) - this.#count(b));
    for (const tenant of tenants) {
      for (const destination of this.#queue.get(tenant) ?? []) {
        if (!this.#couldUse(destination)) continue;
        this.dequeue(destination);
        // Tenants with equal counts take turns.
        const rest = this.#queue.get(tenant);
        this.#queue.delete(tenant);
        if (rest !== undefined) this.#queue.set(tenant, rest);
        return destination;
      }
    }
    return undefined;
  }

  dequeue(destination: DestinationQueue): void {
    const tenant = this.#queued.get(destination);
    if (tenant === undefined) return;
    this.#queued.delete(destination);
    const destinations = this.#queue.get(tenant);
    destinations?.delete(destination);
    if (destinations?.size === 0) this.#queue.delete(tenant);
  }

  /** True if a connection that has sent `sent` messages in `held` ms must yield to a destination without one. */
  shouldYield(destination: DestinationQueue, sent: number, held: number): boolean {
    if (this.#queued.size === 0 || (destination.connections === 1 && sent < MESSAGES_PER_TURN && held < MAX_TURN_MS))
      return false;
    const freed = this.#connections.get(destination)?.at(-1)?.unproven === true ? 1 : 0;
    for (const other of this.#queued.keys())
      if (other.connections === 0 && other.work > 0 && this.#couldUse(other, freed)) return true;
    return false;
  }

  /** True if a waiting destination could use an idle connection. */
  hasWaiting(): boolean {
    for (const waiting of this.#queued.keys()) if (waiting.work > 0 && this.#couldUse(waiting)) return true;
    return false;
  }

  #enqueue(destination: DestinationQueue): void {
    if (this.#queued.has(destination)) return;
    const { tenant } = destination;
    this.#queued.set(destination, tenant);
    const destinations = this.#queue.get(tenant);
    if (destinations === undefined) this.#queue.set(tenant, new Set([destination]));
    else destinations.add(destination);
  }

  #count(tenant: number): number {
    return this.#tenants.get(tenant) ?? 0;
  }

  /** `freed`: unproven connections that would be released for it. */
  #couldUse(destination: DestinationQueue, freed = 0): boolean {
    const share = Math.max(1, Math.floor(this.#most * UNPROVEN_SHARE));
    return this.#proven.has(destination.name) || this.#unproven - freed < share;
  }
}

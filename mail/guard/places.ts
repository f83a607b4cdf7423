import { neighbourhoodOf, networkOf } from './network.ts';
import type { Protocol } from './types.ts';

export interface PlaceLimits {
  /** Connections of everybody, by protocol. */
  total: Readonly<Record<Protocol, number>>;
  /** Connections of one address (IPv6: one /64) to one protocol, and to all together. */
  each: number;
  eachAll: number;
  /** How many times that for the neighbourhood: an IPv4 /26, an IPv6 /48. */
  neighbours: number;
}

type Counts = Record<Protocol, number>;

/** Open connections by where they come from. Without it one peer takes every place of a door. */
export class Places {
  readonly #limits: PlaceLimits;
  readonly #total: Counts = { smtp: 0, imap: 0, http: 0 };
  /** By network and by neighbourhood: their forms differ. */
  readonly #from = new Map<string, Counts>();

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /** Takes a place, or says which limit is reached. Who is free has as many places again, and counts among all only. */
  take(protocol: Protocol, ip: string, free: boolean): 'in' | 'full' | 'too-many' {
    if (this.taken(protocol) >= (free ? 2 : 1)) return 'full';
    if (free) {
      this.#total[protocol] += 1;
      return 'in';
    }
    const [network, around] = [networkOf(ip), neighbourhoodOf(ip)];
    if (this.#isFull(network, protocol, 1) || this.#isFull(around, protocol, this.#limits.neighbours))
      return 'too-many';
    this.#add(network, protocol, 1);
    this.#add(around, protocol, 1);
    this.#total[protocol] += 1;
    return 'in';
  }

  /** Gives back what {@link take} took. */
  leave(protocol: Protocol, ip: string, free: boolean): void {
    this.#total[protocol] -= 1;
    if (free) return;
    this.#add(networkOf(ip), protocol, -1);
    this.#add(neighbourhoodOf(ip), protocol, -1);
  }

  /** The part of a protocol's places that is taken. */
  taken(protocol: Protocol): number {
    return this.#total[protocol] / this.#limits.total[protocol];
  }

  /** Networks and neighbourhoods that are remembered: those that are connected. */
  get size(): number {
    return this.#from.size;
  }

  #isFull(from: string, protocol: Protocol, times: number): boolean {
    const counts = this.#from.get(from);
    if (counts === undefined) return false;
    const { each, eachAll } = this.#limits;
    return counts[protocol] >= each * times || sum(counts) >= eachAll * times;
  }

  #add(from: string, protocol: Protocol, by: 1 | -1): void {
    const counts = this.#from.get(from) ?? { smtp: 0, imap: 0, http: 0 };
    counts[protocol] += by;
    if (sum(counts) > 0) this.#from.set(from, counts);
    else this.#from.delete(from);
  }
}

function sum({ smtp, imap, http }: Counts): number {
  return smtp + imap + http;
}

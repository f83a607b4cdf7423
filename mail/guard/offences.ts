import type { LRUCache } from 'lru-cache';
import { lruMap } from '../limits/lru-map.ts';
import type { Offence } from './types.ts';

const DAY_MS = 24 * 3_600_000;
const MINUTE_MS = 60_000;

/** Offences of each kind in a day that cause a ban. */
export type OffenceLimits = Readonly<Record<Offence, number>>;

export interface NetworkCounters extends Record<Offence, number> {
  since: number;
  /** Messages accepted from the network. */
  messages: number;
  /** End of the exemption after a successful login, ms UTC. */
  welcomeUntil: number;
}

/**
 * Unknown recipients allowed for each accepted message: a server that sends much good mail also sends some to deleted
 * addresses.
 */
const UNKNOWN_RECIPIENTS_PER_MESSAGE = 10;

/** Counts offences and accepted messages of each network, per day. In memory only. */
export class Offences {
  readonly #limits: OffenceLimits;
  readonly #counters: LRUCache<string, NetworkCounters>;

  /** `networks`: capacity; the least recently used is evicted. */
  constructor(limits: OffenceLimits, networks: number) {
    this.#limits = limits;
    this.#counters = lruMap(networks);
  }

  get size(): number {
    return this.#counters.size;
  }

  /** Counts an offence; returns the count when it causes a ban. */
  add(network: string, offence: Offence, now: number): number | undefined {
    const counters = this.#change(network, now, (one) => (one[offence] += 1));
    const allowed = offence === 'recipients' ? counters.messages * UNKNOWN_RECIPIENTS_PER_MESSAGE : 0;
    return counters[offence] >= this.#limits[offence] + allowed ? counters[offence] : undefined;
  }

  addMessage(network: string, now: number): void {
    this.#change(network, now, (one) => (one.messages += 1));
  }

  welcome(network: string, now: number): void {
    this.#change(network, now, (one) => (one.welcomeUntil = now + DAY_MS));
  }

  isWelcome(network: string, now: number): boolean {
    const until = this.#counters.get(network)?.welcomeUntil ?? 0;
    return until > now && until <= now + DAY_MS + MINUTE_MS;
  }

  delete(network: string): void {
    this.#counters.delete(network);
  }

  #change(network: string, now: number, change: (counters: NetworkCounters) => void): NetworkCounters {
    const counters = currentCounters(this.#counters.get(network), now);
    change(counters);
    this.#counters.set(network, counters);
    return counters;
  }
}

/** Counters of the day that began with the first event. A day that begins in the future means that the clock was set back. */
function currentCounters(known: NetworkCounters | undefined, now: number): NetworkCounters {
  if (known !== undefined && now - known.since < DAY_MS && known.since <= now + MINUTE_MS) return known;
  const { welcomeUntil = 0 } = known ?? {};
  return { since: now, logins: 0, recipients: 0, scans: 0, loitering: 0, messages: 0, welcomeUntil };
}

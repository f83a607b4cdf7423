import { RecentMap } from './recent-map.ts';
import type { Offence } from './types.ts';

const DAY_MS = 24 * 3_600_000;
const MINUTE_MS = 60_000;

/** How many of each in a day make a ban. */
export type OffenceLimits = Readonly<Record<Offence, number>>;

export interface Tally extends Record<Offence, number> {
  since: number;
  /** Messages that were taken from there. */
  messages: number;
  /** ms UTC until which somebody there belongs here. */
  welcomeUntil: number;
}

/**
 * Who passes on much good mail also brings some for addresses that are gone: that many unknown recipients for each
 * message that was taken are none of a guesser's.
 */
const UNKNOWN_FOR_EACH_MESSAGE = 10;

/** What speaks for and against each network, today. Kept in memory: whoever can end our process needs no guesses. */
export class Offences {
  readonly #limits: OffenceLimits;
  readonly #tallies: RecentMap<string, Tally>;

  constructor(limits: OffenceLimits, entries: number) {
    this.#limits = limits;
    this.#tallies = new RecentMap(entries);
  }

  get size(): number {
    return this.#tallies.size;
  }

  /** Counts one; answers the count when it is enough for a ban. */
  add(network: string, offence: Offence, now: number): number | undefined {
    const tally = this.#change(network, now, (one) => (one[offence] += 1));
    const allowed = offence === 'recipients' ? tally.messages * UNKNOWN_FOR_EACH_MESSAGE : 0;
    return tally[offence] >= this.#limits[offence] + allowed ? tally[offence] : undefined;
  }

  message(network: string, now: number): void {
    this.#change(network, now, (one) => (one.messages += 1));
  }

  welcome(network: string, now: number): void {
    this.#change(network, now, (one) => (one.welcomeUntil = now + DAY_MS));
  }

  isWelcome(network: string, now: number): boolean {
    const until = this.#tallies.get(network)?.welcomeUntil ?? 0;
    return until > now && until <= now + DAY_MS + MINUTE_MS;
  }

  forget(network: string): void {
    this.#tallies.delete(network);
  }

  #change(network: string, now: number, change: (tally: Tally) => void): Tally {
    const tally = today(this.#tallies.get(network), now);
    change(tally);
    this.#tallies.set(network, tally);
    return tally;
  }
}

/** A day counted from the first thing that was noted. One that begins in the future is of a clock that was set back. */
function today(tally: Tally | undefined, now: number): Tally {
  if (tally !== undefined && now - tally.since < DAY_MS && tally.since <= now + MINUTE_MS) return tally;
  const { welcomeUntil = 0 } = tally ?? {};
  return { since: now, logins: 0, recipients: 0, scans: 0, loitering: 0, messages: 0, welcomeUntil };
}

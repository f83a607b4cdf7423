import { RecentMap } from '../guard/recent-map.ts';
import { type Address, addressKey } from '../message/address.ts';
import { greylisted, REMEMBERED_FOR, tripletOf } from '../policy/greylisting.ts';
import { networkOf } from '../policy/network.ts';
import { StoreBusy } from '../store/engine/types.ts';
import { greylistFacts, passGreylist } from '../store/greylist.ts';
import type { MailStore } from '../store/store.ts';
import type { Refusal, Route } from './needs.ts';
import { refuse } from './refusal.ts';

/** Somebody from outside names a recipient. */
export interface Contact {
  ip: string;
  /** Undefined is the null reverse-path. */
  sender: Address | undefined;
  to: Address;
  route: Route;
}

/** First tries that are remembered; beyond, the oldest must come once more. */
const MOST_WAITING = 100_000;
/** RFC 5321 4.5.1 and RFC 2142: who has trouble with us must reach us. */
const ALWAYS = new Set(['postmaster', 'abuse']);

/** Sends strangers away once, for five minutes: mail servers come again, and programs that only send spam mostly do not. RFC 6647. */
export class Greylist {
  readonly #store: Pick<MailStore, 'read' | 'write'>;
  readonly #clock: () => number;
  /** When a triplet was first tried. A restart forgets it, which costs a try. */
  readonly #tried = new RecentMap<number, number>(MOST_WAITING);

  constructor(store: Pick<MailStore, 'read' | 'write'>, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  /** "Later" for who has to come again. Peers that are not public are let in, and everybody while the store is busy. */
  async look({ ip, sender, to, route }: Contact): Promise<Refusal | undefined> {
    const network = networkOf(ip);
    if (network === '' || ALWAYS.has(to.local.toLowerCase())) return undefined;
    const now = this.#clock();
    const from = sender === undefined ? '' : addressKey(sender);
    const triplet = tripletOf(network, from, addressKey(to));
    // Of several whom an alias leads to the first speaks for all.
    const account = (route.kind === 'here' ? route.accounts[0] : undefined) ?? null;
    const facts = await this.#store.read(greylistFacts, { triplet, network, sender: from, account, now });
    const verdict = greylisted({ ...facts, now, triedAt: this.#tried.get(triplet) ?? 0 });
    if (verdict === 'begin') this.#tried.set(triplet, now);
    if (verdict === 'passed' || isFading(facts.passedUntil, now)) await this.#remember(triplet, network, now);
    return verdict === 'pass' || verdict === 'passed' ? undefined : LATER;
  }

  async #remember(triplet: number, network: string, now: number): Promise<void> {
    try {
      await this.#store.write(passGreylist, { triplet, network, until: now + REMEMBERED_FOR });
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error;
    }
  }
}

const LATER = refuse(
  451,
  '4.7.1',
  'We do not know you yet: send it again in five minutes, as mail servers do by themselves',
);

/** Remembered, and written down again once a day at most. */
function isFading(until: number, now: number): boolean {
  return until > now && until - now < REMEMBERED_FOR - 24 * 3_600_000;
}

import { lruMap } from '../limits/lru-map.ts';
import { type Address, addressKey } from '../message/address.ts';
import { evaluateGreylisting, TRIPLET_LIFETIME_MS, tripletHash } from '../policy/greylisting.ts';
import { senderNetwork } from '../policy/sender-network.ts';
import { StoreBusy } from '../store/engine/types.ts';
import { greylistFacts, passGreylist } from '../store/limit/greylist.ts';
import type { MailStore } from '../store/store.ts';
import type { RecipientRoute, SmtpRefusal } from './needs.ts';
import { smtpRefusal } from './refusal.ts';

/** One RCPT from outside. */
export interface GreylistAttempt {
  ip: string;
  /** Undefined: the null reverse-path. */
  sender: Address | undefined;
  to: Address;
  route: RecipientRoute;
}

/** First attempts that are remembered; beyond it the oldest start again. */
const MAX_PENDING = 100_000;
/** RFC 5321 4.5.1 and RFC 2142: senders must be able to report trouble with this server. */
const EXEMPT = new Set(['postmaster', 'abuse']);

/** Defers unknown senders for five minutes: mail servers retry, most spam software does not. RFC 6647. */
export class Greylist {
  readonly #store: Pick<MailStore, 'read' | 'write'>;
  readonly #clock: () => number;
  /** Time of the first attempt by triplet. Lost at a restart, which costs the sender one more attempt. */
  readonly #pending = lruMap<number, number>(MAX_PENDING);

  constructor(store: Pick<MailStore, 'read' | 'write'>, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Defers an unknown sender. Passes peers in private networks, and everybody while the store is busy. */
  async check({ ip, sender, to, route }: GreylistAttempt): Promise<SmtpRefusal | undefined> {
    const network = senderNetwork(ip);
    if (network === '' || EXEMPT.has(to.local.toLowerCase())) return undefined;
    const now = this.#clock();
    const from = sender === undefined ? '' : addressKey(sender);
    const triplet = tripletHash(network, from, addressKey(to));
    // The first account of an alias decides for all.
    const account = (route.kind === 'here' ? route.accounts[0] : undefined) ?? null;
    const facts = await this.#store.read(greylistFacts, { triplet, network, sender: from, account, now });
    const verdict = evaluateGreylisting({ ...facts, now, triedAt: this.#pending.get(triplet) ?? 0 });
    if (verdict === 'begin') this.#pending.set(triplet, now);
    if (verdict === 'passed' || isFading(facts.passedUntil, now)) await this.#pass(triplet, network, now);
    return verdict === 'pass' || verdict === 'passed' ? undefined : GREYLISTED;
  }

  async #pass(triplet: number, network: string, now: number): Promise<void> {
    try {
      await this.#store.write(passGreylist, { triplet, network, until: now + TRIPLET_LIFETIME_MS });
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error;
    }
  }
}

const GREYLISTED = smtpRefusal(451, '4.7.1', 'Greylisted: unknown sender, retry in five minutes');

/** Renews a pass once a day at most. */
function isFading(until: number, now: number): boolean {
  return until > now && until - now < TRIPLET_LIFETIME_MS - 24 * 3_600_000;
}

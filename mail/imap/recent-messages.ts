import type { MailboxView } from './imap-store.ts';
import { lowerBound, type SequenceRange } from './wire/sequence-set.ts';

/** Ranges that a session keeps: sessions that get messages in turns would collect one for each message. */
const MAX_RANGES = 100;

/**
 * The messages with \Recent in one session: those of which it was the first to be notified. EXAMINE shows them and claims
 * none. RFC 3501 2.3.2.
 */
export class RecentMessages {
  readonly #view: MailboxView;
  readonly #claims: boolean;
  #ranges: SequenceRange[] = [];

  constructor(view: MailboxView, claims: boolean) {
    this.#view = view;
    this.#claims = claims;
  }

  get ranges(): readonly SequenceRange[] {
    return this.#ranges;
  }

  /** Adds the messages that arrived since; called when the session is notified of them. */
  update(): void {
    const from = this.#claims ? this.#view.claimRecent() : this.#view.recentFrom;
    const to = this.#view.uidNext - 1;
    if (from > to) return;
    if (!this.#claims) this.#ranges = [{ from, to }];
    else this.#add({ from, to });
  }

  has(uid: number): boolean {
    return this.#ranges.some(({ from, to }) => uid >= from && uid <= to);
  }

  /** Messages among `uids[0..length)`. */
  count(uids: Uint32Array, length: number): number {
    const below = (uid: number): number => lowerBound(uids, length, uid);
    return this.#ranges.reduce((sum, { from, to }) => sum + below(to + 1) - below(from), 0);
  }

  #add(range: SequenceRange): void {
    const last = this.#ranges.at(-1);
    if (last?.to === range.from - 1) last.to = range.to;
    else this.#ranges.push(range);
    if (this.#ranges.length > MAX_RANGES) this.#ranges.shift();
  }
}

import type { Log, Meter } from '../../mail/log.ts';
import { FRESH_MS, noteExposures, outsidersMail, type Reader } from '../../mail/store/exposure.ts';
import type { MailStore } from '../../mail/store/store.ts';

/** Readings that are remembered; a forgotten one is only looked up again. */
const MOST_REMEMBERED = 50_000;
/** Messages of one commit. */
const SLICE = 200;

/**
 * Writes down which mail of outsiders an agent is shown. What was written down within the hour costs nothing; when it is
 * on disk that the reader is exposed, which further mails it reads is written behind the answer: it explains, and no more.
 */
export class ExposureLog {
  readonly #store: MailStore;
  readonly #clock: () => number;
  readonly #meter: Meter;
  readonly #log: Log;
  /** Who read what, and who is exposed, with the time; in the order of time. */
  readonly #known = new Map<string, number>();

  constructor({ store, clock, meter, log }: { store: MailStore; clock: () => number; meter: Meter; log: Log }) {
    this.#store = store;
    this.#clock = clock;
    this.#meter = meter;
    this.#log = log;
  }

  /** Resolves when it is on disk that who reads is exposed: only then may the messages be shown. `by` says who reads; undefined: no agent. */
  async note(
    who: string,
    account: number,
    emails: readonly number[],
    by: () => Promise<Reader | undefined>,
  ): Promise<void> {
    const now = this.#clock();
    const fresh = emails.filter((email) => !this.#isKnown(`${who} ${email}`, now));
    if (fresh.length === 0) return;
    const reader = await by();
    if (reader === undefined) return;
    for (let at = 0; at < fresh.length; at += SLICE) {
      const slice = fresh.slice(at, at + SLICE);
      const outside = await this.#store.read(outsidersMail, { ...reader, account, emails: slice });
      if (outside.length > 0) await this.#write(reader, { account, emails: outside }, now);
      for (const email of slice) this.#remember(`${who} ${email}`, now);
    }
  }

  async #write(reader: Reader, what: { account: number; emails: readonly number[] }, now: number): Promise<void> {
    const written = this.#store
      .write(noteExposures, { reader, ...what })
      .then((noted) => this.#meter.count('agent_exposures_total', {}, noted));
    const exposed = `exposed ${reader.reader}`;
    if (this.#isKnown(exposed, now)) {
      written.catch((error: unknown) => this.#log.warn({ err: error }, 'what an agent read could not be written down'));
      return;
    }
    await written;
    this.#remember(exposed, now);
  }

  #isKnown(key: string, now: number): boolean {
    const at = this.#known.get(key);
    return at !== undefined && at > now - FRESH_MS && at <= now;
  }

  #remember(key: string, now: number): void {
    this.#known.delete(key);
    this.#known.set(key, now);
    if (this.#known.size <= MOST_REMEMBERED) return;
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest);
      if (this.#known.size <= MOST_REMEMBERED * 0.9) return;
    }
  }
}

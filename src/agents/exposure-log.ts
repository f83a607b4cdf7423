import type { Log, Meter } from '../../mail/log.ts';
import { noteExposed, noteExposures, outsidersMail, type Reader } from '../../mail/store/exposure.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { Noted } from './noted.ts';

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
  /** Who read what, and who is exposed. */
  readonly #noted = new Noted();

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
    const fresh = emails.filter((email) => !this.#noted.has(`${who} ${email}`, now));
    if (fresh.length === 0) return;
    const reader = await by();
    if (reader === undefined) return;
    for (let at = 0; at < fresh.length; at += SLICE) {
      const slice = fresh.slice(at, at + SLICE);
      const outside = await this.#store.read(outsidersMail, { ...reader, account, emails: slice });
      if (outside.length > 0) await this.#write(reader, { account, emails: outside }, now);
      for (const email of slice) this.#noted.add(`${who} ${email}`, now);
    }
  }

  /** Text that no mailbox has, and that an outsider may have written, is about to be shown. Resolves as {@link note} does. */
  async noteText(by: () => Promise<Reader | undefined>): Promise<void> {
    const now = this.#clock();
    const reader = await by();
    if (reader === undefined || this.#noted.has(`exposed ${reader.reader}`, now)) return;
    await this.#store.write(noteExposed, { reader });
    this.#noted.add(`exposed ${reader.reader}`, now);
  }

  async #write(reader: Reader, what: { account: number; emails: readonly number[] }, now: number): Promise<void> {
    const written = this.#store
      .write(noteExposures, { reader, ...what })
      .then((noted) => this.#meter.count('agent_exposures_total', {}, noted));
    const exposed = `exposed ${reader.reader}`;
    if (this.#noted.has(exposed, now)) {
      written.catch((error: unknown) => this.#log.warn({ err: error }, 'what an agent read could not be written down'));
      return;
    }
    await written;
    this.#noted.add(exposed, now);
  }
}

import type { Reader } from '../../mail/store/exposure.ts';
import { noteHandedOut } from '../../mail/store/handed-out.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { Noted } from './noted.ts';

/** Messages of one commit. */
const SLICE = 200;

/** Writes down which messages agents are handed, whoever wrote them: by that it is known what they hand on. */
export class HandedOutLog {
  readonly #store: MailStore;
  readonly #clock: () => number;
  readonly #noted = new Noted();

  constructor({ store, clock }: { store: MailStore; clock: () => number }) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Resolves when it is on disk: only then may octets leave. `by` says who gets them; undefined: no agent. */
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
      await this.#store.write(noteHandedOut, { reader, account, emails: slice });
      for (const email of slice) this.#noted.add(`${who} ${email}`, now);
    }
  }
}

import { setImmediate as turn } from 'node:timers/promises';
import type { SecretKind } from '../../../store/shown-secret.ts';
import { hasBareSecret, type SecretFormats } from './formats.ts';
import { lettersOf, plainText } from './plain.ts';
import type { ShownSearch } from './shown-form.ts';
import { viewsOf } from './views.ts';

/** Characters that are gone through without a turn for others. */
const TURN = 64 * 1024;
/** Characters that are looked at together, and how much of the end of a stretch the next one begins with. */
const STRETCH = 32 * 1024;
const OVERLAP = 1024;
/** Characters of one message of which all codings are undone; the rest is looked at as it stands. */
const DEEP = 256 * 1024;

/** What a message is looked through for. */
export interface Sought {
  readonly formats: SecretFormats;
  readonly shown: ShownSearch;
}

/** Looks for secrets in the texts of one message. */
export class SecretScan {
  readonly found = new Set<SecretKind>();
  readonly #sought: Sought;
  #deep = DEEP;
  #done = 0;

  constructor(sought: Sought) {
    this.#sought = sought;
  }

  /** Looks at a text in all that it may be written in, as far as that may be done in one message. */
  async text(text: string): Promise<void> {
    for (let at = 0; at < text.length; at += STRETCH) {
      const stretch = text.slice(at, at + STRETCH + OVERLAP);
      this.#deep -= stretch.length;
      if (this.#deep < 0) await this.#look(stretch, true);
      else for (const view of viewsOf(stretch)) await this.#look(view, true);
    }
  }

  /** Looks at octets as they stand, for what nothing else looks like. */
  async octets(octets: Buffer): Promise<void> {
    await this.#look(octets.toString('latin1'), false);
  }

  async #look(text: string, bare: boolean): Promise<void> {
    const plain = plainText(text);
    const letters = lettersOf(plain);
    for (const kind of this.#sought.formats.in(plain, letters)) this.found.add(kind);
    for (const kind of this.#sought.shown.in(plain, letters)) this.found.add(kind);
    if (bare && hasBareSecret(plain)) this.found.add('token');
    this.#done += text.length;
    if (this.#done < TURN) return;
    this.#done = 0;
    // Taking a large message apart is work on the thread that everybody shares.
    await turn();
  }
}

import { setImmediate as turn } from 'node:timers/promises';
import { entities, htmlText } from '../../../message/html-text.ts';
import type { SecretKind } from '../../../store/shown-secret.ts';
import type { Unread } from '../types.ts';
import { hasBareSecret, type SecretFormats } from './formats.ts';
import { Fragments } from './fragments.ts';
import { lettersOf, plainText, signsOf } from './plain.ts';
import type { ShownSearch } from './shown-form.ts';
import { viewsOf } from './views.ts';

/** Characters that are gone through without a turn for others. */
const TURN = 64 * 1024;
/** Characters that are looked at together, and how much of the end of a stretch the next one begins with. */
const STRETCH = 32 * 1024;
const OVERLAP = 1024;
/** Characters of one message of which all codings are undone; the rest is looked at as it stands. */
const DEEP = 256 * 1024;
/** Characters of one message that are brought to one form where they are not ASCII; of the rest only ASCII counts. */
const WIDE = 2 * 1024 * 1024;
/** Characters of one message that are looked at without their tags as well. */
const TAGGED = 2 * 1024 * 1024;

/** What a message is looked through for. */
export interface Sought {
  readonly formats: SecretFormats;
  readonly shown: ShownSearch;
}

/** Looks for secrets in the texts of one message. */
export class SecretScan {
  readonly found = new Set<SecretKind>();
  /** What was looked at in part only, or not at all. */
  readonly unread = new Set<Unread>();
  readonly #sought: Sought;
  readonly #fragments = new Fragments();
  #deep = DEEP;
  #wide = WIDE;
  #tagged = TAGGED;
  #done = 0;

  constructor(sought: Sought) {
    this.#sought = sought;
  }

  /** Looks at a text in all that it may be written in, as far as that may be done in one message. */
  async text(text: string): Promise<void> {
    for (const stretch of stretchesOf(text)) {
      this.#deep -= stretch.length;
      if (this.#deep < 0) {
        this.unread.add('long');
        await this.#look(stretch, true);
      } else for (const view of viewsOf(stretch)) await this.#look(view, true);
    }
  }

  /** The same of a text that a person reads, or that may be one with tags. */
  async words(text: string): Promise<void> {
    this.#fragments.add(plainText(text.slice(0, TURN)));
    await this.text(text);
    if (!text.includes('<') || this.#tagged <= 0) return;
    const tagged = text.slice(0, this.#tagged);
    this.#tagged -= tagged.length;
    for (const stretch of stretchesOf(htmlText(tagged, tagged.length))) await this.#look(stretch, true);
    // A word may be cut by tags, which a preview takes for blanks.
    await this.text(entities(tagged.replace(/<[^<>]*>/g, '')));
  }

  /** Looks at octets as they stand, for what nothing else looks like. */
  async octets(octets: Buffer): Promise<void> {
    for (let at = 0; at < octets.length; at += TURN) {
      await this.#lookQuickly(octets.subarray(at, at + TURN + OVERLAP));
    }
  }

  /** When everything was looked at: what was cut up over several places. */
  async end(): Promise<void> {
    await this.#look(this.#fragments.toString(), false);
  }

  async #look(text: string, bare: boolean): Promise<void> {
    const octets = Buffer.from(text);
    const ascii = octets.length === text.length;
    if (!ascii) this.#wide -= text.length;
    if (!ascii && this.#wide >= 0) return this.#lookClosely(text, bare);
    if (bare && hasBareSecret(text.toLowerCase())) this.found.add('token');
    await this.#lookQuickly(octets);
  }

  async #lookQuickly(octets: Buffer): Promise<void> {
    const { signs, letters } = signsOf(octets);
    const { formats, shown } = this.#sought;
    const plain = shown.seeksWords ? octets.toString('latin1').toLowerCase() : '';
    this.#add(formats.inSigns(signs, letters), shown.in(plain, letters));
    await this.#took(octets.length);
  }

  async #lookClosely(text: string, bare: boolean): Promise<void> {
    const { formats, shown } = this.#sought;
    const plain = plainText(text);
    const letters = lettersOf(plain);
    this.#add(formats.in(plain, letters), shown.in(plain, letters));
    if (bare && hasBareSecret(plain)) this.found.add('token');
    await this.#took(text.length);
  }

  #add(...kinds: readonly SecretKind[][]): void {
    for (const kind of kinds.flat()) this.found.add(kind);
  }

  async #took(length: number): Promise<void> {
    this.#done += length;
    if (this.#done < TURN) return;
    this.#done = 0;
    // Taking a large message apart is work on the thread that everybody shares.
    await turn();
  }
}

function* stretchesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += STRETCH) yield text.slice(at, at + STRETCH + OVERLAP);
}

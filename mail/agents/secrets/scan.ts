import { yieldToEventLoop } from '../../limits/event-loop.ts';
import type { QueueHolder } from '../../limits/turn-queue.ts';
import { decodeEntities } from '../../message/html-entities.ts';
import { htmlText } from '../../message/html-text.ts';
import type { SecretKind } from './shown-secret.ts';
import type { UnscannedReason } from '../gate/types.ts';
import { hasBareSecret, type SecretPatterns } from './secret-patterns.ts';
import { hidesData, lettersOf, normalizeText, signsOf } from './plain.ts';
import { viewsOf } from './views.ts';

/** Characters scanned before yielding to the event loop. */
const YIELD_EVERY = 64 * 1024;
/** Characters scanned at once, and the overlap of two stretches. */
const STRETCH = 32 * 1024;
const OVERLAP = 1024;
/** Characters of one message that are decoded in all encodings; the rest is scanned as it is. */
const MAX_DECODED = 256 * 1024;
/** Characters of one message that are normalized if not ASCII; of the rest only ASCII counts. */
const MAX_NORMALIZED = 2 * 1024 * 1024;
/** Characters of one message that are scanned without their tags as well. */
const MAX_UNTAGGED = 2 * 1024 * 1024;

/** Characters of a field scanned for fragments, and fragments of a message. */
const MAX_FRAGMENT_TEXT = 64 * 1024;
const MAX_FRAGMENTS = 500;
/** Words that may be a fragment of a secret: long enough, with a digit. */
const FRAGMENT = /(?=[a-z_-]{0,63}[0-9])[a-z0-9_-]{6,64}/g;

/** Lists the words of a plain text that may be fragments of a secret. */
export function fragmentsOf(plain: string): string[] {
  return plain.slice(0, MAX_FRAGMENT_TEXT).match(FRAGMENT) ?? [];
}

/** Scans the texts of one message for secrets. */
export class SecretScan {
  readonly found = new Set<SecretKind>();
  /** Reasons why something was scanned in part only, or not at all. */
  readonly unscanned = new Set<UnscannedReason>();
  readonly #sought: SecretPatterns;
  readonly #holder: QueueHolder | undefined;
  /** Fragments of a secret that is split over several fields or parts, in their order. */
  readonly #fragments: string[] = [];
  #deep = MAX_DECODED;
  #wide = MAX_NORMALIZED;
  #tagged = MAX_UNTAGGED;
  #done = 0;

  /** `holder`: who gives way to others. */
  constructor(sought: SecretPatterns, holder?: QueueHolder) {
    this.#holder = holder;
    this.#sought = sought;
  }

  /** Scans a text in all encodings, as far as the budget of the message allows. */
  async text(text: string): Promise<void> {
    for (const stretch of stretchesOf(text)) {
      this.#deep -= stretch.length;
      if (this.#deep < 0) {
        this.unscanned.add('long');
        await this.#look(stretch, true);
      } else for (const view of viewsOf(stretch)) await this.#lookInTurns(view);
    }
  }

  /** Scans a text that a person reads, with and without its tags. */
  async words(text: string): Promise<void> {
    if (hidesData(text)) this.found.add('invisible');
    if (this.#fragments.length < MAX_FRAGMENTS) {
      this.#fragments.push(...fragmentsOf(normalizeText(text.slice(0, YIELD_EVERY))));
    }
    await this.text(text);
    if (!text.includes('<') || this.#tagged <= 0) return;
    const tagged = text.slice(0, this.#tagged);
    this.#tagged -= tagged.length;
    for (const stretch of stretchesOf(htmlText(tagged, tagged.length))) await this.#look(stretch, true);
    // Removes tags within a word, which a preview takes for blanks.
    await this.text(decodeEntities(tagged.replace(/<[^<>]*>/g, '')));
  }

  /** Scans octets without decoding. */
  async octets(octets: Buffer): Promise<void> {
    for (let at = 0; at < octets.length; at += YIELD_EVERY) {
      await this.#lookQuickly(octets.subarray(at, at + YIELD_EVERY + OVERLAP));
    }
  }

  /** Scans the collected fragments; call it last. */
  async end(): Promise<void> {
    await this.#look(this.#fragments.slice(0, MAX_FRAGMENTS).join(''), false);
  }

  /** Scans a decoded text: words that inflate are up to 600 times as long, and are not scanned at once. */
  async #lookInTurns(view: string): Promise<void> {
    if (view.length <= 2 * STRETCH) return this.#look(view, true);
    for (const stretch of stretchesOf(view)) await this.#look(stretch, true);
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
    for (const kind of formats.inSigns(signs, letters)) this.found.add(kind);
    if (shown !== undefined) {
      const plain = shown.seeksWords ? octets.toString('latin1').toLowerCase() : '';
      for (const kind of shown.in(plain, letters)) this.found.add(kind);
    }
    await this.#took(octets.length);
  }

  async #lookClosely(text: string, bare: boolean): Promise<void> {
    const { formats, shown } = this.#sought;
    const plain = normalizeText(text);
    const letters = lettersOf(plain);
    for (const kind of [...formats.in(plain, letters), ...(shown?.in(plain, letters) ?? [])]) this.found.add(kind);
    if (bare && hasBareSecret(plain)) this.found.add('token');
    await this.#took(text.length);
  }

  async #took(length: number): Promise<void> {
    this.#done += length;
    if (this.#done < YIELD_EVERY) return;
    this.#done = 0;
    // Scanning a large message blocks the shared thread.
    await yieldToEventLoop(this.#holder);
  }
}

function* stretchesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += STRETCH) yield text.slice(at, at + STRETCH + OVERLAP);
}

/** Scans words that leave by another way than a message: names in notices, host names. */
export async function secretsInWords(words: readonly string[], sought: SecretPatterns): Promise<SecretKind[]> {
  const scan = new SecretScan(sought);
  for (const one of words) await scan.words(one);
  await scan.end();
  return [...scan.found];
}

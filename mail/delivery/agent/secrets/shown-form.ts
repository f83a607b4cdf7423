import { createHmac } from 'node:crypto';
import type { SecretKind, ShownForm } from '../../../store/shown-secret.ts';
import { lettersOf, plainText } from './plain.ts';

/** Letters and digits by which a long secret is known again. */
const CORE = 24;
const SHORTEST = { code: 4, other: 8 } as const;
const LONGEST_CODE = 12;

/** What of a secret is sought: its first letters and digits, without signs. Undefined: too little to know it by. */
export function coreOf(kind: SecretKind, text: string): string | undefined {
  const core =
    kind === 'link' ? linkCore(text) : lettersOf(plainText(text)).slice(0, kind === 'code' ? LONGEST_CODE : CORE);
  return core.length < (kind === 'code' ? SHORTEST.code : SHORTEST.other) ? undefined : core;
}

/** Of a link the longest word with a digit in it, which is what nobody can guess; without one its end. */
function linkCore(url: string): string {
  const behind = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
  const words = (behind.match(/[\w-]+/g) ?? []).map((word) => lettersOf(plainText(word)));
  const telling = words.filter((word) => word.length >= 12 && /\d/.test(word));
  const [longest] = telling.toSorted((a, b) => b.length - a.length);
  return longest?.slice(0, CORE) ?? lettersOf(plainText(url)).slice(-CORE);
}

/** Makes and recognizes what is remembered of secrets; without its key nothing can be said about them. */
export class ShownForms {
  readonly #key: Uint8Array;
  readonly #base: number;

  constructor(key: Uint8Array) {
    this.#key = key;
    this.#base = this.#mac('base').readUInt32LE() | 1;
  }

  /** Undefined: it is too short to be known again. */
  make(kind: SecretKind, text: string): ShownForm | undefined {
    const core = coreOf(kind, text);
    if (core === undefined) return undefined;
    const digest = Uint8Array.from(this.#mac(`secret ${core}`));
    return { kind, length: core.length, print: (this.#rolled(core) ^ this.#mask(digest)) >>> 0, digest };
  }

  /** A search for several of them. */
  search(forms: readonly ShownForm[]): ShownSearch {
    const known = forms.map((form) => ({ ...form, print: (form.print ^ this.#mask(form.digest)) >>> 0 }));
    return new ShownSearch(known, this.#base, (core) => this.#mac(`secret ${core}`));
  }

  #rolled(core: string): number {
    let print = 0;
    for (let at = 0; at < core.length; at++) print = (Math.imul(print, this.#base) + core.charCodeAt(at)) | 0;
    return print >>> 0;
  }

  #mask(digest: Uint8Array): number {
    return createHmac('sha256', this.#key).update('mask ').update(digest).digest().readUInt32LE();
  }

  #mac(text: string): Buffer {
    return createHmac('sha256', this.#key).update(text).digest();
  }
}

/** Secrets of one length. */
interface Forms {
  /** 1 where the last 16 bits of a print are those of one: nearly all places of a text end here. */
  low: Uint8Array;
  byPrint: ReadonlyMap<number, readonly ShownForm[]>;
}

/** Looks for secrets that were shown in texts, in time that grows with the text. */
export class ShownSearch {
  readonly #base: number;
  readonly #digest: (core: string) => Buffer;
  /** By length and by print: what may stand anywhere, and what stands as a word. */
  readonly #anywhere: ReadonlyMap<number, Forms>;
  readonly #words: ReadonlyMap<number, Forms>;

  constructor(forms: readonly ShownForm[], base: number, digest: (core: string) => Buffer) {
    this.#base = base;
    this.#digest = digest;
    const { code = [], other = [] } = Object.groupBy(forms, ({ kind }) => (kind === 'code' ? 'code' : 'other'));
    this.#anywhere = byLength(other);
    this.#words = byLength(code);
  }

  /** Kinds that stand in a plain text, of which `letters` are the letters and digits. */
  in(plain: string, letters: string): SecretKind[] {
    const found = new Set<SecretKind>();
    for (const [length, forms] of this.#anywhere) this.#slide(letters, length, forms, found);
    if (this.seeksWords) this.#inWords(plain, found);
    return [...found];
  }

  /** Something is sought that has to stand as a word: letters alone do not tell. */
  get seeksWords(): boolean {
    return this.#words.size > 0;
  }

  /** In words; in neighbours with one sign between, as `123-456`; and in characters one by one, as `1 2 3 4`. */
  #inWords(plain: string, found: Set<SecretKind>): void {
    let before: Word = { start: 0, end: -1 };
    let singles = '';
    for (const word of wordsOf(plain)) {
      const { start, end } = word;
      this.#word(plain, word, found);
      if (start === before.end + 1) this.#pair(plain, before, word, found);
      if (end - start === 1) singles += plain[start] ?? '';
      else if (singles !== '') {
        this.#run(singles, found);
        singles = '';
      }
      before = word;
    }
    this.#run(singles, found);
  }

  #word(plain: string, { start, end }: Word, found: Set<SecretKind>): void {
    const forms = this.#words.get(end - start);
    if (forms !== undefined) this.#slide(plain.slice(start, end), end - start, forms, found);
  }

  #pair(plain: string, one: Word, two: Word, found: Set<SecretKind>): void {
    const length = one.end - one.start + two.end - two.start;
    const forms = this.#words.get(length);
    if (forms === undefined) return;
    this.#slide(plain.slice(one.start, one.end) + plain.slice(two.start, two.end), length, forms, found);
  }

  #run(singles: string, found: Set<SecretKind>): void {
    for (const [length, forms] of this.#words) {
      if (singles.length >= length) this.#slide(singles, length, forms, found);
    }
  }

  #slide(text: string, length: number, forms: Forms, found: Set<SecretKind>): void {
    let power = 1;
    for (let i = 0; i < length; i++) power = Math.imul(power, this.#base);
    let print = 0;
    for (let at = 0; at < text.length; at++) {
      print = (Math.imul(print, this.#base) + text.charCodeAt(at)) | 0;
      if (at >= length) print = (print - Math.imul(power, text.charCodeAt(at - length))) | 0;
      if (at < length - 1 || forms.low[print & 0xffff] === 0) continue;
      const alike = forms.byPrint.get(print >>> 0);
      if (alike === undefined) continue;
      const digest = this.#digest(text.slice(at - length + 1, at + 1));
      for (const { kind, digest: known } of alike) if (digest.equals(known)) found.add(kind);
    }
  }
}

function byLength(forms: readonly ShownForm[]): ReadonlyMap<number, Forms> {
  return new Map([...Map.groupBy(forms, ({ length }) => length)].map(([length, some]) => [length, formsOf(some)]));
}

function formsOf(forms: readonly ShownForm[]): Forms {
  const low = new Uint8Array(0x10000);
  for (const { print } of forms) low[print & 0xffff] = 1;
  return { low, byPrint: Map.groupBy(forms, ({ print }) => print) };
}

/** Where a word of letters and digits stands. */
interface Word {
  start: number;
  end: number;
}

/** By unit of UTF-16: a letter or digit; half of a pair is none. */
const IS_WORD = Uint8Array.from({ length: 0x10000 }, (_, unit) =>
  Number(/[\p{L}\p{N}]/u.test(String.fromCharCode(unit))),
);

function wordsOf(plain: string): Word[] {
  const words: Word[] = [];
  let start = -1;
  for (let at = 0; at <= plain.length; at++) {
    // Behind the end there is none.
    const inside = IS_WORD[plain.charCodeAt(at)] === 1;
    if (inside && start < 0) start = at;
    if (inside || start < 0) continue;
    words.push({ start, end: at });
    start = -1;
  }
  return words;
}

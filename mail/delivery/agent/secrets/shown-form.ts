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

type Forms = ReadonlyMap<number, readonly ShownForm[]>;

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
    if (this.#words.size > 0) for (const word of wordsOf(plain)) this.#word(word, found);
    return [...found];
  }

  #word(word: string, found: Set<SecretKind>): void {
    const forms = this.#words.get(word.length);
    if (forms !== undefined) this.#slide(word, word.length, forms, found);
  }

  #slide(text: string, length: number, forms: Forms, found: Set<SecretKind>): void {
    let power = 1;
    for (let i = 0; i < length; i++) power = Math.imul(power, this.#base);
    let print = 0;
    for (let at = 0; at < text.length; at++) {
      print = (Math.imul(print, this.#base) + text.charCodeAt(at)) | 0;
      if (at >= length) print = (print - Math.imul(power, text.charCodeAt(at - length))) | 0;
      if (at < length - 1) continue;
      const alike = forms.get(print >>> 0);
      if (alike === undefined) continue;
      const digest = this.#digest(text.slice(at - length + 1, at + 1));
      for (const { kind, digest: known } of alike) if (digest.equals(known)) found.add(kind);
    }
  }
}

function byLength(forms: readonly ShownForm[]): ReadonlyMap<number, Forms> {
  return new Map(
    [...Map.groupBy(forms, ({ length }) => length)].map(([length, some]) => [
      length,
      Map.groupBy(some, ({ print }) => print),
    ]),
  );
}

/** Words of letters and digits; neighbours with one sign between, as `123-456`; and characters one by one, as `1 2 3 4`. */
function* wordsOf(plain: string): Generator<string> {
  let before = '';
  let behind = -1;
  let singles = '';
  for (const { 0: word, index } of plain.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (word.length <= LONGEST_CODE) yield word;
    if (index === behind + 1 && before.length + word.length <= LONGEST_CODE) yield before + word;
    if (word.length === 1) singles += word;
    else {
      yield* runsOf(singles);
      singles = '';
    }
    before = word;
    behind = index + word.length;
  }
  yield* runsOf(singles);
}

function* runsOf(singles: string): Generator<string> {
  for (let length = SHORTEST.code; length <= LONGEST_CODE; length++) {
    for (let at = 0; at + length <= singles.length; at++) yield singles.slice(at, at + length);
  }
}

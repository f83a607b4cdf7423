import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { SecretKind, ShownForm } from './shown-secret.ts';
import { lettersOf, normalizeText } from './plain.ts';

/** Letters and digits by which a long secret is recognized. */
const CORE = 24;
const MIN_CORE = { code: 4, other: 8 } as const;
const MAX_CODE = 12;
/** Digits of a code that matches wherever it is; shorter codes need their own word. */
const MIN_UNAMBIGUOUS = 6;
/** Separators between the groups of a code: `482 - 915`. */
const MAX_SEPARATORS = 3;
/** Letters that may surround a number that counts as a number of its own. */
const MAX_WORD = 20;

/** Core of a secret: its first letters and digits. Undefined if too short to recognize. */
export function coreOf(kind: SecretKind, text: string): string | undefined {
  const core =
    kind === 'link' ? linkCore(text) : lettersOf(normalizeText(text)).slice(0, kind === 'code' ? MAX_CODE : CORE);
  return core.length < (kind === 'code' ? MIN_CORE.code : MIN_CORE.other) ? undefined : core;
}

/** Core of a link: the longest word with a digit, which nobody can guess; without one its end. */
function linkCore(url: string): string {
  const behind = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
  const words = (behind.match(/[\w-]+/g) ?? []).map((word) => lettersOf(normalizeText(word)));
  const candidates = words.filter((word) => word.length >= 12 && /\d/.test(word));
  const [longest] = candidates.toSorted((a, b) => b.length - a.length);
  return longest?.slice(0, CORE) ?? lettersOf(normalizeText(url)).slice(-CORE);
}

/** Creates and matches stored forms of secrets; without the key the forms reveal nothing. */
export class ShownForms {
  readonly #key: KeyObject;
  readonly #base: number;

  constructor(key: Uint8Array) {
    // A key of octets costs each HMAC 30 µs more in Node 24.
    this.#key = createSecretKey(key);
    this.#base = this.#mac('base').readUInt32LE() | 1;
  }

  /** Returns undefined if the secret is too short to recognize. */
  make(kind: SecretKind, text: string): ShownForm | undefined {
    const core = coreOf(kind, text);
    if (core === undefined) return undefined;
    const digest = Uint8Array.from(this.#mac(`secret ${core}`));
    return { kind, length: core.length, print: (this.#rolled(core) ^ this.#mask(digest)) >>> 0, digest };
  }

  /** Creates a search for several forms. */
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

/** Forms of one length. */
interface Forms {
  /** 1 for the low 16 bits of a known print: rejects nearly all positions of a text. */
  low: Uint8Array;
  byPrint: ReadonlyMap<number, readonly ShownForm[]>;
}

/** Searches texts for secrets that were shown, by a rolling hash: linear in the text. */
export class ShownSearch {
  readonly #base: number;
  readonly #digest: (core: string) => Buffer;
  /** Forms by length and print: those that match anywhere, and those that match as words. */
  readonly #anywhere: ReadonlyMap<number, Forms>;
  readonly #words: ReadonlyMap<number, Forms>;
  /** Length of the longest form that matches as a word. */
  readonly #longest: number;

  constructor(forms: readonly ShownForm[], base: number, digest: (core: string) => Buffer) {
    this.#base = base;
    this.#digest = digest;
    const { code = [], other = [] } = Object.groupBy(forms, ({ kind }) => (kind === 'code' ? 'code' : 'other'));
    this.#anywhere = byLength(other);
    this.#words = byLength(code);
    this.#longest = Math.max(0, ...this.#words.keys());
  }

  /** Finds the kinds in a plain text, of which `letters` are the letters and digits. */
  in(plain: string, letters: string): SecretKind[] {
    const found = new Set<SecretKind>();
    for (const [length, forms] of this.#anywhere) this.#slide(letters, length, forms, found);
    if (this.seeksWords) this.#inWords(plain, found);
    return [...found];
  }

  /** Some forms only match as words, so the letters alone are not enough. */
  get seeksWords(): boolean {
    return this.#words.size > 0;
  }

  /** Searches words and numbers; groups of them, as `123-456` or `12, 34, 56`; and single characters, as `1 2 3 4`. */
  #inWords(plain: string, found: Set<SecretKind>): void {
    const words = runsOf(plain, IS_WORD);
    this.#inGroups(plain, words, found);
    // Searches numbers within a word as well: `code482915`, `482915th`.
    this.#inGroups(plain, runsOf(plain, IS_DIGIT), found);
    let singles = '';
    for (let at = 0; at < words.length; at += 2) {
      const start = words[at] ?? 0;
      if (words[at + 1] === start + 1) singles += plain[start] ?? '';
      else if (singles !== '') {
        this.#run(singles, found);
        singles = '';
      }
    }
    this.#run(singles, found);
  }

  /** Joins whole groups from each one on, up to the length of a code. */
  #inGroups(plain: string, groups: Runs, found: Set<SecretKind>): void {
    for (let first = 0; first < groups.length; first += 2) {
      const start = groups[first] ?? 0;
      let print = 0;
      let length = 0;
      let before = start;
      for (let last = first; last < groups.length; last += 2) {
        const from = groups[last] ?? 0;
        const end = groups[last + 1] ?? 0;
        length += end - from;
        if (length > this.#longest || !isJoined(plain, before, from)) break;
        for (let at = from; at < end; at++) print = this.#add(print, plain.charCodeAt(at));
        before = end;
        const forms = this.#words.get(length);
        if (forms === undefined || forms.low[print & 0xffff] === 0) continue;
        if (length < MIN_UNAMBIGUOUS && !isOneWord(plain, start, end, length) && !isIsolated(plain, start, end))
          continue;
        this.#check(textOf(plain, groups.slice(first, last + 2)), print, forms, found);
      }
    }
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
      print = this.#add(print, text.charCodeAt(at));
      if (at >= length) print = (print - Math.imul(power, text.charCodeAt(at - length))) | 0;
      if (at < length - 1 || forms.low[print & 0xffff] === 0) continue;
      this.#check(text.slice(at - length + 1, at + 1), print, forms, found);
    }
  }

  #add(print: number, unit: number): number {
    return (Math.imul(print, this.#base) + unit) | 0;
  }

  #check(core: string, print: number, { byPrint }: Forms, found: Set<SecretKind>): void {
    const alike = byPrint.get(print >>> 0);
    // A repeated value does not cost a digest each time.
    if (alike === undefined || alike.every(({ kind }) => found.has(kind))) return;
    const digest = this.#digest(core);
    for (const { kind, digest: known } of alike) if (digest.equals(known)) found.add(kind);
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

/** Start and end of words or numbers, alternating. */
type Runs = readonly number[];

/** Lookup by UTF-16 unit: a letter or digit; half of a surrogate pair is none. */
const IS_WORD = unitsOf(/[\p{L}\p{N}]/u);
const IS_DIGIT = unitsOf(/[0-9]/);

function unitsOf(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 0x10000 }, (_, unit) => Number(pattern.test(String.fromCharCode(unit))));
}

function runsOf(plain: string, units: Uint8Array): Runs {
  const runs: number[] = [];
  let isInside = 0;
  for (let at = 0; at < plain.length; at++) {
    const inside = units[plain.charCodeAt(at)] ?? 0;
    if (inside !== isInside) runs.push(at);
    isInside = inside;
  }
  if (isInside === 1) runs.push(plain.length);
  return runs;
}

function textOf(plain: string, runs: Runs): string {
  let text = '';
  for (let at = 0; at < runs.length; at += 2) text += plain.slice(runs[at], runs[at + 1]);
  return text;
}

/** Tests if only a few separators are between two groups. */
function isJoined(plain: string, from: number, to: number): boolean {
  if (to - from > MAX_SEPARATORS) return false;
  for (let at = from; at < to; at++) if (isWord(plain, at)) return false;
  return true;
}

/** Tests for one word, or two with one separator. */
function isOneWord(plain: string, start: number, end: number, length: number): boolean {
  return end - start <= length + 1 && !isWord(plain, start - 1) && !isWord(plain, end);
}

/** Tests that no other number is near: a table of numbers has most of the ten thousand four-digit codes. */
function isIsolated(plain: string, start: number, end: number): boolean {
  const within = isWord(plain, start - 1) && isWord(plain, end);
  return !within && !isNumberNear(plain, start - 1, -1) && !isNumberNear(plain, end, 1);
}

/** Looks beyond the rest of the word and a few separators. */
function isNumberNear(plain: string, from: number, step: 1 | -1): boolean {
  let at = from;
  for (let i = 0; i < MAX_WORD && isWord(plain, at) && !isDigit(plain, at); i++) at += step;
  for (let i = 0; i < MAX_SEPARATORS && !isWord(plain, at); i++) at += step;
  return isWord(plain, at) && (isDigit(plain, at) || isWord(plain, at - step));
}

function isWord(plain: string, at: number): boolean {
  return IS_WORD[plain.charCodeAt(at)] === 1;
}

function isDigit(plain: string, at: number): boolean {
  return IS_DIGIT[plain.charCodeAt(at)] === 1;
}

import { createHmac } from 'node:crypto';
import type { SecretKind, ShownForm } from '../../../store/shown-secret.ts';
import { lettersOf, plainText } from './plain.ts';

/** Letters and digits by which a long secret is known again. */
const CORE = 24;
const SHORTEST = { code: 4, other: 8 } as const;
const LONGEST_CODE = 12;
/** Characters of a code that nothing is by accident, wherever it stands. */
const SURE = 6;
/** Signs between the groups that a code is written in: `482 - 915`. */
const MOST_BETWEEN = 3;
/** Letters that a number may be written together with, to be one of its own. */
const LONGEST_WORD = 20;

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
  /** Characters of what stands as a word. */
  readonly #longest: number;

  constructor(forms: readonly ShownForm[], base: number, digest: (core: string) => Buffer) {
    this.#base = base;
    this.#digest = digest;
    const { code = [], other = [] } = Object.groupBy(forms, ({ kind }) => (kind === 'code' ? 'code' : 'other'));
    this.#anywhere = byLength(other);
    this.#words = byLength(code);
    this.#longest = Math.max(0, ...this.#words.keys());
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

  /** In words and numbers; in groups of them, as `123-456` or `12, 34, 56`; and in characters one by one, as `1 2 3 4`. */
  #inWords(plain: string, found: Set<SecretKind>): void {
    const words = runsOf(plain, IS_WORD);
    this.#inGroups(plain, words, found);
    // A number within a word is one of its own: `code482915`, `482915th`.
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

  /** From each group on as many as a code is long, each of them whole. */
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
        if (length < SURE && !isOne(plain, start, end, length) && !isApart(plain, start, end)) continue;
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
    // What is repeated a million times costs no million digests.
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

/** Where words, or numbers, begin and end: by turns, as there are many. */
type Runs = readonly number[];

/** By unit of UTF-16: a letter or digit; half of a pair is none. */
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

/** Nothing but a few signs is between two groups. */
function isJoined(plain: string, from: number, to: number): boolean {
  if (to - from > MOST_BETWEEN) return false;
  for (let at = from; at < to; at++) if (isWord(plain, at)) return false;
  return true;
}

/** A word, or two with one sign between them. */
function isOne(plain: string, start: number, end: number, length: number): boolean {
  return end - start <= length + 1 && !isWord(plain, start - 1) && !isWord(plain, end);
}

/** No further number is near: of four digits there are ten thousand, and a table of numbers has most of them. */
function isApart(plain: string, start: number, end: number): boolean {
  const within = isWord(plain, start - 1) && isWord(plain, end);
  return !within && !isNumberNear(plain, start - 1, -1) && !isNumberNear(plain, end, 1);
}

/** Beyond the rest of the word, and a few signs. */
function isNumberNear(plain: string, from: number, step: 1 | -1): boolean {
  let at = from;
  for (let i = 0; i < LONGEST_WORD && isWord(plain, at) && !isDigit(plain, at); i++) at += step;
  for (let i = 0; i < MOST_BETWEEN && !isWord(plain, at); i++) at += step;
  return isWord(plain, at) && (isDigit(plain, at) || isWord(plain, at - step));
}

function isWord(plain: string, at: number): boolean {
  return IS_WORD[plain.charCodeAt(at)] === 1;
}

function isDigit(plain: string, at: number): boolean {
  return IS_DIGIT[plain.charCodeAt(at)] === 1;
}

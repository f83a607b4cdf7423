import { decodeCharset, guessLatin1 } from './decode.ts';
import { decodeWords } from './encoded-word.ts';

/** A structured MIME field, read as latin1: `value; name=value`. Parameters keep their order and RFC 2231 names. */
export interface Parameterized {
  /** The part before the first semicolon without comments, as written. */
  value: string;
  /** Names in lower case; values without quotes, nothing decoded. */
  params: [name: string, value: string][];
}

/** Parameters read of one field. */
const MAX_PARAMS = 200;

/** Parses Content-Type, Content-Disposition and similar fields. Skips malformed parts; never fails. RFC 2045 5.1. */
export function parseParameters(field: string): Parameterized {
  return /[(\\]/.test(field) ? scanParameters(field) : splitParameters(field);
}

const PARAMETER = /;([^;=]*)=\s*(?:"([^"]*)"?[^;]*|([^;]*))/g;

/** Parses a field without comments and escapes, as nearly all are. */
function splitParameters(field: string): Parameterized {
  const params: [string, string][] = [];
  for (const [, name = '', quoted, bare = ''] of field.matchAll(PARAMETER)) {
    if (params.length === MAX_PARAMS) break;
    if (name.trim() !== '') params.push([name.trim().toLowerCase(), quoted ?? bare.trim()]);
  }
  return { value: (field.split(';', 1)[0] ?? '').trim(), params };
}

function scanParameters(field: string): Parameterized {
  const scan = new ParameterScanner(field);
  const value = scan.until(';');
  const params: [string, string][] = [];
  while (!scan.done() && params.length < MAX_PARAMS) {
    scan.skip();
    const name = scan.until('=').toLowerCase();
    if (!scan.take('=')) continue;
    const text = scan.value();
    if (name !== '') params.push([name, text]);
  }
  return { value, params };
}

class ParameterScanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  done(): boolean {
    return this.#at >= this.#text.length;
  }

  take(char: string): boolean {
    const there = this.#text[this.#at] === char;
    if (there) this.#at++;
    return there;
  }

  /** Skips blanks, comments and stray semicolons. */
  skip(): void {
    for (; !this.done(); this.#at++) {
      const char = this.#text[this.#at];
      if (char === '(') this.#comment();
      else if (char !== ';' && char !== ' ' && char !== '\t' && char !== '\r' && char !== '\n') return;
    }
  }

  /** Reads up to the stop character or a semicolon (not consumed), without comments and surrounding blanks. */
  until(stop: string): string {
    let out = '';
    let start = this.#at;
    for (; !this.done(); this.#at++) {
      const char = this.#text[this.#at];
      if (char === ';' || char === stop) break;
      if (char !== '(' || !this.#blankBefore()) continue;
      out += this.#text.slice(start, this.#at);
      this.#comment();
      start = this.#at + 1;
    }
    return (out + this.#text.slice(start, this.#at)).trim();
  }

  value(): string {
    while (!this.done() && /\s/.test(this.#text[this.#at] ?? '')) this.#at++;
    if (!this.take('"')) return this.until(';');
    const quoted = this.#quoted();
    this.until(';');
    return quoted;
  }

  /** Reads after the opening quote; without a closing quote it takes the rest. */
  #quoted(): string {
    let out = '';
    let start = this.#at;
    for (; !this.done(); this.#at++) {
      const char = this.#text[this.#at];
      if (char === '"') break;
      if (char !== '\\') continue;
      out += this.#text.slice(start, this.#at);
      start = ++this.#at;
    }
    out += this.#text.slice(start, this.#at++);
    return out;
  }

  /** True if a parenthesis here begins a comment: `us-ascii (plain)`, but not `a(1).pdf`. */
  #blankBefore(): boolean {
    return this.#at === 0 || /[\s;=]/.test(this.#text[this.#at - 1] ?? '');
  }

  /** Moves to the closing parenthesis; nesting is counted, not recursive. */
  #comment(): void {
    let depth = 0;
    for (; !this.done(); this.#at++) {
      const char = this.#text[this.#at];
      if (char === '\\') this.#at++;
      else if (char === '(') depth++;
      else if (char === ')' && --depth === 0) return;
    }
  }
}

/** Returns the first parameter of a name as written; undefined without one. */
export function parameter(params: Parameterized['params'], name: string): string | undefined {
  for (const [key, value] of params) if (key === name) return value;
  return undefined;
}

/**
 * Decodes a parameter: RFC 2231 charset and continuations, then encoded-words in quotes (forbidden by RFC 2047 but
 * common), then raw 8-bit text. '' if missing.
 */
export function decodedParameter(all: Parameterized['params'], name: string): string {
  const params = all.filter(([key]) => key.startsWith(name));
  if (params.length === 0) return '';
  const extended = parameter(params, `${name}*`);
  if (extended !== undefined) return decodeExtended(extended);
  const continued = joinContinuations(params, name);
  if (continued !== undefined) return continued;
  const plain = parameter(params, name);
  return plain === undefined ? '' : decodeWords(plain.replace(/[\r\n]/g, ''));
}

function decodeExtended(value: string): string {
  const { charset, text } = splitCharset(value);
  return decodeCharset(percentOctets(text), charset);
}

function splitCharset(value: string): { charset: string; text: string } {
  const first = value.indexOf("'");
  const second = value.indexOf("'", first + 1);
  if (first < 0 || second < 0) return { charset: '', text: value };
  return { charset: value.slice(0, first), text: value.slice(second + 1) };
}

function percentOctets(text: string): Buffer {
  const latin1 = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(latin1, 'latin1');
}

/** Joins `name*0*=`, `name*1=`, ... up to the first missing number. RFC 2231 3 and 4.1. */
function joinContinuations(params: Parameterized['params'], name: string): string | undefined {
  const pieces = new Map(params.filter(([key]) => key.startsWith(`${name}*`)));
  const octets: Buffer[] = [];
  let charset: string | undefined;
  for (let i = 0; ; i++) {
    const encoded = pieces.get(`${name}*${i}*`);
    const piece = encoded ?? pieces.get(`${name}*${i}`);
    if (piece === undefined) break;
    const head = i === 0 && encoded !== undefined ? splitCharset(piece) : { charset: undefined, text: piece };
    charset ??= head.charset;
    octets.push(encoded === undefined ? Buffer.from(piece, 'latin1') : percentOctets(head.text));
  }
  if (octets.length === 0) return undefined;
  const joined = Buffer.concat(octets);
  return charset === undefined ? guessLatin1(joined.toString('latin1')) : decodeCharset(joined, charset);
}

import { inflated } from '../../message/archive/inflate.ts';
import { decodeQuotedPrintable } from '../../message/decode.ts';
import { decodeEntities } from '../../message/html-entities.ts';
import { base32, base58 } from './base-digits.ts';
import { otherDigits } from './other-digits.ts';
import { printableRuns } from './plain.ts';

/** Shorter texts contain no secret. */
const MIN_LENGTH = 4;
/** Nested encodings to undo. */
const DEPTH = 3;
/** Work budget, in passes over the text. */
const ROUNDS = 180;

/** An encoding and its sign, without which a text is not written in it. */
interface Way {
  sign: string;
  /** Linear; other text comes back empty or unchanged. */
  undo: (text: string) => string;
}

const WAYS: readonly Way[] = [
  { sign: '&', undo: decodeEntities },
  { sign: '%', undo: percent },
  { sign: '=', undo: quotedPrintable },
  { sign: '\\', undo: escapes },
  { sign: '', undo: reversed },
  { sign: '', undo: rot13 },
  { sign: '', undo: base64 },
  { sign: '', undo: hex },
  { sign: '', undo: numbers },
  { sign: '', undo: base32 },
  { sign: '', undo: base58 },
  { sign: '', undo: otherDigits },
];

/**
 * Yields a text as it is, and decoded from anything that a program could be instructed to encode it in: character
 * references, percent and backslash escapes, quoted-printable, base64 (also of deflated octets), base32, base36, base58, base85,
 * uuencode, hexadecimal, character codes, octal and binary octets, ROT13, reversal; and nested combinations of these, within a work budget.
 */
export function* viewsOf(text: string): Generator<string> {
  const seen = new Set([text]);
  let left = ROUNDS * (text.length + 100);
  yield text;
  let level = [text];
  for (let depth = 0; depth < DEPTH; depth++) {
    const next: string[] = [];
    for (const one of level) {
      for (const { sign, undo } of WAYS) {
        left -= one.length;
        if (left < 0) return;
        if (!one.includes(sign)) continue;
        const made = undo(one);
        if (made.length < MIN_LENGTH || seen.has(made)) continue;
        seen.add(made);
        next.push(made);
        yield made;
      }
    }
    level = next;
  }
}

function percent(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString());
}

function quotedPrintable(text: string): string {
  return decodeQuotedPrintable(Buffer.from(text)).toString();
}

function escapes(text: string): string {
  return text.replace(/\\(?:u\{?([0-9a-f]{2,6})\}?|x([0-9a-f]{2}))/gi, (_, long?: string, short?: string) =>
    character(Number.parseInt(long ?? short ?? '', 16)),
  );
}

function character(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

function reversed(text: string): string {
  // Reverses by UTF-16 units: secrets are in the first plane, and a broken surrogate pair does no harm.
  const out = Buffer.from(text, 'utf16le').swap16().reverse();
  return out.toString('utf16le');
}

function rot13(text: string): string {
  const units = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    const letter = unit | 32;
    units[at] = letter < 97 || letter > 122 ? unit : letter < 110 ? unit + 13 : unit - 13;
  }
  return Buffer.from(units.buffer).toString('utf16le');
}

/** Levels of base64 in a word. */
const MAX_NESTED = 12;
const BASE64_WORD = /[A-Za-z0-9+/_-]{6,}/g;

/** Decodes each word, and all words joined from each of four offsets: lines, blanks and a word in front change nothing. */
function base64(text: string): string {
  const words: string[] = [];
  for (const word of text.match(BASE64_WORD) ?? []) words.push(nestedBase64(word));
  const whole = text.replace(/[^A-Za-z0-9+/_-]+/g, '');
  for (const digits of new Set([whole, whole.replace(/[_-]+/g, '')])) {
    for (let from = 0; from < 4; from++) words.push(decodedOctets(digits.slice(from), 'base64'));
  }
  return words.filter((one) => one !== '').join('\n');
}

function decodedOctets(digits: string, encoding: 'base64' | 'hex'): string {
  return printableRuns(inflated(Buffer.from(digits, encoding)));
}

/** Base64 within base64: each level is a quarter shorter, so all of them cost four times the first. */
function nestedBase64(word: string): string {
  const levels: string[] = [];
  for (let text = word; levels.length < MAX_NESTED && /^[A-Za-z0-9+/_-]{6,}=*\s*$/.test(text);) {
    text = decodedOctets(text, 'base64');
    levels.push(text);
  }
  return levels.join('\n');
}

const HEX_WORD = /(?<![0-9a-z])[0-9a-f]{8,}/gi;
/** Octets, each with up to two separators: a word in front would be taken for digits. */
const HEX_RUN = /(?<![0-9a-z])(?:[0-9a-f]{2}[^0-9a-z]{0,2}){4,}/gi;

function hex(text: string): string {
  const bare = text.replace(/0x|\\x/gi, '');
  const words: string[] = [];
  for (const form of [HEX_WORD, HEX_RUN]) {
    for (const run of bare.match(form) ?? []) words.push(run.replace(/[^0-9a-f]+/gi, ''));
  }
  const whole = bare.replace(/[^0-9a-f]+/gi, '');
  return [...words, whole, whole.slice(1)]
    .map((digits) => decodedOctets(digits, 'hex'))
    .filter((one) => one !== '')
    .join('\n');
}

/** Decodes characters written by number: `109 115 116`. */
function numbers(text: string): string {
  let characters = '';
  for (const digits of text.match(/[0-9]+/g) ?? []) {
    const code = digits.length < 4 ? Number(digits) : 0;
    if (code > 31 && code < 127) characters += String.fromCharCode(code);
  }
  return characters;
}

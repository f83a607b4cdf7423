import { decodeQuotedPrintable } from '../../../message/decode.ts';
import { entities } from '../../../message/html-text.ts';
import { base32, base58 } from './base-digits.ts';
import { printable } from './printable.ts';

/** Shorter is no secret in any form. */
const LEAST = 4;
/** Codings inside each other that are undone. */
const DEPTH = 3;
/** How often the length of a text is gone through for all that it may be written in. */
const ROUNDS = 140;

/** Undoes one way of writing a text differently; what is not written so comes back empty or as it is. Linear. */
type Undo = (text: string) => string;

const WAYS: readonly Undo[] = [
  references,
  percent,
  quotedPrintable,
  escapes,
  reversed,
  rot13,
  base64,
  hex,
  numbers,
  base32,
  base58,
];

/**
 * A text as it stands, and as it reads when what could be told to a program is undone: character references, percent and
 * backslash escapes, quoted-printable, base64, base32, base58, hexadecimal, numbers of characters, ROT13, backwards; and these
 * inside each other, as far as the work stays within a multiple of the text.
 */
export function* viewsOf(text: string): Generator<string> {
  const seen = new Set([text]);
  let left = ROUNDS * (text.length + 100);
  yield text;
  let level = [text];
  for (let depth = 0; depth < DEPTH; depth++) {
    const next: string[] = [];
    for (const one of level) {
      for (const undo of WAYS) {
        left -= one.length;
        if (left < 0) return;
        const made = undo(one);
        if (made.length < LEAST || seen.has(made)) continue;
        seen.add(made);
        next.push(made);
        yield made;
      }
    }
    level = next;
  }
}

function references(text: string): string {
  if (!text.includes('&')) return text;
  return entities(
    text.replace(/&#(?:x([0-9a-f]{1,9})|([0-9]{1,9}));?/gi, (_, digits?: string, decimal?: string) => {
      return character(digits === undefined ? Number(decimal) : Number.parseInt(digits, 16));
    }),
  );
}

function percent(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString());
}

function quotedPrintable(text: string): string {
  return text.includes('=') ? decodeQuotedPrintable(Buffer.from(text)).toString() : text;
}

function escapes(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\(?:u\{?([0-9a-f]{2,6})\}?|x([0-9a-f]{2}))/gi, (_, long?: string, short?: string) =>
    character(Number.parseInt(long ?? short ?? '', 16)),
  );
}

function character(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

function reversed(text: string): string {
  // By units: what is sought is in the first plane, and a pair that is torn apart harms nothing.
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

const BASE64_WORD = /[A-Za-z0-9+/_-]{6,}/g;

/** Of each word, and of all together wherever the first digit is: lines, blanks and a word in front change nothing. */
function base64(text: string): string {
  const words = (text.match(BASE64_WORD) ?? []).map((word) => printable(Buffer.from(word, 'base64')));
  const whole = text.replace(/[^A-Za-z0-9+/_-]+/g, '');
  const plain = whole.replace(/[_-]+/g, '');
  const all = [...new Set([whole, plain])].flatMap((digits) =>
    [0, 1, 2, 3].map((from) => printable(Buffer.from(digits.slice(from), 'base64'))),
  );
  return [...words, ...all].filter((one) => one !== '').join('\n');
}

const HEX_WORD = /(?<![0-9a-z])[0-9a-f]{8,}/gi;
/** Octets, each perhaps with a sign or two behind it: a word in front would be taken for digits. */
const HEX_RUN = /(?<![0-9a-z])(?:[0-9a-f]{2}[^0-9a-z]{0,2}){4,}/gi;

function hex(text: string): string {
  const bare = text.replace(/0x|\\x/gi, '');
  const words = [HEX_WORD, HEX_RUN].flatMap((form) => bare.match(form) ?? []);
  const read = words.map((run) => hexOctets(run.replace(/[^0-9a-f]+/gi, '')));
  const whole = bare.replace(/[^0-9a-f]+/gi, '');
  return [...read, hexOctets(whole), hexOctets(whole.slice(1))].filter((one) => one !== '').join('\n');
}

function hexOctets(digits: string): string {
  return printable(Buffer.from(digits, 'hex'));
}

/** Characters by their numbers: `109 115 116`. */
function numbers(text: string): string {
  const codes = (text.match(/[0-9]+/g) ?? []).filter((one) => one.length < 4).map(Number);
  return codes
    .filter((code) => code > 31 && code < 127)
    .map(character)
    .join('');
}

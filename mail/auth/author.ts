import { isUtf8 } from 'node:buffer';
import { type Address, addressKey, parseAddress } from '../message/address.ts';
import { decodeWords } from '../message/encoded-word.ts';
import type { Field } from '../message/header.ts';

/** Who a message says it is from. */
export type Author =
  | { kind: 'author'; address: Address }
  /** `<>` or `MAILER-DAEMON`, as old servers sign their reports: nobody anywhere. */
  | { kind: 'nobody'; why: string }
  /** `why`: what it has instead, as the end of a sentence. */
  | { kind: 'none'; why: string };

/** Octets; nobody's name is longer. */
const LONGEST = 8192;

/**
 * The one author of a message. Whatever could be read in two ways is nobody: forged mail lives on readers that find
 * another author than the check did ("Composition Kills", USENIX 2020). Lenient only where all readers agree: comments,
 * quotes and raw octets around one plain address. RFC 5322 3.6.2; RFC 9989 asks for one author domain.
 */
export function readAuthor(fields: readonly Field[], header: string): Author {
  const from = fields.filter(({ name }) => name === 'from');
  const [field, second] = from;
  if (fields.some((one) => one.name === '' && looksLikeFrom(header, one)))
    return none('a line that may be From or not');
  if (field === undefined) return none('no From field');
  if (second !== undefined) return none('more than one From field');
  return readFrom(field.value);
}

/** A line that is no field for us, and From for a reader that skips what it does not know. */
function looksLikeFrom(header: string, { start, end }: Field): boolean {
  const line = header.slice(start, Math.min(end, start + 200));
  const colon = line.indexOf(':');
  return (
    colon > 0 &&
    line
      .slice(0, colon)
      .replace(/[^A-Za-z-]/g, '')
      .toLowerCase() === 'from'
  );
}

function readFrom(raw: string): Author {
  if (raw.length > LONGEST) return none('a From field that is too long');
  const octets = Buffer.from(raw.replace(/\r?\n(?=[ \t])/g, ''), 'latin1');
  const text = isUtf8(octets) ? octets.toString() : octets.toString('latin1');
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(text)) return none('a From field with control characters');
  const parts = split(text);
  if (typeof parts === 'string') return none(parts);
  const { phrase, angle } = parts;
  const spelled = angle ?? phrase.trim();
  if (spelled === '' && angle === undefined) return none('no address in From');
  // Some readers decode before they look for the "@", and then it is another address.
  if (spelled.includes('=?')) return none('an encoded word for an address in From');
  if (/^[A-Za-z0-9_-]{0,64}$/.test(spelled))
    return showsAddress(raw)
      ? none('an address in From that is only a name')
      : { kind: 'nobody', why: 'no domain in From' };
  const address = parseAddress(spelled);
  if (address === undefined) return none('no address in From that can be read');
  if (/[<>@,;:"\\]/.test(address.local)) return none('an address in From that holds another one');
  return angle !== undefined && namesAnother(phrase, address)
    ? none('two addresses in From')
    : { kind: 'author', address };
}

/**
 * `"ceo@bank.example" <>`: where there is no address a reader takes the name for one, be it in quotes, in a comment or
 * encoded, and no domain was asked about it.
 */
function showsAddress(raw: string): boolean {
  return decodeWords(raw).normalize('NFKC').includes('@');
}

interface Parts {
  /** What stands outside of quotes, comments and angle brackets. */
  phrase: string;
  /** Between the angle brackets, or undefined when there are none. */
  angle: string | undefined;
}

/** Takes a From field with one address apart; a text says what it has instead. */
function split(text: string): Parts | string {
  let phrase = '';
  let angle: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (char === '"') {
      const end = closing(text, at);
      if (end === undefined) return 'a quote in From that is not closed';
      // A quoted local part is part of the address, a quoted name is none.
      if (text[end] === '@') phrase += text.slice(at, end);
      at = end - 1;
    } else if (char === '(') {
      const end = commentEnd(text, at);
      if (end === undefined) return 'a comment in From that is not closed';
      // It may stand before and behind an address, where it parts nothing.
      if (/[^ \t]/.test(text[end] ?? ' ') && text[end] !== '<') return 'a comment inside of an address in From';
      phrase += ' ';
      at = end - 1;
    } else if (char === '<') {
      const end = text.indexOf('>', at);
      if (angle !== undefined) return 'several addresses in From';
      if (end < 0) return 'an angle bracket in From that is not closed';
      angle = text.slice(at + 1, end);
      if (/[<,;:()]/.test(angle)) return 'an address in From that cannot be read';
      at = end;
    } else if (char === ',') return 'several addresses in From';
    else if (char === ':' || char === ';') return 'a group in From';
    else if (char === '>' || char === '\\' || char === ')') return 'a From field that cannot be read';
    else if (angle !== undefined && char !== ' ' && char !== '\t') return 'text behind the address in From';
    else phrase += char;
  }
  return { phrase, angle };
}

/** Behind the closing quote, or undefined. */
function closing(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '"') return at + 1;
    if (text[at] === '\\') at += 1;
  }
  return undefined;
}

function commentEnd(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '(') depth += 1;
    else if (text[at] === ')' && --depth === 0) return at + 1;
  }
  return undefined;
}

/** `a@one.example <b@two.example>`, bare: some readers take the first for the address. The same one twice is common. */
function namesAnother(phrase: string, address: Address): boolean {
  return phrase.split(/\s/).some((word) => {
    if (!word.includes('@') || word.startsWith('@') || word.endsWith('@')) return false;
    const named = parseAddress(word);
    return named === undefined || addressKey(named) !== addressKey(address);
  });
}

function none(why: string): Author {
  return { kind: 'none', why };
}

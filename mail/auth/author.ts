import { isUtf8 } from 'node:buffer';
import { type Address, addressKey, parseAddress } from '../message/address.ts';
import type { Field } from '../message/header.ts';
import { shownName } from '../message/shown-name.ts';

/** The author in From. */
export type Author =
  | { kind: 'author'; address: Address }
  /** `<>` or `MAILER-DAEMON`, as old servers write in bounces: no address. */
  | { kind: 'nobody'; why: string }
  /** `why`: what From has in place of one author, as the end of a sentence. */
  | { kind: 'none'; why: string };

/** Octets of a From field. */
const MAX_FROM_OCTETS = 8192;

/**
 * Reads the single author of a message. Anything ambiguous is rejected, as mail clients may display another author than
 * the one that was checked ("Composition Kills", USENIX 2020). Accepts comments, quotes and raw octets around one plain
 * address, where all parsers agree. RFC 5322 3.6.2; RFC 9989 requires one author domain.
 */
export function readAuthor(fields: readonly Field[], header: string): Author {
  const from = fields.filter(({ name }) => name === 'from');
  const [field, second] = from;
  if (fields.some((one) => one.name === '' && looksLikeFrom(header, one)))
    return noAuthor('a line that may be From or not');
  if (field === undefined) return noAuthor('no From field');
  if (second !== undefined) return noAuthor('more than one From field');
  return readFrom(field.value);
}

/** True for a malformed line that a lenient parser may take for From. */
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
  if (raw.length > MAX_FROM_OCTETS) return noAuthor('a From field that is too long');
  const octets = Buffer.from(raw.replace(/\r?\n(?=[ \t])/g, ''), 'latin1');
  const text = isUtf8(octets) ? octets.toString() : octets.toString('latin1');
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(text)) return noAuthor('a From field with control characters');
  const parts = splitFrom(text);
  if (typeof parts === 'string') return noAuthor(parts);
  const { phrase, angle } = parts;
  const spelled = angle ?? phrase.trim();
  if (spelled === '' && angle === undefined) return noAuthor('no address in From');
  // Some clients decode before they look for the "@", which yields another address.
  if (spelled.includes('=?')) return noAuthor('an encoded word for an address in From');
  // Clients display `"ceo@bank.example" <>`, and no domain was checked for it. Includes quotes and comments.
  if (/^[A-Za-z0-9_-]{0,64}$/.test(spelled))
    return shownName(text).includes('@')
      ? noAuthor('an address in From that is only a name')
      : { kind: 'nobody', why: 'no domain in From' };
  const address = parseAddress(spelled);
  if (address === undefined) return noAuthor('no address in From that can be read');
  if (/[<>@,;:"\\]/.test(address.local)) return noAuthor('an address in From that holds another one');
  return angle !== undefined && namesOtherAddress(phrase, address)
    ? noAuthor('two addresses in From')
    : { kind: 'author', address };
}

interface FromParts {
  /** Text outside quotes, comments and angle brackets. */
  phrase: string;
  /** Text between the angle brackets; undefined without brackets. */
  angle: string | undefined;
}

/** Splits a From field with one address. A string is the error, as the end of a sentence. */
function splitFrom(text: string): FromParts | string {
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
      // A comment is allowed before and after an address, not inside it.
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

/** Index after the closing quote; undefined if it is missing. */
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

/** True for an unquoted `a@one.example <b@two.example>`: some clients take the first address. The same address twice is allowed. */
function namesOtherAddress(phrase: string, address: Address): boolean {
  return phrase.split(/\s/).some((word) => {
    if (!word.includes('@') || word.startsWith('@') || word.endsWith('@')) return false;
    const named = parseAddress(word);
    return named === undefined || addressKey(named) !== addressKey(address);
  });
}

function noAuthor(why: string): Author {
  return { kind: 'none', why };
}

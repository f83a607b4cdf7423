import { isUtf8 } from 'node:buffer';
import { addressKey, parseAddress, type Address } from './address.ts';
import { readFields, type Field } from './header.ts';
import { overridesDirection, shownAddresses } from './shown-name.ts';

/** Authors of a message, or the reason why the header is rejected, as a sentence. */
export type Authors =
  | {
      kind: 'authors';
      /** All addresses of all From fields. */
      from: Address[];
      /** All addresses of Sender, Resent-From and Resent-Sender. */
      others: Address[];
      /** Number of From fields; RFC 5322 3.6 requires exactly one. */
      fromFields: number;
    }
  | { kind: 'refused'; why: string };

const AUTHOR_FIELDS = new Map([
  ['from', 'From'],
  ['sender', 'Sender'],
  ['resent-from', 'Resent-From'],
  ['resent-sender', 'Resent-Sender'],
]);

const MAX_FIELD_OCTETS = 8192;
const MAX_AUTHORS = 100;

/**
 * Reads the authors of a header block, for the check that a login may send as them. Strict: forgeries exploit parsers
 * that read a From field differently ("Composition Kills", USENIX 2020), so anything ambiguous is rejected, including a
 * header in which another parser might find an additional field.
 */
export function parseAuthors(headerBlock: Uint8Array): Authors {
  const header = Buffer.from(headerBlock.buffer, headerBlock.byteOffset, headerBlock.byteLength).toString('latin1');
  const fields = readFields(header);
  const block = header.slice(0, fields.at(-1)?.end ?? 0);
  const flaw = findHeaderError(block, fields, header[0]);
  if (flaw !== undefined) return { kind: 'refused', why: flaw };
  const authors = { kind: 'authors' as const, from: [] as Address[], others: [] as Address[], fromFields: 0 };
  for (const { name, value } of fields) {
    const title = AUTHOR_FIELDS.get(name);
    if (title === undefined) continue;
    const read = readMailboxes(value);
    if (typeof read === 'string') return { kind: 'refused', why: `The ${title} field ${read}` };
    if (name === 'from') authors.fromFields++;
    (name === 'from' ? authors.from : authors.others).push(...read);
    if (authors.from.length + authors.others.length > MAX_AUTHORS) {
      return { kind: 'refused', why: `The message has more than ${MAX_AUTHORS} authors` };
    }
  }
  return authors;
}

/** Finds bytes and lines that parsers interpret differently. */
function findHeaderError(block: string, fields: readonly Field[], first: string | undefined): string | undefined {
  if (block.includes('\0')) return 'The header holds a NUL byte';
  if (/\r(?!\n)/.test(block)) return 'The header holds a carriage return without a line feed';
  if (/(?<!\r)\n/.test(block)) return 'The header holds a line feed without a carriage return';
  if (first === ' ' || first === '\t') return 'The header begins with a continuation line';
  // "Fr\x0bom: ", "From joe", full-width letters: another parser may take these for a field.
  if (fields.some(({ name }) => !/^[\x21-\x39\x3b-\x7e]+$/.test(name))) return 'The header has a line that is no field';
  return undefined;
}

/** Parses a mailbox-list of RFC 5322 3.4. A string is the error, as the end of a sentence. */
function readMailboxes(raw: string): Address[] | string {
  if (raw.length > MAX_FIELD_OCTETS) return 'is too long';
  const octets = Buffer.from(raw.replace(/\r\n(?=[ \t])/g, ''), 'latin1');
  if (!isUtf8(octets)) return 'is neither ASCII nor UTF-8';
  const text = octets.toString('utf8');
  if (/[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]/.test(text)) return 'holds control characters';
  if (text.trim() === '') return 'is empty';
  const members = splitMembers(text);
  if (typeof members === 'string') return members;
  const found: Address[] = [];
  for (const member of members) {
    const address = readMember(member);
    if (typeof address === 'string') return address;
    found.push(address);
  }
  return found;
}

interface MailboxMember {
  phrase: string;
  /** The phrase without quoted text. */
  bare: string;
  /** Text between the angle brackets; undefined without brackets. */
  angle: string | undefined;
}

/** Splits at commas outside quotes and angle brackets. Rejects comments and groups. */
function splitMembers(text: string): MailboxMember[] | string {
  const members: MailboxMember[] = [];
  let current: MailboxMember = { phrase: '', bare: '', angle: undefined };
  let inAngle = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    let piece = char;
    if (char === '"') {
      const end = quoteEnd(text, at);
      if (end === undefined) return 'has a quote that is not closed';
      piece = text.slice(at, end);
      at = end - 1;
    }
    if (inAngle) {
      if (char === '<') return 'has two opening angle brackets';
      if (char === '>') inAngle = false;
      else current.angle += piece;
    } else if (char === '<') {
      if (current.angle !== undefined) return 'has two addresses in one place';
      current.angle = '';
      inAngle = true;
    } else if (char === ',') {
      members.push(current);
      current = { phrase: '', bare: '', angle: undefined };
    } else if ('()'.includes(char)) return 'has a comment';
    else if (':;'.includes(char)) return 'has a group or a route';
    else if ('>\\'.includes(char)) return 'cannot be read';
    else if (current.angle !== undefined) {
      if (char !== ' ' && char !== '\t') return 'has text behind an address';
    } else {
      current.phrase += piece;
      current.bare += char === '"' ? '""' : piece;
    }
  }
  return inAngle ? 'has an angle bracket that is not closed' : [...members, current];
}

/** Index after the closing quote; undefined if it is missing. */
function quoteEnd(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '"') return at + 1;
    if (text[at] === '\\') at++;
  }
  return undefined;
}

function readMember({ phrase, bare, angle }: MailboxMember): Address | string {
  const spelled = angle ?? phrase.trim();
  // Some clients decode before they look for the "@", which yields another address.
  if (spelled.includes('=?')) return 'has an encoded word in an address';
  const address = parseAddress(spelled);
  if (address === undefined) return spelled === '' ? 'has an empty address' : 'has an address that cannot be read';
  if (angle === undefined) return address;
  if (bare.includes('@')) return 'has two addresses in one place';
  return nameError(phrase, address) ?? address;
}

/** Finds a display name that shows another author: `"ceo@bank.example" <me@box.test>`. Many clients show only the name. */
function nameError(phrase: string, address: Address): string | undefined {
  if (overridesDirection(phrase)) return 'has a name that turns the direction of text';
  const isOther = (shown: string): boolean => {
    const named = parseAddress(shown);
    return named === undefined || addressKey(named) !== addressKey(address);
  };
  return shownAddresses(phrase).some(isOther) ? 'shows another address as its name' : undefined;
}

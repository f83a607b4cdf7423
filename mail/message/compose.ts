import { formatAddress, type Address } from './address.ts';
import { formatDate } from './date.ts';
import { encodeWords } from './encoded-word.ts';
import { encodeQuotedPrintable } from './quoted-printable.ts';

/** An address with the name that readers see. */
export interface NamedAddress {
  address: Address;
  name?: string;
}

/** A message of our own: plain text, in UTF-8 where ASCII does not do. */
export interface Letter {
  from: NamedAddress;
  to: readonly NamedAddress[];
  subject: string;
  /** ms UTC. */
  date: number;
  /** With angle brackets. */
  messageId: string;
  text: string;
  /** Further fields, such as Auto-Submitted; values are text and are encoded and folded here. */
  headers?: readonly [name: string, value: string][];
}

/** Writes a plain text message with CRLF line ends and an empty line between header and body. */
export function composeLetter(letter: Letter): Buffer {
  return Buffer.from(`${letterHeader(letter)}${textEntity(letter.text)}`);
}

/** The fields that every message of ours has, up to and with MIME-Version. */
export function letterHeader(letter: Omit<Letter, 'text'>): string {
  return [
    field('Date', formatDate(letter.date)),
    field('From', formatNamed(letter.from)),
    field('To', letter.to.map(formatNamed).join(', ')),
    field('Subject', encodeText(letter.subject)),
    field('Message-ID', letter.messageId),
    ...(letter.headers ?? []).map(([name, value]) => field(name, encodeText(value))),
    field('MIME-Version', '1.0'),
  ].join('');
}

/** A text/plain entity: Content fields, empty line, body with a line end at its end. */
export function textEntity(text: string): string {
  const body = `${text
    .toWellFormed()
    .replace(/\r?\n|\r/g, '\r\n')
    .replace(/(?:\r\n)+$/, '')}\r\n`;
  const plain = /^[\t\r\n\x20-\x7e]*$/.test(body) && body.split('\r\n').every((line) => line.length <= 78);
  const encoding = plain ? '7bit' : 'quoted-printable';
  const head = `Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`;
  return head + (plain ? body : encodeQuotedPrintable(Buffer.from(body)));
}

/** `"Name" <local@domain>`, the name in encoded-words when it is not ASCII. */
export function formatNamed({ address, name }: NamedAddress): string {
  return formatMailbox(formatAddress(address), name ?? '');
}

/** {@link formatNamed} of an address that is spelled already. */
export function formatMailbox(spelled: string, name: string): string {
  return oneLine(name) === '' ? spelled : `${formatPhrase(name)} <${spelled}>`;
}

/** The name of a person or a group: quoted, or in encoded-words, which are never in quotes (RFC 2047 5). */
export function formatPhrase(name: string): string {
  const shown = oneLine(name);
  // Many readers decode inside quotes too, so ASCII that looks like an encoded-word becomes one.
  const plain = /^[\x20-\x7e]*$/.test(shown) && !shown.includes('=?') && !/[^ ]{900}/.test(shown);
  return plain ? `"${shown.replace(/["\\]/g, '\\$&')}"` : encodeWords(shown);
}

/** Unstructured text for a header: as it is when it is ASCII that no reader would decode, else encoded-words. */
export function encodeText(text: string): string {
  const line = oneLine(text);
  const long = line.split(' ').some((word) => word.length > 900);
  return /^[\x20-\x7e]*$/.test(line) && !line.includes('=?') && !long ? line : encodeWords(line);
}

/** Line ends and other control characters would begin another field. */
export function oneLine(text: string): string {
  return text.replace(/[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ').trim();
}

/** A header field, folded at blanks to 78 columns where it has any. RFC 5322 2.2.3. */
export function field(name: string, value: string): string {
  let out = `${name}:`;
  let column = out.length;
  for (const word of value.split(' ')) {
    // A fold before nothing could leave a line of blanks, which ends the header for some.
    const fold = word !== '' && column + 1 + word.length > 78 && column > name.length + 1;
    out += fold ? `\r\n ${word}` : ` ${word}`;
    column = fold ? 1 + word.length : column + 1 + word.length;
  }
  return `${out}\r\n`;
}

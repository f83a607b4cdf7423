import { formatAddress, type Address } from './address.ts';
import { formatDate } from './date.ts';
import { encodeWords } from './encoded-word.ts';
import { encodeQuotedPrintable } from './quoted-printable.ts';

/** An address with a display name. */
export interface NamedAddress {
  address: Address;
  name?: string;
}

/** Plain text message composed by this server. */
export interface TextMessage {
  from: NamedAddress;
  to: readonly NamedAddress[];
  subject: string;
  /** ms UTC. */
  date: number;
  /** With angle brackets. */
  messageId: string;
  text: string;
  /** More header fields, such as Auto-Submitted; values are text, encoded and folded here. */
  headers?: readonly [name: string, value: string][];
}

/** Composes a plain text message with CRLF line ends. */
export function composeTextMessage(letter: TextMessage): Buffer {
  return Buffer.from(`${messageHeader(letter)}${textEntity(letter.text)}`);
}

/** Formats the common header fields, up to MIME-Version. */
export function messageHeader(letter: Omit<TextMessage, 'text'>): string {
  return [
    formatField('Date', formatDate(letter.date)),
    formatField('From', formatNamed(letter.from)),
    formatField('To', letter.to.map(formatNamed).join(', ')),
    formatField('Subject', encodeText(letter.subject)),
    formatField('Message-ID', letter.messageId),
    ...(letter.headers ?? []).map(([name, value]) => formatField(name, encodeText(value))),
    formatField('MIME-Version', '1.0'),
  ].join('');
}

/** Formats a text/plain entity: Content fields, empty line, body with a final line end. */
export function textEntity(text: string): string {
  const body = textLines(text);
  const plain = /^[\t\r\n\x20-\x7e]*$/.test(body) && longestLine(body) <= 78;
  const encoding = plain ? '7bit' : 'quoted-printable';
  const head = `Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`;
  return head + (plain ? body : encodeQuotedPrintable(Buffer.from(body)));
}

/** The text as lines that end in CRLF, without empty lines at the end. */
export function textLines(text: string): string {
  let end = text.length;
  // No expression: one for a run at the end tries from each line end before it.
  while (text[end - 1] === '\n' || text[end - 1] === '\r') end--;
  return `${text
    .slice(0, end)
    .toWellFormed()
    .replace(/\r?\n|\r/g, '\r\n')}\r\n`;
}

function longestLine(lines: string): number {
  let longest = 0;
  for (let at = 0, end = lines.indexOf('\r\n'); end !== -1; at = end + 2, end = lines.indexOf('\r\n', at))
    longest = Math.max(longest, end - at);
  return longest;
}

/** Formats `"Name" <local@domain>`; a non-ASCII name becomes encoded-words. */
export function formatNamed({ address, name }: NamedAddress): string {
  return formatMailbox(formatAddress(address), name ?? '');
}

/** {@link formatNamed} for an address that is already formatted. */
export function formatMailbox(spelled: string, name: string): string {
  return oneLine(name) === '' ? spelled : `${formatPhrase(name)} <${spelled}>`;
}

/** Formats a display or group name: quoted, or as encoded-words, which must not be quoted (RFC 2047 5). */
export function formatPhrase(name: string): string {
  const shown = oneLine(name);
  // Many clients decode inside quotes, so ASCII that looks like an encoded-word is encoded.
  const plain = /^[\x20-\x7e]*$/.test(shown) && !shown.includes('=?') && !/[^ ]{900}/.test(shown);
  return plain ? `"${shown.replace(/["\\]/g, '\\$&')}"` : encodeWords(shown);
}

/** Formats unstructured header text: plain ASCII as it is, else encoded-words. */
export function encodeText(text: string): string {
  const line = oneLine(text);
  const plain = /^[\x20-\x7e]*$/.test(line) && !line.includes('=?') && !/(?:^| )[^ ]{901}/.test(line);
  return plain ? line : encodeWords(line);
}

/** Collapses line ends and control characters, which would allow header injection. */
export function oneLine(text: string): string {
  return text.replace(/[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ').trim();
}

/** Formats a header field, folded at blanks to 78 columns. RFC 5322 2.2.3. */
export function formatField(name: string, value: string): string {
  let out = `${name}:`;
  let column = out.length;
  for (const word of value.split(' ')) {
    // A fold before an empty word could leave a blank line, which ends the header for some parsers.
    const fold = word !== '' && column + 1 + word.length > 78 && column > name.length + 1;
    out += fold ? `\r\n ${word}` : ` ${word}`;
    column = fold ? 1 + word.length : column + 1 + word.length;
  }
  return `${out}\r\n`;
}

import { readFields } from '../message/header.ts';
import { readAuthenticationResults } from './results-reader.ts';

/** Octets; longer headers pass unchanged. */
const MAX_HEADER_OCTETS = 1024 * 1024;
const END = Buffer.from('\r\n\r\n');
const FIELD = 'authentication-results';
const VERDICT = 'x-mailstead-verdict';

/** Returns the authserv-id of a leading Authentication-Results field; undefined if the block begins with another field. RFC 8601 2.5. */
export function leadingAuthserv(header: string): string | undefined {
  const [first] = readFields(header, 1);
  return first?.name === FIELD ? serverOf(first.value) : undefined;
}

/**
 * Removes Authentication-Results fields that claim to be from this server: they arrived with the message, so they are
 * forged. Buffers only the header. RFC 8601 5.
 */
export async function* removeForgedResults(authserv: string, message: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of message) {
    if (head === undefined) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(END);
    if (end < 0 && head.length <= MAX_HEADER_OCTETS) continue;
    yield* end < 0 ? [head] : [removeForgedFields(head.subarray(0, end + 2), authserv), head.subarray(end + 2)];
    head = undefined;
  }
  if (head !== undefined) yield removeForgedFields(head, authserv);
}

/** Removes fields that claim to be this server's: Authentication-Results and X-Mailstead-Verdict. */
export function removeForgedFields(header: Buffer, authserv: string): Buffer {
  const text = header.toString('latin1');
  const isForged = ({ name, value }: { name: string; value: string }): boolean =>
    name === VERDICT || (name === FIELD && claimsServer(value, normalizeAuthserv(authserv)));
  const fields = readFields(text);
  if (!fields.some(isForged)) return header;
  const rest = fields.filter((field) => !isForged(field)).map(({ start, end }) => text.slice(start, end));
  // Keeps the empty line, if there is one.
  return Buffer.from(rest.join('') + text.slice(fields.at(-1)?.end ?? 0), 'latin1');
}

/** True if results claim to be from this server; unparsable ones count if they contain its name. */
function claimsServer(value: string, own: string): boolean {
  const server = serverOf(value);
  return server === '' ? value.toLowerCase().includes(own) : server === own;
}

/** Reads the authserv-id, past comments, folds, quotes and a version; '' without one. */
function serverOf(value: string): string {
  return normalizeAuthserv(readAuthenticationResults(value)?.authserv ?? '');
}

/** Normalizes like the most lenient parser: drops controls, and everything from the first character that is not part of a name. */
function normalizeAuthserv(authserv: string): string {
  const [name = ''] = authserv
    .toLowerCase()
    .replace(/[\x00-\x20\x7f]/g, '')
    .split(/[^a-z0-9._\x80-\xff-]/, 1);
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

import { readFields } from '../message/header.ts';
import { readResults } from './results-reader.ts';

/** A header that is longer goes on as it is: nobody reads results in it. */
const MOST_HEADER = 1024 * 1024;
const END = Buffer.from('\r\n\r\n');
const FIELD = 'authentication-results';
const VERDICT = 'x-mailstead-verdict';

/** Whose results a header block begins with, undefined when it does not begin with any. RFC 8601 2.5. */
export function resultsServer(header: string): string | undefined {
  const [first] = readFields(header, 1);
  return first?.name === FIELD ? serverOf(first.value) : undefined;
}

/**
 * A message without the Authentication-Results that claim to be of this server: they were there before it looked, so
 * somebody else wrote them. Nothing but the header is held in memory. RFC 8601 5.
 */
export async function* withoutResultsOf(authserv: string, message: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of message) {
    if (head === undefined) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(END);
    if (end < 0 && head.length <= MOST_HEADER) continue;
    yield* end < 0 ? [head] : [cleaned(head.subarray(0, end + 2), authserv), head.subarray(end + 2)];
    head = undefined;
  }
  if (head !== undefined) yield cleaned(head, authserv);
}

/** A header block without what claims to be this server's own word: its results, and its verdict. */
export function cleaned(header: Buffer, authserv: string): Buffer {
  const text = header.toString('latin1');
  const own = plain(authserv);
  const isForged = ({ name, value }: { name: string; value: string }): boolean =>
    name === VERDICT || (name === FIELD && names(value, own));
  const fields = readFields(text);
  if (!fields.some(isForged)) return header;
  const rest = fields.filter((field) => !isForged(field)).map(({ start, end }) => text.slice(start, end));
  return Buffer.from(rest.join(''), 'latin1');
}

/** Whether results claim to be of this server; those that nobody can read are suspected where they hold its name. */
function names(value: string, own: string): boolean {
  const server = serverOf(value);
  return server === '' ? value.toLowerCase().includes(own) : server === own;
}

/** The authserv-id, past comments, folds, quotes and a version; '' where there is none. */
function serverOf(value: string): string {
  return plain(readResults(value)?.authserv ?? '');
}

/** As a reader might take it that drops what is no letter of a name, and all behind it. */
function plain(authserv: string): string {
  const [name = ''] = authserv
    .toLowerCase()
    .replace(/[\x00-\x20\x7f]/g, '')
    .split(/[^a-z0-9._\x80-\xff-]/, 1);
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

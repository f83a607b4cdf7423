import { readFields } from '../message/header.ts';

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
  const isForged = ({ name, value }: { name: string; value: string }): boolean =>
    name === VERDICT || (name === FIELD && serverOf(value) === serverOf(authserv));
  const fields = readFields(text);
  if (!fields.some(isForged)) return header;
  const rest = fields.filter((field) => !isForged(field)).map(({ start, end }) => text.slice(start, end));
  return Buffer.from(rest.join(''), 'latin1');
}

/** The authserv-id, past comments and quotes: whoever forges one writes it as it is not expected. */
function serverOf(value: string): string {
  const bare = value.replace(/[\r\n]/g, '').replace(/\([^()]*\)/g, ' ');
  const [, quoted, word] = /^\s*(?:"([^"]*)"|([^\s;]+))/.exec(bare) ?? [];
  return (quoted ?? word ?? '').toLowerCase();
}

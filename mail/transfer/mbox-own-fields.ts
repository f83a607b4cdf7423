import { ANSWERED, DELETED, DRAFT, FLAGGED, type NamedFlags, SEEN } from '../store/mailbox/flags.ts';
import { keywordsOf, mboxFlags } from './mbox-fields.ts';

/**
 * Fields that an export writes before each message of an mbox file, and an import removes: flags as mutt and Dovecot
 * read them, the exact time, and whether the last line had no end.
 */
const LAST_FIELD = 'X-Mailstead-Received';
const MAX_OWN = 16 * 1024;

/** The fields of a message, with lines that end with LF. */
export function writeOwnFields(flags: NamedFlags, receivedAt: number, isOpen: boolean): string {
  const { bits, keywords } = flags;
  const status = `${(bits & SEEN) === 0 ? '' : 'R'}O`;
  const letters: readonly [string, number][] = [
    ['A', ANSWERED],
    ['F', FLAGGED],
    ['T', DRAFT],
    ['D', DELETED],
  ];
  const more = letters.filter(([, bit]) => (bits & bit) !== 0).map(([letter]) => letter);
  return [
    `Status: ${status}`,
    `X-Status: ${more.join('')}`,
    `X-Keywords: ${keywords.join(' ')}`,
    `${LAST_FIELD}: ${new Date(receivedAt).toISOString()}${isOpen ? '; open' : ''}`,
    '',
  ].join('\n');
}

/** The fields of an exported message. */
export interface OwnFields {
  /** Octets of the fields. */
  length: number;
  flags: NamedFlags;
  /** ms UTC. */
  receivedAt: number;
  /** Removes what the export added at the end. */
  restore(octets: AsyncIterable<Buffer>): AsyncIterable<Buffer>;
}

/** Reads them from the first octets of a message; undefined: it has none. */
export function ownFields(head: Buffer): OwnFields | undefined {
  const text = head.toString('latin1', 0, Math.min(head.length, MAX_OWN));
  const found = new RegExp(
    `^Status: ?([^\\r\\n]*)\\r?\\nX-Status: ?([^\\r\\n]*)\\r?\\nX-Keywords: ?([^\\r\\n]*)\\r?\\n${LAST_FIELD}: ([0-9TZ:.+-]+)(; open)?\\r?\\n`,
  ).exec(text);
  if (found === null) return undefined;
  const [whole, status = '', more = '', words = '', time = '', open] = found;
  const receivedAt = Date.parse(time);
  if (Number.isNaN(receivedAt)) return undefined;
  const bits =
    mboxFlags(
      new Map([
        ['status', status],
        ['x-status', more],
      ]),
    )?.bits ?? 0;
  return {
    length: whole.length,
    flags: { bits, keywords: keywordsOf(words.split(' ')) },
    receivedAt,
    restore: (octets) => (open === undefined ? octets : withoutLastEnd(octets)),
  };
}

/** Removes the line end that the export added to a last line without one. */
async function* withoutLastEnd(octets: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0);
  for await (const chunk of octets) {
    const all = Buffer.concat([held, chunk]);
    const keep = Math.max(0, all.length - 2);
    yield all.subarray(0, keep);
    held = Buffer.from(all.subarray(keep));
  }
  yield Buffer.from(held.toString('latin1').replace(/\r?\n$/, ''), 'latin1');
}

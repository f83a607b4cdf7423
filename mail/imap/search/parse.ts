import { ANSWERED, DELETED, DRAFT, FLAGGED, SEEN } from '../imap-store.ts';
import type { Decoder } from '../wire/decoder.ts';
import { ImapSyntaxError } from '../wire/syntax-error.ts';
import type { SearchCommand, SearchKey, SearchReturn } from './program.ts';

/** Nested parentheses, NOT and OR; a chain `OR a OR b OR c ...` counts as one level. */
const MAX_NESTING = 100;
/** Keys in one program: each can be evaluated for every message. */
const MAX_KEYS = 2000;
/** BODY and TEXT keys in one program: each can be compared with every octet of every message. */
const MAX_BODY_KEYS = 100;

const RETURNS: ReadonlySet<string> = new Set<SearchReturn>(['MIN', 'MAX', 'ALL', 'COUNT']);

/** Reads what follows `SEARCH `: RETURN, CHARSET, keys. RFC 9051 6.4.4, RFC 4731, RFC 5032. */
export function parseSearch(d: Decoder): SearchCommand {
  const returns = d.maybe('RETURN ') ? returnOptions(d) : undefined;
  if (d.maybe('CHARSET ')) {
    const charset = d.astring().toUpperCase();
    if (charset !== 'UTF-8' && charset !== 'US-ASCII') {
      d.rest();
      return { kind: 'bad-charset' };
    }
    d.sp();
  }
  const of = keys(new KeyReader(d), 0);
  d.end();
  return { kind: 'search', program: { key: 'and', of }, returns };
}

function returnOptions(d: Decoder): SearchReturn[] {
  const words = d.list((d) => d.word());
  d.sp();
  const unknown = words.find((word) => !RETURNS.has(word));
  if (unknown !== undefined) throw new ImapSyntaxError('Unknown RETURN option');
  // RFC 4731 3.1: no option at all means ALL.
  return words.length === 0 ? ['ALL'] : [...new Set(words as SearchReturn[])];
}

/** The decoder, with a count of the keys read. */
class KeyReader {
  readonly d: Decoder;
  private count = 0;
  private bodyCount = 0;

  constructor(d: Decoder) {
    this.d = d;
  }

  countBodyKey(): void {
    if (++this.bodyCount > MAX_BODY_KEYS) throw new ImapSyntaxError('Too many BODY and TEXT keys');
  }

  countKey(depth: number): void {
    if (++this.count > MAX_KEYS) throw new ImapSyntaxError('Too many search keys');
    if (depth > MAX_NESTING) throw new ImapSyntaxError('Search keys are nested too deeply');
  }
}

/** search-key *(SP search-key), to the end or the closing parenthesis. */
function keys(reader: KeyReader, depth: number): SearchKey[] {
  const { d } = reader;
  const all = [key(reader, depth)];
  // end() accepts a single trailing space.
  while (!d.ahead(')') && !d.trailing()) all.push(key(reader, depth, d.sp()));
  return all;
}

function key(reader: KeyReader, depth: number, d: Decoder = reader.d): SearchKey {
  reader.countKey(depth);
  if (d.sequenceAhead()) return { key: 'seq', set: d.sequenceSet() };
  if (d.maybe('(')) return group(reader, depth);
  const name = d.word();
  if (name === 'NOT') return { key: 'not', of: key(reader, depth + 1, d.sp()) };
  if (name === 'OR') return either(reader, depth);
  if (name === 'BODY' || name === 'TEXT') reader.countBodyKey();
  const read = SIMPLE.get(name);
  if (read === undefined) throw new ImapSyntaxError('Unknown search key');
  return read(d);
}

function group(reader: KeyReader, depth: number): SearchKey {
  const of = keys(reader, depth + 1);
  reader.d.expect(')');
  return { key: 'and', of };
}

function either(reader: KeyReader, depth: number): SearchKey {
  const { d } = reader;
  const of = [key(reader, depth + 1, d.sp())];
  while (d.sp().maybe('OR ')) {
    of.push(key(reader, depth + 1));
    reader.countKey(depth);
  }
  of.push(key(reader, depth + 1));
  return { key: 'or', of };
}

const not = (of: SearchKey): SearchKey => ({ key: 'not', of });
const flag = (bit: number) => (): SearchKey => ({ key: 'flag', bit });
const unflag = (bit: number) => (): SearchKey => not({ key: 'flag', bit });
const field =
  (name: string) =>
  (d: Decoder): SearchKey => ({ key: 'header', field: name, text: d.sp().astring() });
const text =
  (key: 'body' | 'text') =>
  (d: Decoder): SearchKey => ({ key, text: d.sp().astring() });
const size =
  (key: 'larger' | 'smaller') =>
  (d: Decoder): SearchKey => ({ key, size: d.sp().number64() });
const age =
  (key: 'older' | 'younger') =>
  (d: Decoder): SearchKey => ({ key, seconds: d.sp().nzNumber() });
const day =
  (key: 'received' | 'sent', when: 'before' | 'on' | 'since') =>
  (d: Decoder): SearchKey => ({ key, when, day: d.sp().date() });
const keyword = (d: Decoder): SearchKey => ({ key: 'keyword', name: d.sp().atom().toLowerCase() });

const SIMPLE: ReadonlyMap<string, (d: Decoder) => SearchKey> = new Map<string, (d: Decoder) => SearchKey>([
  ['ALL', () => ({ key: 'all' })],
  // \Recent is not supported: RECENT and NEW match nothing, OLD everything. RFC 3501 6.4.4.
  ['RECENT', () => ({ key: 'never' })],
  ['NEW', () => ({ key: 'never' })],
  ['OLD', () => ({ key: 'all' })],
  ['ANSWERED', flag(ANSWERED)],
  ['DELETED', flag(DELETED)],
  ['DRAFT', flag(DRAFT)],
  ['FLAGGED', flag(FLAGGED)],
  ['SEEN', flag(SEEN)],
  ['UNANSWERED', unflag(ANSWERED)],
  ['UNDELETED', unflag(DELETED)],
  ['UNDRAFT', unflag(DRAFT)],
  ['UNFLAGGED', unflag(FLAGGED)],
  ['UNSEEN', unflag(SEEN)],
  ['KEYWORD', keyword],
  ['UNKEYWORD', (d) => not(keyword(d))],
  ['UID', (d) => ({ key: 'uid', set: d.sp().sequenceSet() })],
  ['LARGER', size('larger')],
  ['SMALLER', size('smaller')],
  ['BEFORE', day('received', 'before')],
  ['ON', day('received', 'on')],
  ['SINCE', day('received', 'since')],
  ['SENTBEFORE', day('sent', 'before')],
  ['SENTON', day('sent', 'on')],
  ['SENTSINCE', day('sent', 'since')],
  ['OLDER', age('older')],
  ['YOUNGER', age('younger')],
  ['FROM', field('from')],
  ['TO', field('to')],
  ['CC', field('cc')],
  ['BCC', field('bcc')],
  ['SUBJECT', field('subject')],
  ['HEADER', (d) => field(d.sp().astring().toLowerCase())(d)],
  ['BODY', text('body')],
  ['TEXT', text('text')],
]);

export { bindSearch } from './bind.ts';

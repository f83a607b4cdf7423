import { decodeCharset, isKnownCharset, isPlaceholderCharset } from '../../message/decode.ts';
import { ANSWERED, DELETED, DRAFT, FLAGGED, SEEN } from '../imap-store.ts';
import type { Decoder } from '../wire/decoder.ts';
import { SAVED_RESULT } from '../wire/sequence-set.ts';
import { ImapSyntaxError } from '../wire/syntax-error.ts';
import { textOf } from '../wire/text.ts';
import type { BadCharset, SearchCommand, SearchCriteria, SearchKey, SortCommand, ThreadCommand } from './program.ts';
import { parseReturns } from './returns.ts';
import { SORT_CRITERIA, type SortKey } from './sort/sort-key.ts';
import { THREAD_ALGORITHMS } from './thread/thread-input.ts';

/** Nested parentheses, NOT and OR; a chain `OR a OR b OR c ...` counts as one level. */
const MAX_NESTING = 100;
/** Keys in one program: each can be evaluated for every message. */
const MAX_KEYS = 2000;
/** BODY and TEXT keys in one program: each can be compared with every octet of every message. */
const MAX_BODY_KEYS = 100;
/** `$` and MODSEQ keys in one program: each becomes a set of as many UIDs as there are messages. */
const MAX_SESSION_SETS = 5;

/** Characters of a charset name. */
const MAX_CHARSET = 40;

/** Reads what follows `SEARCH `: RETURN, CHARSET, keys. RFC 9051 6.4.4, RFC 4731, RFC 5032. */
export function parseSearch(d: Decoder): SearchCommand {
  const returns = parseReturns(d);
  const charset = d.maybe('CHARSET ') ? d.astring() : undefined;
  const criteria = parseCriteria(d, charset);
  return 'kind' in criteria ? { ...criteria, returns } : { kind: 'search', returns, ...criteria };
}

/** Reads what follows `SORT `: RETURN, sort keys, charset, search keys. RFC 5256 3, RFC 5267 4.4. */
export function parseSort(d: Decoder): SortCommand {
  const returns = parseReturns(d);
  const keys = parseSortKeys(d);
  const criteria = parseCriteria(d.sp(), d.astring());
  return 'kind' in criteria ? { ...criteria, returns } : { kind: 'sort', keys, returns, ...criteria };
}

/** Reads what follows `THREAD `: algorithm, charset, search keys. RFC 5256 3. */
export function parseThread(d: Decoder): ThreadCommand {
  const algorithm = THREAD_ALGORITHMS.find((name) => d.maybe(`${name} `));
  if (algorithm === undefined) throw new ImapSyntaxError(`Unknown algorithm. Use ${THREAD_ALGORITHMS.join(', ')}`);
  const criteria = parseCriteria(d, d.astring());
  return 'kind' in criteria ? criteria : { kind: 'thread', algorithm, ...criteria };
}

/** Reads the space behind a charset, and the keys to the end. */
function parseCriteria(d: Decoder, charset: string | undefined): SearchCriteria | BadCharset {
  if (charset !== undefined) {
    if (charset.length > MAX_CHARSET || !isKnownCharset(charset) || isPlaceholderCharset(charset)) {
      d.rest();
      return { kind: 'bad-charset' };
    }
    d.decodeText = (octets) => decodeSearched(octets, charset);
    d.sp();
  }
  const of = keys(new KeyReader(d), 0);
  d.end();
  return { program: { key: 'and', of }, charset };
}

/** Clients name US-ASCII or UTF-8 and send the other. */
function decodeSearched(octets: Buffer, charset: string): string {
  return /^(?:us-ascii|utf-?8)$/i.test(charset) ? textOf(octets) : decodeCharset(octets, charset);
}

function parseSortKeys(d: Decoder): SortKey[] {
  const keys = d.list((one): SortKey => {
    const reverse = one.maybe('REVERSE ');
    const word = one.word();
    const by = SORT_CRITERIA.find((name) => name === word);
    if (by === undefined) throw new ImapSyntaxError('Unknown sort key');
    return { by, reverse };
  });
  if (keys.length === 0) throw new ImapSyntaxError('Missing sort key');
  // A key that came before decides nothing: each is sorted by once.
  return keys.filter(({ by }, at) => keys.findIndex((other) => other.by === by) === at);
}

/** The decoder, with a count of the keys read. */
class KeyReader {
  readonly d: Decoder;
  private count = 0;
  private bodyCount = 0;
  private sessionSets = 0;

  constructor(d: Decoder) {
    this.d = d;
  }

  countBodyKey(): void {
    if (++this.bodyCount > MAX_BODY_KEYS) throw new ImapSyntaxError('Too many BODY and TEXT keys');
  }

  countSessionSet(): void {
    if (++this.sessionSets > MAX_SESSION_SETS) throw new ImapSyntaxError('Too many $ and MODSEQ keys');
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
  if (d.sequenceAhead()) return counted(reader, { key: 'seq', set: d.sequenceSet() });
  if (d.maybe('(')) return group(reader, depth);
  const name = d.word();
  if (name === 'NOT') return { key: 'not', of: key(reader, depth + 1, d.sp()) };
  if (name === 'OR') return either(reader, depth);
  if (name === 'FUZZY') return { key: 'fuzzy', of: key(reader, depth + 1, d.sp()) };
  if (name === 'BODY' || name === 'TEXT') reader.countBodyKey();
  const read = SIMPLE.get(name);
  if (read === undefined) throw new ImapSyntaxError('Unknown search key');
  return counted(reader, read(d));
}

/** Counts a key that stands for a set which the session knows. */
function counted(reader: KeyReader, key: SearchKey): SearchKey {
  const isSaved = (key.key === 'seq' || key.key === 'uid') && key.set === SAVED_RESULT;
  if (isSaved || key.key === 'modseq') reader.countSessionSet();
  return key;
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
  (key: 'received' | 'sent' | 'saved', when: 'before' | 'on' | 'since') =>
  (d: Decoder): SearchKey => ({ key, when, day: d.sp().date() });
/** `MODSEQ 620162338`, or with an entry of one flag, for which all flags count. RFC 7162 3.1.5. */
const modseq = (d: Decoder): SearchKey => {
  if (d.sp().ahead('"')) {
    if (!d.astring().toLowerCase().startsWith('/flags/')) throw new ImapSyntaxError('Unknown entry of MODSEQ');
    const type = d.sp().word();
    if (!['ALL', 'PRIV', 'SHARED'].includes(type)) throw new ImapSyntaxError('Expected priv, shared or all');
    d.sp();
  }
  return { key: 'modseq', since: d.modseq() };
};
const objectId =
  (key: 'emailid' | 'threadid') =>
  (d: Decoder): SearchKey => ({ key, id: d.sp().astring() });
const keyword = (d: Decoder): SearchKey => ({ key: 'keyword', name: d.sp().atom().toLowerCase() });

const SIMPLE: ReadonlyMap<string, (d: Decoder) => SearchKey> = new Map<string, (d: Decoder) => SearchKey>([
  ['ALL', () => ({ key: 'all' })],
  ['RECENT', () => ({ key: 'recent' })],
  ['NEW', () => ({ key: 'and', of: [{ key: 'recent' }, not({ key: 'flag', bit: SEEN })] })],
  ['OLD', () => not({ key: 'recent' })],
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
  ['MODSEQ', modseq],
  ['LARGER', size('larger')],
  ['SMALLER', size('smaller')],
  ['BEFORE', day('received', 'before')],
  ['ON', day('received', 'on')],
  ['SINCE', day('received', 'since')],
  ['SENTBEFORE', day('sent', 'before')],
  ['SENTON', day('sent', 'on')],
  ['SENTSINCE', day('sent', 'since')],
  // RFC 8514 4.2.
  ['SAVEDBEFORE', day('saved', 'before')],
  ['SAVEDON', day('saved', 'on')],
  ['SAVEDSINCE', day('saved', 'since')],
  ['SAVEDATESUPPORTED', () => ({ key: 'all' })],
  ['EMAILID', objectId('emailid')],
  ['THREADID', objectId('threadid')],
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

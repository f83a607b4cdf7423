import { casemap } from '../../../message/subject.ts';
import type { Candidates } from '../candidates.ts';
import { costOf, onDay } from '../matcher.ts';
import type { SearchKey } from '../program.ts';
import { onLocalDay } from '../../wire/local-time.ts';
import { COLUMN_FIELDS, type ColumnField } from './column-names.ts';
import type { MailboxColumns } from './mailbox-columns.ts';
import { PositionSet } from './position-set.ts';
import { FoldedColumn } from './folded-column.ts';

/** Messages whose headers are read one by one rather than those of the whole mailbox. */
const FEW = 500;

/** Positions that match and that do not; those in neither are for the matcher. */
export interface Verdicts {
  yes: PositionSet;
  no: PositionSet;
}

export interface DecideContext {
  columns: MailboxColumns;
  /** Positions of {@link Candidates} in the columns, by their index. */
  positions: Uint32Array;
  candidates: Candidates;
  /** ms UTC, for OLDER and YOUNGER. */
  now: number;
  /** Reads the header columns. */
  loadHeaders(): Promise<void>;
  /** Yields to other queries when the time slice is over. */
  pause(): Promise<void> | undefined;
}

/**
 * Decides a program by the columns of a mailbox for the positions of `scope`, key by key for all messages at once. Cheap
 * keys come first, and what they decide is not looked at again. Linear in keys times messages, in words of 32 messages
 * but for texts and dates.
 */
export async function decide(key: SearchKey, scope: PositionSet, context: DecideContext): Promise<Verdicts> {
  await context.pause();
  switch (key.key) {
    case 'not': {
      const { yes, no } = await decide(key.of, scope, context);
      return { yes: no, no: yes };
    }
    case 'fuzzy':
      return decide(key.of, scope, context);
    case 'and':
    case 'or':
      return combine(key, scope, context);
    case 'header':
      return header(key, scope, context);
    case 'body':
    case 'text':
      return key.text === '' ? decided(scope, scope) : { yes: none(scope), no: none(scope) };
    // No columns: the rows of the messages decide.
    case 'saved':
    case 'emailid':
    case 'threadid':
      return { yes: none(scope), no: none(scope) };
    case 'all':
    case 'flag':
    case 'keyword':
    case 'larger':
    case 'modseq':
    case 'never':
    case 'older':
    case 'received':
    case 'recent':
    case 'sent':
    case 'seq':
    case 'smaller':
    case 'uid':
    case 'younger':
      return decided(leaf(key, scope, context), scope);
  }
}

async function combine(
  { key, of }: SearchKey & { key: 'and' | 'or' },
  scope: PositionSet,
  context: DecideContext,
): Promise<Verdicts> {
  const isAnd = key === 'and';
  // All of them (AND), or none of them (OR).
  let every = scope;
  let some = none(scope);
  for (const each of [...of].sort((a, b) => costOf(a) - costOf(b))) {
    const open = scope.minus(some);
    if (open.isEmpty) break;
    const { yes, no } = await decide(each, open, context);
    every = every.and(isAnd ? yes : no);
    some = some.or(isAnd ? no : yes);
  }
  every = every.minus(some);
  return isAnd ? { yes: every, no: some } : { yes: some, no: every };
}

function decided(yes: PositionSet, scope: PositionSet): Verdicts {
  return { yes, no: scope.minus(yes) };
}

function none(scope: PositionSet): PositionSet {
  return new PositionSet(scope.length);
}

async function header(
  key: SearchKey & { key: 'header' },
  scope: PositionSet,
  context: DecideContext,
): Promise<Verdicts> {
  const { headers, length } = context.columns;
  const text = casemap(key.text);
  const isReadable = isColumn(key.field) && (text === '' || FoldedColumn.isSearchable(text));
  if (!isReadable || (headers.length < length && scope.count <= FEW)) return { yes: none(scope), no: none(scope) };
  await context.loadHeaders();
  // A very large mailbox has only its first headers in memory: the matcher decides the others.
  const read = none(scope).addRange(0, headers.length);
  const known = scope.and(read).minus(headers.unread(scope.length));
  return decided(headers.find(key.field as ColumnField, text, known), known);
}

function isColumn(field: string): field is ColumnField {
  return (COLUMN_FIELDS as readonly string[]).includes(field);
}

type Leaf = Exclude<
  SearchKey,
  { key: 'not' | 'fuzzy' | 'and' | 'or' | 'header' | 'body' | 'text' | 'saved' | 'emailid' | 'threadid' }
>;

/** Positions of `scope` that match a key about flags, UIDs or numbers. */
function leaf(key: Leaf, scope: PositionSet, context: DecideContext): PositionSet {
  const { columns, now } = context;
  switch (key.key) {
    case 'all':
      return scope;
    case 'never':
    case 'seq': // unbound, like `modseq`: bindSearch replaces them
    case 'modseq':
    case 'recent':
      return none(scope);
    case 'flag':
      return flagged(context, scope, (system) => (system & key.bit) !== 0);
    case 'keyword':
      return withKeyword(key.name, context, scope);
    case 'uid':
      return within(key.set, columns).and(scope);
    case 'larger':
      return where(columns.sizes, scope, (size) => size > key.size);
    case 'smaller':
      return where(columns.sizes, scope, (size) => size < key.size);
    case 'older':
      return where(columns.receivedAt, scope, (at) => at <= now - key.seconds * 1000);
    case 'younger':
      return where(columns.receivedAt, scope, (at) => at >= now - key.seconds * 1000);
    case 'received':
      // RFC 9051 6.4.4: the day that INTERNALDATE shows, whatever its time and zone.
      return where(columns.receivedAt, scope, onLocalDay(key.when, key.day));
    case 'sent':
      return where(columns.sentDays, scope, (day) => day !== -1 && onDay(day, key.when, key.day));
  }
}

function where(values: ArrayLike<number>, scope: PositionSet, matches: (value: number) => boolean): PositionSet {
  const found = none(scope);
  for (let at = 0; at < scope.length; at++) if (matches(values[at] ?? 0)) found.add(at);
  return found.and(scope);
}

function flagged(
  { candidates, positions }: DecideContext,
  scope: PositionSet,
  matches: (system: number) => boolean,
): PositionSet {
  const found = none(scope);
  positions.forEach((place, i) => {
    if (matches(candidates.system[i] ?? 0)) found.add(place);
  });
  return found.and(scope);
}

function withKeyword(name: string, { candidates, positions }: DecideContext, scope: PositionSet): PositionSet {
  const found = none(scope);
  const k = candidates.keywords.indexOf(name);
  const width = Math.ceil(candidates.keywords.length / 8);
  if (k < 0) return found;
  positions.forEach((place, i) => {
    if (((candidates.words[i * width + (k >> 3)] ?? 0) & (1 << (k & 7))) !== 0) found.add(place);
  });
  return found.and(scope);
}

/** Positions of UIDs in a bound set. */
function within(set: ReadonlyArray<{ from: number; to: number }>, columns: MailboxColumns): PositionSet {
  const found = new PositionSet(columns.length);
  for (const { from, to } of set) found.addRange(columns.positionOf(from), columns.positionOf(to + 1));
  return found;
}

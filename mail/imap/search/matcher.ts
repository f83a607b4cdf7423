import { jmapId } from '../../store/object-id.ts';
import { casemap } from '../../message/subject.ts';
import { onLocalDay } from '../wire/local-time.ts';
import { lowerBound, SAVED_RESULT } from '../wire/sequence-set.ts';
import type { SearchKey } from './program.ts';

/** Facts about one message; each tier adds some. */
export interface SearchFacts {
  uid: number;
  /** System flags. */
  system: number;
  hasKeyword(name: string): boolean;
  row?: RowFacts;
  header?: HeaderFacts;
  body?: BodyFacts;
}

export interface RowFacts {
  /** RFC822.SIZE. */
  size: number;
  /** INTERNALDATE, ms UTC. */
  receivedAt: number;
  /** MessageIndex.sentDay, -1 when there is none. */
  sentDay: number;
  /** SAVEDATE, ms UTC. */
  savedAt?: number;
  emailId?: number;
  threadId?: number;
}

export interface HeaderFacts {
  /** True when a field of that lower-case name contains the text, given in {@link casemap}. */
  field(name: string, text: string): boolean;
  anywhere(text: string): boolean;
}

/** The texts of {@link bodyTextsOf} that the body contains. */
export type BodyFacts = ReadonlySet<string>;

/** Returns undefined while the facts do not decide it. */
export type Matcher = (facts: SearchFacts) => boolean | undefined;

interface TieredMatcher {
  match: Matcher;
  /** 0 flags and UIDs, 1 row, 2 header, 3 text. */
  tier: number;
}

/** Compiles a program: sets are sorted, texts are case-folded, cheaper keys come first. */
export function createMatcher(program: SearchKey, now: number): Matcher {
  return tieredMatcher(program, now).match;
}

/** Keywords that the program names, in lower case. */
export function searchedKeywords(program: SearchKey): string[] {
  const names = leavesOf(program).map((key) => (key.key === 'keyword' ? key.name : ''));
  return [...new Set(names)].filter((name) => name !== '');
}

/** Texts that the program looks for in message bodies, in {@link casemap}. */
export function bodyTextsOf(program: SearchKey): string[] {
  const texts = leavesOf(program).map((key) => (key.key === 'body' || key.key === 'text' ? casemap(key.text) : ''));
  return [...new Set(texts)].filter((text) => text !== '');
}

/** Tests if a row decides some message: its size, a date, or an id. */
export function usesRow(program: SearchKey): boolean {
  return leavesOf(program).some((key) => costOf(key) === 1);
}

/** Tests if the program is ALL: every message matches. */
export function matchesAll(program: SearchKey): boolean {
  return program.key === 'all' || (program.key === 'and' && program.of.every(matchesAll));
}

/** Tests if flags or keywords decide some message. */
export function usesFlags(program: SearchKey): boolean {
  return leavesOf(program).some(({ key }) => key === 'flag' || key === 'keyword');
}

/** Tests if the program names UIDs. */
export function usesUids(program: SearchKey): boolean {
  return leavesOf(program).some(
    ({ key }) => key === 'uid' || key === 'seq' || key === 'modseq' || key === 'recent' || key === 'never',
  );
}

/** Tests if the age of messages decides: the result changes with time alone. */
export function usesAge(program: SearchKey): boolean {
  return leavesOf(program).some(({ key }) => key === 'older' || key === 'younger');
}

/** Tests if the program names sequence numbers or the saved result. */
export function usesSequenceOrSaved(program: SearchKey): boolean {
  return leavesOf(program).some((key) => key.key === 'seq' || (key.key === 'uid' && key.set === SAVED_RESULT));
}

/** Rank of what deciding a key reads: 0 flags and UIDs, 1 row, 2 header, 3 text. */
export function costOf(key: SearchKey): number {
  switch (key.key) {
    case 'not':
    case 'fuzzy':
      return costOf(key.of);
    case 'and':
    case 'or':
      return key.of.reduce((most, each) => Math.max(most, costOf(each)), 0);
    case 'header':
      return 2;
    case 'body':
    case 'text':
      return 3;
    case 'larger':
    case 'smaller':
    case 'older':
    case 'younger':
    case 'received':
    case 'sent':
    case 'saved':
    case 'emailid':
    case 'threadid':
      return 1;
    case 'all':
    case 'flag':
    case 'keyword':
    case 'modseq':
    case 'never':
    case 'recent':
    case 'seq':
    case 'uid':
      return 0;
  }
}

/** The keys of a program without its operators. */
function leavesOf(key: SearchKey): SearchKey[] {
  if (key.key === 'not' || key.key === 'fuzzy') return leavesOf(key.of);
  return key.key === 'and' || key.key === 'or' ? key.of.flatMap(leavesOf) : [key];
}

function tieredMatcher(key: SearchKey, now: number): TieredMatcher {
  switch (key.key) {
    case 'all':
      return { tier: 0, match: () => true };
    case 'never':
    case 'recent':
    case 'modseq': // unbound, like `seq`: bindSearch replaces them
    case 'seq':
      return { tier: 0, match: () => false };
    case 'flag':
      return { tier: 0, match: ({ system }) => (system & key.bit) !== 0 };
    case 'keyword':
      return { tier: 0, match: (facts) => facts.hasKeyword(key.name) };
    case 'uid':
      return { tier: 0, match: uidMatcher(key.set) };
    case 'larger':
      return onRow(({ size }) => size > key.size);
    case 'smaller':
      return onRow(({ size }) => size < key.size);
    case 'older':
      return onRow(({ receivedAt }) => receivedAt <= now - key.seconds * 1000);
    case 'younger':
      return onRow(({ receivedAt }) => receivedAt >= now - key.seconds * 1000);
    case 'received': {
      // RFC 9051 6.4.4: the day that INTERNALDATE shows, whatever its time and zone.
      const isIn = onLocalDay(key.when, key.day);
      return onRow(({ receivedAt }) => isIn(receivedAt));
    }
    case 'sent':
      return onRow(({ sentDay }) => sentDay !== -1 && onDay(sentDay, key.when, key.day));
    case 'saved': {
      const isIn = onLocalDay(key.when, key.day);
      return onRow(({ savedAt = 0 }) => isIn(savedAt));
    }
    case 'emailid':
      return onRow(({ emailId = 0 }) => jmapId('email', emailId) === key.id);
    case 'threadid':
      return onRow(({ threadId = 0 }) => jmapId('thread', threadId) === key.id);
    case 'header':
      return { tier: 2, match: headerMatcher(key.field, casemap(key.text)) };
    case 'body':
    case 'text':
      return { tier: 3, match: textMatcher(key.key, casemap(key.text)) };
    case 'fuzzy':
      return tieredMatcher(key.of, now);
    case 'not': {
      const { match, tier } = tieredMatcher(key.of, now);
      return { tier, match: negated(match) };
    }
    case 'and':
    case 'or': {
      const of = key.of.map((each) => tieredMatcher(each, now)).sort((a, b) => a.tier - b.tier);
      const matchers = of.map(({ match }) => match);
      return { tier: of.at(-1)?.tier ?? 0, match: key.key === 'and' ? every(matchers) : some(matchers) };
    }
  }
}

function every(matchers: readonly Matcher[]): Matcher {
  return (facts) => {
    let all: boolean | undefined = true;
    for (const match of matchers) {
      const verdict = match(facts);
      if (verdict === false) return false;
      if (verdict === undefined) all = undefined;
    }
    return all;
  };
}

function some(matchers: readonly Matcher[]): Matcher {
  return (facts) => {
    let any: boolean | undefined = false;
    for (const match of matchers) {
      const verdict = match(facts);
      if (verdict === true) return true;
      if (verdict === undefined) any = undefined;
    }
    return any;
  };
}

function negated(match: Matcher): Matcher {
  return (facts) => {
    const verdict = match(facts);
    return verdict === undefined ? undefined : !verdict;
  };
}

// Bound sets are ascending and disjoint; others are sorted here and may overlap, so the ends are made ascending too.
function uidMatcher(set: ReadonlyArray<{ from: number; to: number }>): Matcher {
  const sorted = [...set].sort((a, b) => a.from - b.from);
  const froms = Uint32Array.from(sorted, ({ from }) => from);
  const tos = new Uint32Array(sorted.length);
  sorted.forEach(({ to }, i) => (tos[i] = Math.max(to, tos[i - 1] ?? 0)));
  return ({ uid }) => {
    const after = lowerBound(froms, froms.length, uid + 1);
    return after > 0 && (tos[after - 1] ?? 0) >= uid;
  };
}

function onRow(match: (row: RowFacts) => boolean): TieredMatcher {
  return { tier: 1, match: ({ row }) => (row === undefined ? undefined : match(row)) };
}

/** Compares calendar days. */
export function onDay(day: number, when: 'before' | 'on' | 'since', given: number): boolean {
  if (when === 'before') return day < given;
  return when === 'on' ? day === given : day >= given;
}

function headerMatcher(field: string, text: string): Matcher {
  return ({ header }) => header?.field(field, text);
}

function textMatcher(key: 'body' | 'text', text: string): Matcher {
  if (text === '') return () => true;
  return ({ header, body }) => {
    if (key === 'text' && header?.anywhere(text)) return true;
    return body?.has(text);
  };
}

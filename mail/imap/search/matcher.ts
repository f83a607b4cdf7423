import { casemap } from '../../message/subject.ts';
import { lowerBound } from '../wire/sequence-set.ts';
import type { SearchKey } from './program.ts';

/** What is known of one message so far; each tier adds to it. */
export interface Facts {
  uid: number;
  /** System flags. */
  system: number;
  hasKeyword(name: string): boolean;
  row?: RowFacts;
  header?: HeaderFacts;
  body?: BodyFacts;
}

export interface RowFacts {
  size: number;
  receivedAt: number;
  sentDay: number;
}

export interface HeaderFacts {
  /** True when some field of that lower-case name is there and has the text, given in {@link casemap}. */
  field(name: string, text: string): boolean;
  anywhere(text: string): boolean;
}

export interface BodyFacts {
  body(text: string): boolean;
}

/** Answers undefined while the facts do not decide it. */
export type Matcher = (facts: Facts) => boolean | undefined;

interface Ranked {
  match: Matcher;
  /** 0 flags and UIDs, 1 row, 2 header, 3 text. */
  tier: number;
}

const DAY = 86_400_000;

/** Prepares a program for many messages: sets are sorted, texts are folded, the cheaper of several keys comes first. */
export function matcher(program: SearchKey, now: number): Matcher {
  return ranked(program, now).match;
}

/** Keywords that the program names, in lower case. */
export function keywordsOf(program: SearchKey): string[] {
  const names = new Set<string>();
  const visit = (key: SearchKey): void => {
    if (key.key === 'keyword') names.add(key.name);
    else if (key.key === 'not') visit(key.of);
    else if (key.key === 'and' || key.key === 'or') key.of.forEach(visit);
  };
  visit(program);
  return [...names];
}

function ranked(key: SearchKey, now: number): Ranked {
  switch (key.key) {
    case 'all':
      return { tier: 0, match: () => true };
    case 'never':
    case 'seq': // which no session has bound
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
    case 'received':
      // RFC 9051 6.4.4: time and zone are disregarded; INTERNALDATE is always answered in UTC.
      return onRow(({ receivedAt }) => onDay(Math.floor(receivedAt / DAY), key.when, key.day));
    case 'sent':
      return onRow(({ sentDay }) => sentDay !== -1 && onDay(sentDay, key.when, key.day));
    case 'header':
      return { tier: 2, match: headerMatcher(key.field, casemap(key.text)) };
    case 'body':
    case 'text':
      return { tier: 3, match: textMatcher(key.key, casemap(key.text)) };
    case 'not': {
      const { match, tier } = ranked(key.of, now);
      return { tier, match: negated(match) };
    }
    case 'and':
    case 'or': {
      const of = key.of.map((each) => ranked(each, now)).sort((a, b) => a.tier - b.tier);
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

// Bound sets are ascending and disjoint; others are sorted here and may overlap, so ends are made to ascend too.
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

function onRow(match: (row: RowFacts) => boolean): Ranked {
  return { tier: 1, match: ({ row }) => (row === undefined ? undefined : match(row)) };
}

function onDay(day: number, when: 'before' | 'on' | 'since', given: number): boolean {
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
    return body?.body(text);
  };
}

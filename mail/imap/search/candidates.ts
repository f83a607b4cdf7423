import {
  costOf,
  createMatcher,
  matchesAll,
  searchedKeywords,
  type SearchFacts,
  usesFlags,
  usesUids,
} from './matcher.ts';
import type { SearchProgram } from './program.ts';

/** Flags by UID; a MailboxView is one. */
export interface FlagFacts {
  bits(uid: number): number;
  flagNames(uid: number): readonly string[];
}

/** Messages that a session knows, in the order of their sequence numbers, and their flags. */
export interface SearchedView extends FlagFacts {
  readonly uids: Uint32Array;
  readonly length: number;
}

/** Messages that flags and UIDs do not decide, with their flags: plain data, sent to another thread. */
export interface Candidates {
  uids: Uint32Array;
  /** System flags, per UID. */
  system: Uint8Array;
  /** Keywords that the program names and a candidate has, in lower case. */
  keywords: readonly string[];
  /** Keyword bits, per UID, in whole octets. */
  words: Uint8Array;
}

/** Time limit of the first tier, which blocks the caller's thread; undecided messages go to the next tier. */
const MAX_FLAG_PASS_MS = 20;
/** Messages between two reads of the clock. */
const CLOCK_INTERVAL = 256;

/** First tier: UIDs and flags. `found` match, `open` need rows or octets; both ascending. */
export function matchByFlags(
  program: SearchProgram,
  uids: Uint32Array,
  length: number,
  facts: FlagFacts,
): { found: Uint32Array; open: Candidates } {
  if (matchesAll(program)) return { found: uids.slice(0, length), open: withoutFlags(new Uint32Array()) };
  const held = keywordReader(searchedKeywords(program), facts);
  // Where no flag or UID decides a message, all are open.
  if (!usesFlags(program) && !usesUids(program) && costOf(program) > 0)
    return { found: new Uint32Array(), open: withoutFlags(uids.slice(0, length)) };
  const match = createMatcher(program, 0);
  const found: number[] = [];
  const open: number[] = [];
  const until = performance.now() + MAX_FLAG_PASS_MS;
  let isLate = false;
  for (let i = 0; i < length; i++) {
    if (i % CLOCK_INTERVAL === CLOCK_INTERVAL - 1) isLate ||= performance.now() > until;
    const uid = uids[i] ?? 0;
    const verdict = isLate ? undefined : match(flagsOnly(uid, facts.bits(uid), held));
    if (verdict === true) found.push(uid);
    else if (verdict === undefined) open.push(uid);
  }
  return { found: Uint32Array.from(found), open: candidates(open, facts, held) };
}

/** Keywords that a message has and the program names, in lower case. */
type HeldKeywords = (uid: number) => ReadonlySet<string>;

const NONE: ReadonlySet<string> = new Set();

/** Caches by array: views share one array of names among messages with the same flags. */
function keywordReader(keywords: readonly string[], facts: FlagFacts): HeldKeywords {
  if (keywords.length === 0) return () => NONE;
  const named = new Set(keywords);
  const seen = new WeakMap<readonly string[], ReadonlySet<string>>();
  return (uid) => {
    const names = facts.flagNames(uid);
    let held = seen.get(names);
    if (held === undefined) {
      held = new Set(names.map((name) => name.toLowerCase()).filter((name) => named.has(name)));
      seen.set(names, held);
    }
    return held;
  };
}

function flagsOnly(uid: number, bits: number, held: HeldKeywords): SearchFacts {
  let mine: ReadonlySet<string> | undefined;
  return { uid, system: bits % 32, hasKeyword: (name) => (mine ??= held(uid)).has(name) };
}

function withoutFlags(uids: Uint32Array): Candidates {
  return { uids, system: new Uint8Array(), keywords: [], words: new Uint8Array() };
}

function candidates(open: readonly number[], facts: FlagFacts, held: HeldKeywords): Candidates {
  const uids = Uint32Array.from(open);
  const sets = open.map(held);
  const keywords = [...new Set([...new Set(sets)].flatMap((set) => [...set]))];
  const index = new Map(keywords.map((name, k) => [name, k]));
  const width = Math.ceil(keywords.length / 8);
  const words = new Uint8Array(uids.length * width);
  for (const [i, set] of sets.entries()) {
    for (const name of set) {
      const k = index.get(name) ?? 0;
      words[i * width + (k >> 3)]! |= 1 << (k & 7);
    }
  }
  return { uids, system: Uint8Array.from(uids, (uid) => facts.bits(uid) % 32), keywords, words };
}

/** Facts of the candidates at some positions. */
export function candidateFacts(open: Candidates, start: number, end: number): SearchFacts[] {
  const width = Math.ceil(open.keywords.length / 8);
  const index = new Map(open.keywords.map((name, k) => [name, k]));
  const facts: SearchFacts[] = [];
  for (let i = start; i < end; i++) {
    const hasKeyword = (name: string): boolean => {
      const k = index.get(name) ?? -1;
      return k >= 0 && ((open.words[i * width + (k >> 3)] ?? 0) & (1 << (k & 7))) !== 0;
    };
    facts.push({ uid: open.uids[i] ?? 0, system: open.system[i] ?? 0, hasKeyword });
  }
  return facts;
}

import { mergeUids } from './bind.ts';
import {
  bodyTextsOf,
  costOf,
  createMatcher,
  matchesAll,
  searchedKeywords,
  type Matcher,
  type RowFacts,
  type SearchFacts,
  usesFlags,
  usesUids,
} from './matcher.ts';
import { bodyFacts, headerFacts, type SearchPause } from './message-text.ts';
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

/** Finds the octets of one message and the texts in them. */
export interface SearchRow {
  uid: number;
  /** MessageIndex.parts; read only for a search in bodies. */
  parts: string;
  /** Octets before the blob. */
  traceLength: number;
}

/** Source of rows and octets, in the requested order, without messages that no longer exist. */
export interface SearchSource<Row extends SearchRow = SearchRow> {
  /** Facts of at most 1,000 UIDs. */
  facts(uids: readonly number[]): Promise<MessageRowFacts[]> | MessageRowFacts[];
  /** Rows of at most 200 UIDs, with their parts or without. */
  rows(uids: readonly number[], withParts: boolean): Promise<Row[]> | Row[];
  /** The header of trace and blob with its empty line, one character an octet. */
  header(row: Row): Promise<string> | string;
  /** Trace and blob. */
  whole(row: Row): Promise<Uint8Array> | Uint8Array;
  /** Yields to other queries when its time slice is over. */
  pause?(): Promise<void> | undefined;
}

/** Facts of one message. */
export interface MessageRowFacts extends RowFacts {
  uid: number;
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

export interface SearchOptions {
  /** ms UTC, for OLDER and YOUNGER. */
  now?: number;
  /** Time limit. */
  limitMs?: number;
  /** ms, monotonic. */
  clock?: () => number;
  /** The client is gone. */
  isCancelled?: (() => boolean) | undefined;
}

export type SearchOutcome = { kind: 'found'; uids: Uint32Array } | { kind: 'too-long' };

/** Messages whose facts are read at once. */
const PAGE = 1_000;
/** Messages whose headers are read at once. */
const HEADER_PAGE = 200;
/** Time limit of a search. RFC 9585 progress responses are sent meanwhile. */
export const MAX_SEARCH_MS = 30_000;
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

/** Second to fourth tier: rows, headers, text; each only for messages that the cheaper tiers did not decide. */
export async function evaluateCandidates<Row extends SearchRow>(
  program: SearchProgram,
  open: Candidates,
  source: SearchSource<Row>,
  { now = Date.now(), limitMs = MAX_SEARCH_MS, clock = () => performance.now(), isCancelled }: SearchOptions = {},
): Promise<SearchOutcome> {
  const until = clock() + limitMs;
  const isLate = (): boolean => clock() > until || isCancelled?.() === true;
  const match = createMatcher(program, now);
  const scan = { match, texts: bodyTextsOf(program), source, isLate };
  const found: number[] = [];
  for (let i = 0; i < open.uids.length; i += PAGE) {
    const page = await matchPage(scan, pageOf(open, i, Math.min(i + PAGE, open.uids.length)));
    if (page === undefined) return { kind: 'too-long' };
    for (const uid of page) found.push(uid);
  }
  return { kind: 'found', uids: Uint32Array.from(found) };
}

/** A search under way. */
interface MailboxScan<Row extends SearchRow> {
  match: Matcher;
  /** Texts that bodies are searched for. */
  texts: readonly string[];
  source: SearchSource<Row>;
  isLate: () => boolean;
}

/** All tiers on one thread. */
export async function searchMailbox<Row extends SearchRow>(
  program: SearchProgram,
  view: FlagFacts & { uids: Uint32Array; length: number },
  source: SearchSource<Row>,
  options: SearchOptions = {},
): Promise<SearchOutcome> {
  const { found, open } = matchByFlags(program, view.uids, view.length, view);
  const rest = await evaluateCandidates(program, open, source, options);
  return rest.kind === 'found' ? { kind: 'found', uids: mergeUids(found, rest.uids) } : rest;
}

/** UIDs of one page that match, or undefined after the time limit. */
async function matchPage<Row extends SearchRow>(
  scan: MailboxScan<Row>,
  page: readonly SearchFacts[],
): Promise<number[] | undefined> {
  const { match, texts, source, isLate } = scan;
  if (isLate()) return undefined;
  const verdicts = new Map(page.map((facts) => [facts.uid, match(facts)]));
  const undecided = new Map(
    page.filter(({ uid }) => verdicts.get(uid) === undefined).map((facts) => [facts.uid, facts]),
  );
  for (const row of undecided.size === 0 ? [] : await source.facts([...undecided.keys()])) {
    const facts = undecided.get(row.uid);
    if (facts === undefined) continue;
    facts.row = row;
    verdicts.set(row.uid, match(facts));
  }
  const open = [...undecided.values()].filter(({ uid, row }) => row !== undefined && verdicts.get(uid) === undefined);
  for (let at = 0; at < open.length; at += HEADER_PAGE) {
    const uids = open.slice(at, at + HEADER_PAGE).map(({ uid }) => uid);
    for (const row of await source.rows(uids, texts.length > 0)) {
      if (isLate()) return undefined;
      const facts = undecided.get(row.uid);
      if (facts !== undefined) verdicts.set(row.uid, await decideMessage(scan, facts, row));
    }
  }
  if (isLate()) return undefined;
  return page.filter(({ uid }) => verdicts.get(uid) === true).map(({ uid }) => uid);
}

async function decideMessage<Row extends SearchRow>(
  { match, texts, source, isLate }: MailboxScan<Row>,
  facts: SearchFacts,
  row: Row,
): Promise<boolean> {
  facts.header = headerFacts(await source.header(row));
  const verdict = match(facts);
  if (verdict !== undefined) return verdict;
  const pause: SearchPause = async () => {
    await source.pause?.();
    return !isLate();
  };
  const { parts, traceLength: offset } = row;
  facts.body = await bodyFacts(await source.whole(row), { parts, offset, texts }, pause);
  return match(facts) ?? false;
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

function pageOf(open: Candidates, start: number, end: number): SearchFacts[] {
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

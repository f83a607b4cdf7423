import { mergeUids } from './bind.ts';
import { keywordsOf, matcher, type Facts, type Matcher } from './matcher.ts';
import { bodyFacts, headerFacts } from './message-text.ts';
import type { SearchProgram } from './program.ts';

/** What the view knows; a MailboxView is one. */
export interface FlagFacts {
  bits(uid: number): number;
  flagNames(uid: number): readonly string[];
}

/** What the rows know of one message. */
export interface SearchRow {
  uid: number;
  /** RFC822.SIZE. */
  size: number;
  /** INTERNALDATE, ms UTC. */
  receivedAt: number;
  /** MessageIndex.sentDay, -1 when there is none. */
  sentDay: number;
  /** MessageIndex.parts. */
  parts: string;
  /** Octets in front of the blob. */
  traceLength: number;
}

/** Where a search reads from. All answers are in the order asked; messages that are gone are left out. */
export interface SearchSource<Row extends SearchRow = SearchRow> {
  /** Rows of at most 200 UIDs. */
  rows(uids: readonly number[]): Promise<Row[]> | Row[];
  /** The header of trace and blob with its empty line. */
  header(row: Row): Promise<Uint8Array> | Uint8Array;
  /** Trace and blob. */
  whole(row: Row): Promise<Uint8Array> | Uint8Array;
}

/** Messages that flags and UIDs alone do not decide, with what is known of them: plain data that may cross a thread. */
export interface Candidates {
  uids: Uint32Array;
  /** Per UID: the system flags. */
  system: Uint8Array;
  /** Keywords that the program names and some message has, in lower case. */
  keywords: readonly string[];
  /** Per UID as many octets as hold a bit for each of them. */
  words: Uint8Array;
}

export interface SearchOptions {
  /** ms UTC, for OLDER and YOUNGER. */
  now?: number;
  /** Given up after that long. */
  limitMs?: number;
  /** ms, monotonic. */
  clock?: () => number;
}

export type SearchOutcome = { kind: 'found'; uids: Uint32Array } | { kind: 'too-long' };

const PAGE = 200;
const LIMIT_MS = 10_000;
/** How long the caller's thread is held by the first tier; what is left then goes on to the next. */
const GLANCE_MS = 20;
/** How many messages are looked at between two looks at the clock. */
const BETWEEN = 256;

/** First tier: what UIDs and flags decide. `found` match already, `open` need rows or bytes; both ascending. */
export function glance(
  program: SearchProgram,
  uids: Uint32Array,
  length: number,
  facts: FlagFacts,
): { found: Uint32Array; open: Candidates } {
  const match = matcher(program, 0);
  const held = keywordReader(keywordsOf(program), facts);
  const found: number[] = [];
  const open: number[] = [];
  const until = performance.now() + GLANCE_MS;
  let late = false;
  for (let i = 0; i < length; i++) {
    if (i % BETWEEN === BETWEEN - 1) late ||= performance.now() > until;
    const uid = uids[i] ?? 0;
    const verdict = late ? undefined : match(flagsOnly(uid, facts.bits(uid), held));
    if (verdict === true) found.push(uid);
    else if (verdict === undefined) open.push(uid);
  }
  return { found: Uint32Array.from(found), open: candidates(open, facts, held) };
}

/** Second to fourth tier: rows, headers, text; each only for messages the cheaper ones left undecided. */
export async function evaluate<Row extends SearchRow>(
  program: SearchProgram,
  open: Candidates,
  source: SearchSource<Row>,
  { now = Date.now(), limitMs = LIMIT_MS, clock = () => performance.now() }: SearchOptions = {},
): Promise<SearchOutcome> {
  const match = matcher(program, now);
  const until = clock() + limitMs;
  const late = (): boolean => clock() > until;
  const found: number[] = [];
  for (let i = 0; i < open.uids.length; i += PAGE) {
    const page = await matches(match, pageOf(open, i, Math.min(i + PAGE, open.uids.length)), source, late);
    if (page === undefined) return { kind: 'too-long' };
    for (const uid of page) found.push(uid);
  }
  return { kind: 'found', uids: Uint32Array.from(found) };
}

/** All tiers on one thread. */
export async function search<Row extends SearchRow>(
  program: SearchProgram,
  view: FlagFacts & { uids: Uint32Array; length: number },
  source: SearchSource<Row>,
  options: SearchOptions = {},
): Promise<SearchOutcome> {
  const { found, open } = glance(program, view.uids, view.length, view);
  const rest = await evaluate(program, open, source, options);
  return rest.kind === 'found' ? { kind: 'found', uids: mergeUids(found, rest.uids) } : rest;
}

/** UIDs of one page that match, or undefined when time is up. */
async function matches<Row extends SearchRow>(
  match: Matcher,
  page: readonly Facts[],
  source: SearchSource<Row>,
  late: () => boolean,
): Promise<number[] | undefined> {
  if (late()) return undefined;
  const verdicts = new Map(page.map((facts) => [facts.uid, match(facts)]));
  const undecided = new Map(
    page.filter(({ uid }) => verdicts.get(uid) === undefined).map((facts) => [facts.uid, facts]),
  );
  const rows = undecided.size === 0 ? [] : await source.rows([...undecided.keys()]);
  for (const row of rows) {
    if (late()) return undefined;
    const facts = undecided.get(row.uid);
    if (facts !== undefined) verdicts.set(row.uid, await decide(match, facts, row, source, late));
  }
  if (late()) return undefined;
  return page.filter(({ uid }) => verdicts.get(uid) === true).map(({ uid }) => uid);
}

async function decide<Row extends SearchRow>(
  match: Matcher,
  facts: Facts,
  row: Row,
  source: SearchSource<Row>,
  late: () => boolean,
): Promise<boolean> {
  facts.row = row;
  let verdict = match(facts);
  if (verdict !== undefined) return verdict;
  facts.header = headerFacts(await source.header(row));
  verdict = match(facts);
  if (verdict !== undefined) return verdict;
  facts.body = bodyFacts(await source.whole(row), row.parts, row.traceLength, late);
  return match(facts) ?? false;
}

/** Keywords that a message has and the program names, in lower case. */
type HeldKeywords = (uid: number) => ReadonlySet<string>;

const NONE: ReadonlySet<string> = new Set();

/** Views hand out one array of names for all messages with the same flags: each is looked through once. */
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

function flagsOnly(uid: number, bits: number, held: HeldKeywords): Facts {
  let mine: ReadonlySet<string> | undefined;
  return { uid, system: bits % 32, hasKeyword: (name) => (mine ??= held(uid)).has(name) };
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

function pageOf(open: Candidates, start: number, end: number): Facts[] {
  const width = Math.ceil(open.keywords.length / 8);
  const index = new Map(open.keywords.map((name, k) => [name, k]));
  const facts: Facts[] = [];
  for (let i = start; i < end; i++) {
    const hasKeyword = (name: string): boolean => {
      const k = index.get(name) ?? -1;
      return k >= 0 && ((open.words[i * width + (k >> 3)] ?? 0) & (1 << (k & 7))) !== 0;
    };
    facts.push({ uid: open.uids[i] ?? 0, system: open.system[i] ?? 0, hasKeyword });
  }
  return facts;
}

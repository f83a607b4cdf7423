import { mergeUids } from './bind.ts';
import { candidateFacts, type Candidates, type FlagFacts, matchByFlags } from './candidates.ts';
import { lackOf, type LacksTexts } from './lacks-texts.ts';
import { bodyTextsOf, createMatcher, type Matcher, type SearchFacts, usesRow } from './matcher.ts';
import { bodyFacts, headerFacts, type SearchPause } from './message-text.ts';
import type { SearchProgram } from './program.ts';
import type { ReadOfRows, SearchRow, SearchSource } from './search-source.ts';

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
  const texts = bodyTextsOf(program);
  const scan = {
    match,
    texts,
    lacks: lackOf(texts),
    readsRows: usesRow(program),
    source,
    isLate,
    page: { rows: 0, bodies: 0 },
  };
  const found: number[] = [];
  for (let i = 0; i < open.uids.length; i += PAGE) {
    const page = await matchPage(scan, candidateFacts(open, i, Math.min(i + PAGE, open.uids.length)));
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
  lacks: LacksTexts | undefined;
  /** Facts of rows decide some messages. */
  readsRows: boolean;
  source: SearchSource<Row>;
  isLate: () => boolean;
  /** Messages of the last page, and those that their headers did not decide. */
  page: { rows: number; bodies: number };
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
  const { match, readsRows, source, isLate } = scan;
  if (isLate()) return undefined;
  const verdicts = new Map(page.map((facts) => [facts.uid, match(facts)]));
  const undecided = new Map(
    page.filter(({ uid }) => verdicts.get(uid) === undefined).map((facts) => [facts.uid, facts]),
  );
  for (const row of readsRows && undecided.size > 0 ? await source.facts([...undecided.keys()]) : []) {
    const facts = undecided.get(row.uid);
    if (facts === undefined) continue;
    facts.row = row;
    verdicts.set(row.uid, match(facts));
  }
  const open = [...undecided.values()].filter(
    ({ uid, row }) => (row !== undefined || !readsRows) && verdicts.get(uid) === undefined,
  );
  for (let at = 0; at < open.length; at += HEADER_PAGE) {
    const uids = open.slice(at, at + HEADER_PAGE).map(({ uid }) => uid);
    // Headers, and plain messages without the texts, are decided without another turn of others.
    await source.pause?.();
    const rows = await source.rows(uids, readOf(scan));
    scan.page = { rows: rows.length, bodies: 0 };
    for (const row of rows) {
      if (isLate()) return undefined;
      const facts = undecided.get(row.uid);
      if (facts !== undefined) verdicts.set(row.uid, await decideMessage(scan, facts, row));
    }
  }
  if (isLate()) return undefined;
  return page.filter(({ uid }) => verdicts.get(uid) === true).map(({ uid }) => uid);
}

/** Decides a message that has none of the texts. */
function matchWithout(match: Matcher, facts: SearchFacts, page: { bodies: number }): boolean {
  page.bodies++;
  if (facts.header !== undefined) facts.header = { ...facts.header, anywhere: () => false };
  facts.body = new Set();
  return match(facts) ?? false;
}

/** Headers decide most messages of some searches: their bodies are not read with those of others. */
function readOf<Row extends SearchRow>({ texts, page }: MailboxScan<Row>): ReadOfRows {
  if (texts.length === 0) return 'headers';
  return page.bodies > page.rows / 2 ? 'messages' : 'parts';
}

async function decideMessage<Row extends SearchRow>(
  { match, texts, lacks, source, isLate, page }: MailboxScan<Row>,
  facts: SearchFacts,
  row: Row,
): Promise<boolean> {
  facts.header = headerFacts(await source.header(row));
  if (row.ascii !== undefined && lacks?.(row.ascii, row) === true) return matchWithout(match, facts, page);
  const verdict = match(facts);
  if (verdict !== undefined) return verdict;
  page.bodies++;
  const pause: SearchPause = async () => {
    await source.pause?.();
    return !isLate();
  };
  const { parts, traceLength: offset } = row;
  facts.body = await bodyFacts(await source.whole(row), { parts, offset, texts }, pause);
  return match(facts) ?? false;
}

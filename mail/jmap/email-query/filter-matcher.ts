import { OF_ACCOUNT_2 } from '../../store/search/account-span.ts';
import { readableRows, unlessUnreadable } from '../../store/blob/unreadable.ts';
import { decodeWords } from '../../message/encoded-word.ts';
import { readFields, unfold } from '../../message/header.ts';
import { LIMITS } from '../../message/limits.ts';
import { foldWord } from '../../message/word-tokens.ts';
import { type Octets, ofBytes, ofFile } from '../../store/search/message-octets.ts';
import { type EmailFacts, FACTS_PAGE, readEmailRowFacts, readPlacements } from './email-facts.ts';
import { type EmailCondition, type EmailFilter, type EmailFilterOperator, isOperator } from './email-filter.ts';
import type { EmailQueryContext } from './query-context.ts';
import { type TextGroup, TextMatcher } from './text-matcher.ts';
import { IN_THREAD } from '../../store/message/in-thread.ts';

/** Selects the matching emails, in order. */
type PageFilter = (among: readonly EmailFacts[]) => Promise<readonly EmailFacts[]>;

interface Ranked {
  test: PageFilter;
  /** Data to read: 0 none, 1 placements, 2 email rows, 3 text index, 4 threads, 5 headers. */
  cost: number;
}

/** Compiles a filter into a matcher of pages; the cheapest condition runs first. */
export function compileFilter(context: EmailQueryContext, filter: EmailFilter): PageFilter {
  return ranked(context, filter).test;
}

function ranked(context: EmailQueryContext, filter: EmailFilter): Ranked {
  if (!isOperator(filter)) return conditionMatcher(context, filter);
  const of = operands(context, filter).sort((a, b) => a.cost - b.cost);
  const cost = of.at(-1)?.cost ?? 0;
  const tests = of.map(({ test }) => test);
  if (filter.op === 'and') return { cost, test: matchEvery(tests) };
  return { cost, test: filter.op === 'or' ? matchSome(tests) : matchNone(tests) };
}

/** Compiles operands; text conditions of an AND become one index search. */
function operands(context: EmailQueryContext, filter: EmailFilterOperator): Ranked[] {
  const flat = filter.op === 'and' ? filter.of.flatMap(conjuncts) : filter.of;
  if (filter.op !== 'and') return flat.map((one) => ranked(context, one));
  const rest = flat.filter((one) => !isText(one));
  return [...textTests(context, textGroups(flat)), ...rest.map((one) => ranked(context, one))];
}

const conjuncts = (filter: EmailFilter): readonly EmailFilter[] =>
  isOperator(filter) && filter.op === 'and' ? filter.of.flatMap(conjuncts) : [filter];

const isText = (filter: EmailFilter): filter is EmailCondition & { test: 'text' } =>
  !isOperator(filter) && filter.test === 'text';

/** Text conditions that every matching email fulfills. */
export function textGroups(filters: readonly EmailFilter[]): TextGroup[] {
  return filters.flatMap(conjuncts).filter(isText);
}

function textTests(context: EmailQueryContext, groups: readonly TextGroup[]): Ranked[] {
  return groups.length === 0 ? [] : [textTest(context, groups)];
}

function textTest(context: EmailQueryContext, groups: readonly TextGroup[]): Ranked {
  const text = new TextMatcher(context, groups);
  return { cost: 3, test: async (among) => among.filter(await text.matching(among)) };
}

const matchEvery =
  (tests: readonly PageFilter[]): PageFilter =>
  async (among) => {
    let left = among;
    for (const test of tests) if (left.length > 0) left = await test(left);
    return left;
  };

const matchSome =
  (tests: readonly PageFilter[]): PageFilter =>
  async (among) => {
    const found = new Set<EmailFacts>();
    for (const test of tests) {
      const left = among.filter((one) => !found.has(one));
      if (left.length > 0) for (const one of await test(left)) found.add(one);
    }
    return among.filter((one) => found.has(one));
  };

/** NOT: matches if no condition matches. RFC 8620 5.5. */
const matchNone =
  (tests: readonly PageFilter[]): PageFilter =>
  async (among) => {
    const found = new Set(await matchSome(tests)(among));
    return among.filter((one) => !found.has(one));
  };

function conditionMatcher(context: EmailQueryContext, condition: EmailCondition): Ranked {
  switch (condition.test) {
    case 'in-mailbox':
      return onPlacements(context, ({ mailboxes }) => mailboxes.includes(condition.mailbox));
    case 'in-other-than':
      return onPlacements(context, ({ mailboxes }) => mailboxes.some((mailbox) => !condition.mailboxes.has(mailbox)));
    case 'before':
      return onFacts(({ receivedAt }) => receivedAt < condition.at);
    case 'after':
      return onFacts(({ receivedAt }) => receivedAt >= condition.at);
    case 'min-size':
      return onRows(context, ({ size }) => size >= condition.octets);
    case 'max-size':
      return onRows(context, ({ size }) => size < condition.octets);
    case 'attachment':
      return onRows(context, ({ attach }) => attach === condition.has);
    case 'keyword':
      return { cost: 0, test: async (among) => among.filter(await matchKeyword(context, condition.keyword, among)) };
    case 'thread-keyword':
      return {
        cost: 4,
        test: async (among) => among.filter(await matchThreadKeyword(context, condition.has, condition.keyword, among)),
      };
    case 'text':
      return textTest(context, [condition]);
    case 'header':
      return {
        cost: 5,
        test: async (among) => among.filter(await matchHeader(context, condition.field, condition.text, among)),
      };
  }
}

function onFacts(matches: (facts: EmailFacts) => boolean): Ranked {
  return { cost: 0, test: (among) => Promise.resolve(among.filter(matches)) };
}

function onPlacements(
  context: EmailQueryContext,
  matches: (placement: NonNullable<EmailFacts['placement']>) => boolean,
): Ranked {
  return {
    cost: 1,
    test: async (among) => {
      await readPlacements(context, among);
      return among.filter(({ placement }) => placement !== undefined && matches(placement));
    },
  };
}

function onRows(context: EmailQueryContext, matches: (row: NonNullable<EmailFacts['row']>) => boolean): Ranked {
  return {
    cost: 2,
    test: async (among) => {
      await readEmailRowFacts(context.rx, among);
      return among.filter(({ row }) => row !== undefined && matches(row));
    },
  };
}

/** Emails read at once; a row contains up to 64 KiB of header. */
const PAGE = 50;

interface Stored extends Record<string, number | string | Uint8Array | null> {
  id: number;
  trace: string;
  header_length: number;
  file: string | null;
  data: Uint8Array | null;
}

const HEADERS = `SELECT e.id, e.trace, m.header_length, b.file,
    CASE WHEN b.file IS NULL THEN substr(b.data, 1, m.header_length) END AS data
  FROM email e JOIN email_meta m ON m.email_id = e.id JOIN blob b ON b.id = e.blob_id
  WHERE e.id IN (SELECT value FROM json_each(?))`;

/** Matches a header field and a text in its value, in the stored headers. RFC 8621 4.4.1. */
async function matchHeader(
  context: EmailQueryContext,
  field: string,
  text: string | null,
  among: readonly EmailFacts[],
): Promise<(facts: EmailFacts) => boolean> {
  const needle = text === null ? null : foldWord(text);
  const found = new Set<number>();
  for (let at = 0; at < among.length; at += PAGE) {
    context.charge(0);
    const ids = among.slice(at, at + PAGE).map(({ id }) => id);
    for (const row of await readableRows<Stored>(context.rx, HEADERS, ids)) {
      if (hasField(headerOf(row, context.blobs), field, needle)) found.add(row.id);
    }
  }
  return ({ id }) => found.has(id);
}

/** Trace fields and header as latin1. */
function headerOf(row: Stored, blobs: string): string {
  return row.trace + unlessUnreadable(() => ownHeader(row, blobs), '');
}

function ownHeader({ header_length: length, file, data }: Stored, blobs: string): string {
  using octets: Octets = file === null ? ofBytes(data ?? new Uint8Array(0)) : ofFile(blobs, file);
  const header = octets.read(0, Math.min(length, LIMITS.header));
  return Buffer.from(header.buffer, header.byteOffset, header.length).toString('latin1');
}

function hasField(header: string, field: string, needle: string | null): boolean {
  return readFields(header, LIMITS.fields).some(
    ({ name, value }) => name === field && (needle === null || foldWord(decodeWords(unfold(value))).includes(needle)),
  );
}

/** Emails of a thread that must have a keyword; only visible emails count. RFC 8621 4.4.1. */
type ThreadQuantifier = 'all' | 'some' | 'none';

/** Creates a keyword predicate for the given emails. */
export async function matchKeyword(
  context: EmailQueryContext,
  keyword: string,
  among: readonly EmailFacts[],
): Promise<(facts: EmailFacts) => boolean> {
  const bit = context.bit(keyword);
  if (bit !== undefined) return ({ flags }) => (flags & bit) !== 0;
  await readPlacements(context, among);
  return ({ placement }) => placement !== undefined && placement.kw.split(' ').includes(keyword);
}

const MEMBERS = `SELECT e.thread_id, n.mailbox_id, n.flags, n.kw FROM json_each(?1) t CROSS JOIN email e ON ${IN_THREAD}
  CROSS JOIN entry n ON n.email_id = e.id CROSS JOIN mailbox m ON m.id = n.mailbox_id
  WHERE ${OF_ACCOUNT_2} AND n.flags & 16 = 0 AND m.deleted_at IS NULL`;

/** Creates a keyword predicate on the threads of the given emails. */
export async function matchThreadKeyword(
  context: EmailQueryContext,
  has: ThreadQuantifier,
  keyword: string,
  among: readonly EmailFacts[],
): Promise<(facts: EmailFacts) => boolean> {
  const bit = context.bit(keyword);
  const threads = [...new Set(among.map(({ thread }) => thread))];
  const held = new Map<number, { some: boolean; all: boolean }>();
  for (let at = 0; at < threads.length; at += FACTS_PAGE) {
    context.charge(0);
    const ids = JSON.stringify(threads.slice(at, at + FACTS_PAGE));
    for (const row of await context.rx.all<{ thread_id: number; mailbox_id: number; flags: number; kw: string | null }>(
      MEMBERS,
      ids,
      context.account,
    )) {
      if (context.within?.has(row.mailbox_id) === false) continue;
      const one = bit === undefined ? (row.kw ?? '').split(' ').includes(keyword) : (row.flags & bit) !== 0;
      const known = held.get(row.thread_id) ?? { some: false, all: true };
      held.set(row.thread_id, { some: known.some || one, all: known.all && one });
    }
  }
  return ({ thread }) => {
    const { some, all } = held.get(thread) ?? { some: false, all: false };
    return has === 'all' ? all : has === 'some' ? some : !some;
  };
}

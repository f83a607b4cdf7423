import { mergeUids } from './bind.ts';
import type { ColumnSource } from './columns/column-source.ts';
import type { KeyColumn } from './columns/column-names.ts';
import { ColumnsTooLong, type MailboxColumns } from './columns/mailbox-columns.ts';
import { checkOf, type Narrowed, narrow, positionsOf } from './columns/narrow.ts';
import type { Candidates } from './candidates.ts';
import { evaluateCandidates, MAX_SEARCH_MS } from './evaluate.ts';
import type { SearchRow, SearchSource } from './search-source.ts';
import { costOf } from './matcher.ts';
import type { FindOrder, FindOutcome } from './find-order.ts';
import type { SearchProgram } from './program.ts';
import type { SortCriterion, SortKey } from './sort/sort-key.ts';
import { type SortColumn, sortPositions } from './sort/sort-positions.ts';
import { threadBySubject } from './thread/ordered-subject.ts';
import { threadByLinks, threadByReferences } from './thread/references.ts';
import type { ThreadAlgorithm, ThreadFacts, ThreadNode } from './thread/thread-input.ts';
import { threadText } from './thread/thread-text.ts';

export interface FindInput {
  program: SearchProgram;
  /** Matched by flags and UIDs. */
  found: Uint32Array;
  /** Not decided by them. */
  open: Candidates;
  /** Messages in the mailbox. */
  total: number;
  /** ms UTC. */
  now: number;
  order?: FindOrder | undefined;
}

export interface FindContext<Row extends SearchRow> {
  messages: SearchSource<Row>;
  source: ColumnSource;
  columns: MailboxColumns;
  isCancelled?: () => boolean;
  limitMs?: number;
  clock?: () => number;
}

/** Finds messages, sorts or threads them. */
export async function findMessages<Row extends SearchRow>(
  input: FindInput,
  {
    messages,
    source,
    columns,
    isCancelled,
    limitMs = MAX_SEARCH_MS,
    clock = () => performance.now(),
  }: FindContext<Row>,
): Promise<FindOutcome> {
  const until = clock() + limitMs;
  const isLate = (): boolean => clock() > until || isCancelled?.() === true;
  try {
    const { found, open } = await narrowed(input, { columns, source, now: input.now, isLate });
    const rest = await evaluateCandidates(input.program, open, messages, {
      now: input.now,
      limitMs: until - clock(),
      clock,
      isCancelled,
    });
    if (rest.kind === 'too-long') return rest;
    const uids = mergeUids(input.found, mergeUids(found, rest.uids));
    return await ordered(uids, input, { source, columns, isLate });
  } catch (error) {
    if (error instanceof ColumnsTooLong) return { kind: 'too-long' };
    throw error;
  }
}

/** Uses the columns of the mailbox, unless few of its messages are open and none are read yet. */
async function narrowed(input: FindInput, context: Parameters<typeof narrow>[2]): Promise<Narrowed> {
  const { open, program, total } = input;
  const isCold = context.columns.length < total / 2 && open.uids.length < total / 8;
  // The text of bodies is not in columns.
  if (isCold || open.uids.length === 0 || costOf(program) === 0) return { found: new Uint32Array(), open };
  return narrow(program, open, context);
}

interface OrderContext {
  source: ColumnSource;
  columns: MailboxColumns;
  isLate: () => boolean;
}

async function ordered(uids: Uint32Array, { order }: FindInput, context: OrderContext): Promise<FindOutcome> {
  if (order === undefined) return { kind: 'found', uids };
  const known = context.columns.orders.find(uids, order);
  if (known !== undefined) return known;
  const outcome = await computed(uids, order, context);
  context.columns.orders.keep(uids, order, outcome);
  return outcome;
}

async function computed(uids: Uint32Array, order: FindOrder, context: OrderContext): Promise<FindOutcome> {
  const { source, columns, isLate } = context;
  const check = checkOf(isLate);
  await columns.refresh(source, check);
  const { positions } = positionsOf(uids, columns);
  if (order.kind === 'sort') {
    const values = await Promise.all(order.keys.map((key) => sortColumn(key, order.scores, context)));
    const sorted = sortPositions(positions, values);
    return { kind: 'found', uids: sorted.map((position) => columns.uids[position] ?? 0) };
  }
  await columns.loadThreads(source, check);
  const threads = THREADS[order.algorithm](positions, threadFacts(columns));
  return { kind: 'threads', text: threadText(threads, numbering(columns, order.known)) };
}

const THREADS: Record<ThreadAlgorithm, (positions: Uint32Array, facts: ThreadFacts) => ThreadNode[]> = {
  ORDEREDSUBJECT: threadBySubject,
  REFERENCES: threadByReferences,
  REFS: threadByLinks,
};

const KEYS: Partial<Record<SortCriterion, KeyColumn>> = {
  SUBJECT: 'subj',
  FROM: 'from_k',
  TO: 'to_k',
  CC: 'cc_k',
  DISPLAYFROM: 'from_d',
  DISPLAYTO: 'to_d',
};

async function sortColumn(
  { by, reverse }: SortKey,
  scores: ReadonlyMap<number, number>,
  { source, columns, isLate }: OrderContext,
): Promise<SortColumn> {
  const key = KEYS[by];
  if (key !== undefined) return { values: await columns.keys(key, source, checkOf(isLate)), reverse };
  return { values: numbersOf(by, columns, scores), reverse };
}

function numbersOf(by: SortCriterion, columns: MailboxColumns, scores: ReadonlyMap<number, number>): Float64Array {
  const { sizes, length, uids } = columns;
  if (by === 'SIZE') return sizes;
  // INTERNALDATE has whole seconds: within one, the order is that of arrival.
  if (by === 'ARRIVAL') return columns.receivedAt.map((at) => Math.floor(at / 1000));
  if (by === 'DATE') return Float64Array.from({ length }, (_, position) => dateOf(columns, position));
  // RFC 6203 4: the most relevant first.
  return Float64Array.from({ length }, (_, position) => -(scores.get(uids[position] ?? 0) ?? 0));
}

/** Sent date, else INTERNALDATE, s UTC. RFC 5256 2.2. */
function dateOf({ sentAt, receivedAt }: MailboxColumns, position: number): number {
  return Math.floor((sentAt[position] || (receivedAt[position] ?? 0)) / 1000);
}

function threadFacts(columns: MailboxColumns): ThreadFacts {
  const { threads } = columns;
  return {
    ids: threads.ids,
    idAt: (position) => threads.idAt(position),
    referencesAt: (position) => threads.referencesAt(position),
    subjectAt: (position) => threads.subjects[position] ?? '',
    isReply: (position) => threads.isReply(position),
    dateAt: (position) => dateOf(columns, position),
  };
}

/** Converts positions to UIDs, or to sequence numbers. */
function numbering(columns: MailboxColumns, known: Uint32Array | undefined): (position: number) => number {
  if (known === undefined) return (position) => columns.uids[position] ?? 0;
  const { positions, indexes } = positionsOf(known, columns);
  const numbers = new Uint32Array(columns.length);
  positions.forEach((place, i) => (numbers[place] = (indexes?.[i] ?? i) + 1));
  return (position) => numbers[position] ?? 0;
}

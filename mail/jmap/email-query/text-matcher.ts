import type { SearchTerm } from '../../message/search-terms.ts';
import { type Query, query } from '../../store/engine/types.ts';
import type { EmailFacts } from './email-facts.ts';
import type { TextColumn } from './email-filter.ts';
import type { EmailQueryContext } from './query-context.ts';
import { ACCOUNT_SPAN } from '../../store/search/account-span.ts';

/** Thresholds that select the index query. */
interface TextLimits {
  /** Maximum hits read at once; more frequent terms are queried for the given emails only. */
  rare: number;
  /** Maximum id range per given email for a range query; beyond it all hits are read. */
  widest: number;
}

const LIMITS: TextLimits = { rare: 300, widest: 16 };

/** Range of email ids of an account. */
function rangeOf(account: number): [number, number] {
  return [account * ACCOUNT_SPAN, (account + 1) * ACCOUNT_SPAN - 1];
}

/** Terms that must all occur in the columns. */
export interface TextGroup {
  columns: readonly TextColumn[] | null;
  terms: readonly SearchTerm[];
}

/** Builds the FTS5 expression. Safe from injection: words have letters and digits only. */
function matchExpression(groups: readonly TextGroup[]): string {
  return groups
    .map(({ columns, terms }) => {
      const all = terms.map(({ words, prefix }) => `"${words.join(' ')}"${prefix ? ' *' : ''}`).join(' AND ');
      return columns === null ? `(${all})` : `({${columns.join(' ')}} : (${all}))`;
    })
    .join(' AND ');
}

/** Hits of one statement when all are read. */
const PAGE = 10_000;

/** Sorted ids, 8 octets each. */
class SortedIds {
  readonly #ids: Float64Array;

  constructor(ids: readonly number[]) {
    this.#ids = Float64Array.from(ids);
  }

  has(id: number): boolean {
    let [low, high] = [0, this.#ids.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ids[middle] ?? 0) < id) low = middle + 1;
      else high = middle;
    }
    return this.#ids[low] === id;
  }
}

type ReadonlyIds = Pick<ReadonlySet<number>, 'has'>;

// CAST is needed: numbers are bound as floating point, and FTS5 ignores a non-integer bound, so that it would read the
// hits of all messages.
export const WITHIN = `SELECT rowid AS id FROM message_text WHERE message_text MATCH ?
  AND rowid BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER) ORDER BY rowid LIMIT ?`;
const NEWEST = `SELECT rowid AS id FROM message_text WHERE message_text MATCH ?
  AND rowid BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER) ORDER BY rowid DESC LIMIT ?`;

/** Matches terms in the full-text index; reads no more hits than needed. */
export class TextMatcher {
  readonly #context: EmailQueryContext;
  readonly #expression: string;
  readonly #limits: TextLimits;
  #rare: readonly number[] | undefined | 'unread' = 'unread';
  #all: ReadonlyIds | undefined;

  constructor(context: EmailQueryContext, groups: readonly TextGroup[], limits = LIMITS) {
    this.#context = context;
    this.#expression = matchExpression(groups);
    this.#limits = limits;
  }

  /** All hits, if they are few. */
  async rare(): Promise<readonly number[] | undefined> {
    if (this.#rare === 'unread') {
      const { rare } = this.#limits;
      const found = await this.#hits(NEWEST, ...this.#range(), rare + 1);
      this.#rare = found.length > rare ? undefined : found;
      if (this.#rare !== undefined) this.#all = new Set(found);
    }
    return this.#rare;
  }

  async matching(among: readonly EmailFacts[]): Promise<(facts: EmailFacts) => boolean> {
    await this.rare();
    const known = this.#all ?? (await this.#near(among)) ?? (this.#all = await this.#everything());
    return ({ id }) => known.has(id);
  }

  /** Reads the hits in the id range of the given emails; emails of the same time have close ids unless imported later. */
  async #near(among: readonly EmailFacts[]): Promise<Set<number> | undefined> {
    let [first, last] = [Number.POSITIVE_INFINITY, 0];
    for (const { id } of among) {
      first = Math.min(first, id);
      last = Math.max(last, id);
    }
    const wide = last - first >= this.#limits.widest * (among.length + 16);
    return wide ? undefined : new Set(await this.#hits(WITHIN, first, last, -1));
  }

  async #everything(): Promise<ReadonlyIds> {
    const all: number[] = [];
    const [first, last] = this.#range();
    for (let from = first, page: number[]; from <= last; from = (page.at(-1) ?? last) + 1) {
      this.#context.charge(0);
      page = await this.#hits(WITHIN, from, last, PAGE);
      for (const id of page) all.push(id);
    }
    return new SortedIds(all);
  }

  #range(): [number, number] {
    return rangeOf(this.#context.account);
  }

  async #hits(sql: string, from: number, to: number, limit: number): Promise<number[]> {
    const rows = await this.#context.rx.all<{ id: number }>(sql, this.#expression, from, to, limit);
    return rows.map(({ id }) => id);
  }
}

/** Hits read per group; the newest may be deleted or hidden. */
const MAX_HITS = 5;

/** Finds the newest visible email for each group of terms; null if there is none. */
export const newestMatch: Query<{ account: number; groups: readonly TextGroup[] }, (number | null)[]> = query(
  'newest-with',
  async (rx, { account, groups }) => {
    const [first, last] = rangeOf(account);
    const found: (number | null)[] = [];
    for (const group of groups) {
      // The text had no indexable characters.
      if (group.terms.length === 0) {
        found.push(null);
        continue;
      }
      const hits = await rx.all<{ id: number }>(NEWEST, matchExpression([group]), first, last, MAX_HITS);
      const shown = await rx.get<{ id: number | null }>(
        `SELECT max(n.email_id) AS id FROM json_each(?) j CROSS JOIN entry n INDEXED BY entry_email ON n.email_id = j.value
           CROSS JOIN mailbox m ON m.id = n.mailbox_id WHERE n.flags & 16 = 0 AND m.deleted_at IS NULL`,
        JSON.stringify(hits.map(({ id }) => id)),
      );
      found.push(shown?.id ?? null);
    }
    return found;
  },
);

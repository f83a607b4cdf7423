import type { Term } from '../../message/search-terms.ts';
import type { Facts } from './facts.ts';
import type { TextColumn } from './filter.ts';
import type { Scene } from './scene.ts';

/** Ids of an account's emails lie between this and the next multiple. */
const ACCOUNT_SPAN = 2 ** 32;
/** From where on it asks in which way. */
export interface TextLimits {
  /** Up to so many hits are simply known; of more common words only those among the emails at hand are asked for. */
  rare: number;
  /** The ids of these may lie so much wider than they are many; else all hits are read once. */
  widest: number;
}

const LIMITS: TextLimits = { rare: 300, widest: 16 };

/** The first and the last id that an email of an account can have. */
export function rangeOf(account: number): [number, number] {
  return [account * ACCOUNT_SPAN, (account + 1) * ACCOUNT_SPAN - 1];
}

/** Terms, and where they must all be. */
export interface TextGroup {
  columns: readonly TextColumn[] | null;
  terms: readonly Term[];
}

/** The FTS5 expression of what must all be true. Words are letters and digits only: nothing in them is syntax. */
export function matchExpression(groups: readonly TextGroup[]): string {
  return groups
    .map(({ columns, terms }) => {
      const all = terms.map(({ words, prefix }) => `"${words.join(' ')}"${prefix ? ' *' : ''}`).join(' AND ');
      return columns === null ? `(${all})` : `({${columns.join(' ')}} : (${all}))`;
    })
    .join(' AND ');
}

/** Hits of one statement, where all are wanted. */
const PAGE = 10_000;

/** Ascending, 8 octets each. */
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

// Numbers are bound as floating point, and FTS5 takes no notice of a bound that is no integer: it would read the hits of
// all messages and throw away what lies outside.
export const WITHIN = `SELECT rowid AS id FROM message_text WHERE message_text MATCH ?
  AND rowid BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER) ORDER BY rowid LIMIT ?`;
export const NEWEST = `SELECT rowid AS id FROM message_text WHERE message_text MATCH ?
  AND rowid BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER) ORDER BY rowid DESC LIMIT ?`;

/** Which emails of an account have words in them. Asks the index for no more than is needed. */
export class TextTest {
  readonly #scene: Scene;
  readonly #expression: string;
  readonly #limits: TextLimits;
  #rare: readonly number[] | undefined | 'unasked' = 'unasked';
  #all: ReadonlyIds | undefined;

  constructor(scene: Scene, groups: readonly TextGroup[], limits = LIMITS) {
    this.#scene = scene;
    this.#expression = matchExpression(groups);
    this.#limits = limits;
  }

  /** All that match, when they are few. */
  async rare(): Promise<readonly number[] | undefined> {
    if (this.#rare === 'unasked') {
      const { rare } = this.#limits;
      const found = await this.#hits(NEWEST, ...this.#range(), rare + 1);
      this.#rare = found.length > rare ? undefined : found;
      if (this.#rare !== undefined) this.#all = new Set(found);
    }
    return this.#rare;
  }

  async matching(among: readonly Facts[]): Promise<(facts: Facts) => boolean> {
    await this.rare();
    const known = this.#all ?? (await this.#near(among)) ?? (this.#all = await this.#everything());
    return ({ id }) => known.has(id);
  }

  /** Emails that came at about the same time have neighbouring ids, unless they were put there later. */
  async #near(among: readonly Facts[]): Promise<Set<number> | undefined> {
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
      this.#scene.looked(0);
      page = await this.#hits(WITHIN, from, last, PAGE);
      for (const id of page) all.push(id);
    }
    return new SortedIds(all);
  }

  #range(): [number, number] {
    return rangeOf(this.#scene.account);
  }

  async #hits(sql: string, from: number, to: number, limit: number): Promise<number[]> {
    const rows = await this.#scene.rx.all<{ id: number }>(sql, this.#expression, from, to, limit);
    return rows.map(({ id }) => id);
  }
}

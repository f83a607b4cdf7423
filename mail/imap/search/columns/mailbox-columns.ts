import { lowerBound } from '../../wire/sequence-set.ts';
import type { KeyColumn } from './column-names.ts';
import type { ColumnSource } from './column-source.ts';
import { OrderCache } from '../order-cache.ts';
import { HeaderColumns } from './header-columns.ts';
import { ThreadColumns } from './thread-columns.ts';

/** Rows read at once. */
const PAGE = 1_000;
const HEADER_PAGE = 200;
/** Memory of one SORT key beside its letters, octets. */
const KEY_OCTETS = 48;

/**
 * Thrown when the time of the search is over, or an order needs columns that do not fit into the memory of the thread; what
 * was read stays for the next one.
 */
export class ColumnsTooLong extends Error {}

/**
 * Columns of the messages of one mailbox, by position in the order of their UIDs: what SEARCH, SORT and THREAD read of all
 * messages. Messages are immutable and UIDs only ascend, so that columns only grow; expunged messages stay in them, and
 * callers name the messages that exist. Each kind of column is read when it is first needed.
 */
export class MailboxColumns {
  uids = new Uint32Array(64);
  sizes = new Float64Array(64);
  receivedAt = new Float64Array(64);
  sentAt = new Float64Array(64);
  sentDays = new Int32Array(64);
  length = 0;
  readonly headers = new HeaderColumns();
  readonly threads = new ThreadColumns();
  readonly orders = new OrderCache();
  readonly #keys = new Map<KeyColumn, string[]>();
  #keyOctets = 0;
  readonly #maxOctets: number;
  /** Makes the parts of a load run one after the other, also of two searches. */
  #loading: Promise<unknown> = Promise.resolve();

  /** `maxOctets`: of their memory, above which orders are refused. Headers take at most half of it. */
  constructor(maxOctets = Infinity) {
    this.#maxOctets = maxOctets;
  }

  /** Estimated memory, octets. */
  get octets(): number {
    return this.uids.length * 36 + this.headers.octets + this.threads.octets + this.orders.octets + this.#keyOctets;
  }

  /** Reads new messages. `check` throws when the time is over. */
  refresh(source: ColumnSource, check: () => void): Promise<void> {
    return this.#inTurn(async () => {
      for (;;) {
        const rows = await source.base(this.length === 0 ? 0 : (this.uids[this.length - 1] ?? 0), PAGE);
        for (const row of rows) {
          const at = this.#next();
          this.uids[at] = row.uid;
          this.sizes[at] = row.size;
          this.receivedAt[at] = row.receivedAt;
          this.sentAt[at] = row.sentAt;
          this.sentDays[at] = row.sentDay;
        }
        if (rows.length < PAGE) return;
        check();
      }
    });
  }

  /** Reads the header texts of all messages, or of those that fit into memory: the first ones. */
  loadHeaders(source: ColumnSource, check: () => void): Promise<void> {
    return this.#inTurn(async () => {
      while (this.headers.length < this.length && this.headers.octets < this.#maxOctets / 2) {
        const uids = this.#uidsFrom(this.headers.length, HEADER_PAGE);
        const rows = new Map((await source.headers(uids)).map(({ uid, header }) => [uid, { header }]));
        // An expunged message has no header, which is not the same as an unreadable one.
        for (const uid of uids) this.headers.append(rows.has(uid) ? rows.get(uid)?.header : '');
        await source.pause?.();
        check();
      }
    });
  }

  /** The SORT keys of all messages. */
  keys(column: KeyColumn, source: ColumnSource, check: () => void): Promise<readonly string[]> {
    const keys = this.#keys.get(column) ?? [];
    this.#keys.set(column, keys);
    return this.#inTurn(async () => {
      while (keys.length < this.length) {
        this.#checkRoom();
        const rows = await source.keys(column, this.#uidBefore(keys.length), PAGE);
        this.#align(keys.length, rows, (row) => {
          keys.push(row?.key ?? '');
          this.#keyOctets += KEY_OCTETS + (row?.key.length ?? 0);
        });
        check();
      }
      return keys;
    });
  }

  /** Reads what THREAD needs of all messages. */
  loadThreads(source: ColumnSource, check: () => void): Promise<void> {
    return this.#inTurn(async () => {
      while (this.threads.length < this.length) {
        this.#checkRoom();
        const from = this.threads.length;
        const rows = await source.threading(this.#uidBefore(from), HEADER_PAGE);
        const open = rows.filter((row) => ThreadColumns.isAmbiguous(row)).map(({ uid }) => uid);
        const headers = new Map(
          open.length === 0 ? [] : (await source.headers(open)).map(({ uid, header }) => [uid, header]),
        );
        this.#align(from, rows, (row) => this.threads.append(row, row && headers.get(row.uid)), HEADER_PAGE);
        await source.pause?.();
        check();
      }
    });
  }

  /** The position of the first message whose UID is not below `uid`. */
  positionOf(uid: number): number {
    return lowerBound(this.uids, this.length, uid);
  }

  /** Calls back for each position that a page of rows covers, with its row if it still exists. */
  #align<R extends { uid: number }>(from: number, rows: R[], each: (row: R | undefined) => void, page = PAGE): void {
    const last = rows.length < page ? Infinity : (rows.at(-1)?.uid ?? Infinity);
    let at = 0;
    for (let position = from; position < this.length && (this.uids[position] ?? 0) <= last; position++) {
      const uid = this.uids[position] ?? 0;
      while ((rows[at]?.uid ?? Infinity) < uid) at++;
      each(rows[at]?.uid === uid ? rows[at] : undefined);
    }
  }

  /** Refuses before a page is read: each refused order would read and keep one more. */
  #checkRoom(): void {
    if (this.octets > this.#maxOctets) throw new ColumnsTooLong();
  }

  #uidBefore(position: number): number {
    return position === 0 ? 0 : (this.uids[position - 1] ?? 0);
  }

  #uidsFrom(position: number, count: number): number[] {
    return Array.from(this.uids.subarray(position, Math.min(this.length, position + count)));
  }

  #next(): number {
    if (this.length === this.uids.length) this.#grow(this.length * 2);
    return this.length++;
  }

  #grow(capacity: number): void {
    this.uids = copyOf(this.uids, new Uint32Array(capacity));
    this.sizes = copyOf(this.sizes, new Float64Array(capacity));
    this.receivedAt = copyOf(this.receivedAt, new Float64Array(capacity));
    this.sentAt = copyOf(this.sentAt, new Float64Array(capacity));
    this.sentDays = copyOf(this.sentDays, new Int32Array(capacity));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#loading.then(work);
    this.#loading = mine.then(nothing, nothing);
    return mine;
  }
}

const nothing = (): void => undefined;

function copyOf<T extends Uint32Array | Float64Array | Int32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

import type { Read } from '../../store/engine/types.ts';
import type { Facts } from './facts.ts';

export type Direction = 'ascending' | 'descending';

/** receivedAt, ms UTC: from `after` on, and before `before`. */
export interface Stretch {
  after: number;
  before: number;
}

/** Rows of the first statements of all mailboxes together, and of one; more at each further one. */
const FIRST = 64;
const LEAST = 8;
const MOST = 2048;

interface Entry extends Record<string, number> {
  received_at: number;
  email_id: number;
  thread_id: number;
  flags: number;
}

// Both read nothing but the index.
const FORWARDS = `SELECT received_at, email_id, thread_id, flags FROM entry INDEXED BY entry_date WHERE mailbox_id = ?
  AND (received_at, email_id) > (?, ?) AND flags & 16 = 0 ORDER BY received_at, email_id LIMIT ?`;
const BACKWARDS = `SELECT received_at, email_id, thread_id, flags FROM entry INDEXED BY entry_date WHERE mailbox_id = ?
  AND (received_at, email_id) < (?, ?) AND flags & 16 = 0 ORDER BY received_at DESC, email_id DESC LIMIT ?`;

/** Comes before the other in a walk. Emails of the same moment are in the order of their ids, in the same direction. */
export function comesBefore(a: Facts, b: Facts, direction: Direction): boolean {
  return compare(a, b, direction) < 0;
}

export function compare(a: Facts, b: Facts, direction: Direction): number {
  const ascending = a.receivedAt - b.receivedAt || a.id - b.id;
  return direction === 'ascending' ? ascending : -ascending;
}

/** The mailboxes of an account that are there. */
export async function mailboxesOf(rx: Read, account: number): Promise<number[]> {
  const rows = await rx.all<{ id: number }>(
    'SELECT id FROM mailbox WHERE account_id = ? AND gone_at IS NULL AND total > 0 ORDER BY id',
    account,
  );
  return rows.map(({ id }) => id);
}

/**
 * The emails in these mailboxes by the time they were received, each once, page by page: who needs the newest fifty of
 * a hundred thousand reads little more than those.
 */
export async function* walk(
  rx: Read,
  mailboxes: readonly number[],
  direction: Direction,
  stretch: Stretch,
): AsyncGenerator<readonly Facts[], void> {
  const cursors = mailboxes.map(
    (mailbox) => new Cursor(rx, mailbox, direction, stretch, Math.max(LEAST, Math.ceil(FIRST / mailboxes.length))),
  );
  for (;;) {
    for (const cursor of cursors) if (cursor.ahead.length === 0) await cursor.fill();
    const open = cursors.filter(({ ahead }) => ahead.length > 0);
    if (open.length === 0) return;
    yield merged(open, direction);
  }
}

/** What no further row of any mailbox can come before. */
function merged(cursors: readonly Cursor[], direction: Direction): Facts[] {
  let horizon: Facts | undefined;
  for (const { ended, ahead } of cursors) {
    const last = ahead.at(-1);
    if (ended || last === undefined) continue;
    if (horizon === undefined || comesBefore(last, horizon, direction)) horizon = last;
  }
  const taken = cursors.flatMap((cursor) => cursor.take(horizon));
  if (cursors.length === 1) return taken;
  // One that stands in several mailboxes stands beside itself.
  return taken.sort((a, b) => compare(a, b, direction)).filter((one, i) => one.id !== taken[i - 1]?.id);
}

/** Where a walk is in one mailbox. */
class Cursor {
  readonly #rx: Read;
  readonly #mailbox: number;
  readonly #direction: Direction;
  readonly #stretch: Stretch;
  #rows: number;
  /** Behind this row it goes on. No id is 0, so that the walk begins in front of all emails of its first moment. */
  #last: { received_at: number; email_id: number };
  ahead: Facts[] = [];
  ended = false;

  constructor(rx: Read, mailbox: number, direction: Direction, stretch: Stretch, rows: number) {
    this.#rx = rx;
    this.#mailbox = mailbox;
    this.#direction = direction;
    this.#stretch = stretch;
    this.#rows = rows;
    this.#last = { received_at: direction === 'ascending' ? stretch.after : stretch.before, email_id: 0 };
  }

  async fill(): Promise<void> {
    if (this.ended) return;
    const { received_at: at, email_id: id } = this.#last;
    const sql = this.#direction === 'ascending' ? FORWARDS : BACKWARDS;
    const rows = await this.#rx.all<Entry>(sql, this.#mailbox, at, id, this.#rows);
    const inside = rows.filter(
      (row) => row.received_at >= this.#stretch.after && row.received_at < this.#stretch.before,
    );
    this.ended = inside.length < this.#rows;
    this.#rows = Math.min(2 * this.#rows, MOST);
    this.#last = rows.at(-1) ?? this.#last;
    this.ahead = inside.map((row) => ({
      id: row.email_id,
      thread: row.thread_id,
      receivedAt: row.received_at,
      flags: row.flags,
    }));
  }

  /** What does not come behind the horizon; all when there is none. */
  take(horizon: Facts | undefined): Facts[] {
    const behind =
      horizon === undefined ? -1 : this.ahead.findIndex((one) => comesBefore(horizon, one, this.#direction));
    const count = behind < 0 ? this.ahead.length : behind;
    const taken = this.ahead.slice(0, count);
    this.ahead = this.ahead.slice(count);
    return taken;
  }
}

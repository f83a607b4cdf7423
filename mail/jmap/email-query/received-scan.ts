import type { Read } from '../../store/engine/types.ts';
import type { EmailFacts, ReaderScope } from './email-facts.ts';

export type SortDirection = 'ascending' | 'descending';

/** receivedAt in ms UTC: `after` inclusive, `before` exclusive. */
export interface ReceivedRange {
  after: number;
  before: number;
}

/** Rows of the first statements of all mailboxes, minimum and maximum of one statement; doubles each time. */
const FIRST_ROWS = 64;
const MIN_ROWS = 8;
const MAX_ROWS = 2048;

interface Entry extends Record<string, number> {
  received_at: number;
  email_id: number;
  thread_id: number;
  flags: number;
}

// Both read the covering index only.
const FORWARDS = `SELECT received_at, email_id, thread_id, flags FROM entry INDEXED BY entry_date WHERE mailbox_id = ?
  AND (received_at, email_id) > (?, ?) AND flags & 16 = 0 ORDER BY received_at, email_id LIMIT ?`;
const BACKWARDS = `SELECT received_at, email_id, thread_id, flags FROM entry INDEXED BY entry_date WHERE mailbox_id = ?
  AND (received_at, email_id) < (?, ?) AND flags & 16 = 0 ORDER BY received_at DESC, email_id DESC LIMIT ?`;

/** Compares positions in a scan; equal times are ordered by id, in the same direction. */
export function comesBefore(a: EmailFacts, b: EmailFacts, direction: SortDirection): boolean {
  return compareReceived(a, b, direction) < 0;
}

export function compareReceived(a: EmailFacts, b: EmailFacts, direction: SortDirection): number {
  const ascending = a.receivedAt - b.receivedAt || a.id - b.id;
  return direction === 'ascending' ? ascending : -ascending;
}

/** Reads the existing, non-empty mailboxes of an account that the reader sees. */
export async function readVisibleMailboxes({ rx, account, within }: ReaderScope): Promise<number[]> {
  const rows = await rx.all<{ id: number }>(
    'SELECT id FROM mailbox WHERE account_id = ? AND deleted_at IS NULL AND total > 0 ORDER BY id',
    account,
  );
  return rows.map(({ id }) => id).filter((id) => within?.has(id) !== false);
}

/**
 * Scans mailboxes by receivedAt and yields each email once, page by page: the newest fifty of a hundred thousand cost
 * little more than fifty rows.
 */
export async function* scanByReceivedAt(
  rx: Read,
  mailboxes: readonly number[],
  direction: SortDirection,
  stretch: ReceivedRange,
): AsyncGenerator<readonly EmailFacts[], void> {
  const cursors = mailboxes.map(
    (mailbox) =>
      new Cursor(rx, mailbox, direction, stretch, Math.max(MIN_ROWS, Math.ceil(FIRST_ROWS / mailboxes.length))),
  );
  for (;;) {
    for (const cursor of cursors) if (cursor.ahead.length === 0) await cursor.fill();
    const open = cursors.filter(({ ahead }) => ahead.length > 0);
    if (open.length === 0) return;
    yield merged(open, direction);
  }
}

/** Merges the rows that no unread row can precede. */
function merged(cursors: readonly Cursor[], direction: SortDirection): EmailFacts[] {
  let horizon: EmailFacts | undefined;
  for (const { ended, ahead } of cursors) {
    const last = ahead.at(-1);
    if (ended || last === undefined) continue;
    if (horizon === undefined || comesBefore(last, horizon, direction)) horizon = last;
  }
  const taken = cursors.flatMap((cursor) => cursor.take(horizon));
  if (cursors.length === 1) return taken;
  // Copies of an email in several mailboxes are adjacent.
  return taken.sort((a, b) => compareReceived(a, b, direction)).filter((one, i) => one.id !== taken[i - 1]?.id);
}

/** Position of a scan in one mailbox. */
class Cursor {
  readonly #rx: Read;
  readonly #mailbox: number;
  readonly #direction: SortDirection;
  readonly #stretch: ReceivedRange;
  #rows: number;
  /** Last row read. Id 0 does not exist, so the scan starts before all emails of its first time. */
  #last: { received_at: number; email_id: number };
  ahead: EmailFacts[] = [];
  ended = false;

  constructor(rx: Read, mailbox: number, direction: SortDirection, stretch: ReceivedRange, rows: number) {
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
    this.#rows = Math.min(2 * this.#rows, MAX_ROWS);
    this.#last = rows.at(-1) ?? this.#last;
    this.ahead = inside.map((row) => ({
      id: row.email_id,
      thread: row.thread_id,
      receivedAt: row.received_at,
      flags: row.flags,
    }));
  }

  /** Takes the rows up to the horizon, or all without one. */
  take(horizon: EmailFacts | undefined): EmailFacts[] {
    const behind =
      horizon === undefined ? -1 : this.ahead.findIndex((one) => comesBefore(horizon, one, this.#direction));
    const count = behind < 0 ? this.ahead.length : behind;
    const taken = this.ahead.slice(0, count);
    this.ahead = this.ahead.slice(count);
    return taken;
  }
}

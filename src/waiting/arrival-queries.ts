import { lookup } from '../../mail/store/engine/types.ts';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type LoadedMessage, loadMessages } from '../reading/summary.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { wasReported } from './cursor.ts';
import type { MailboxPosition } from '../core/mail-waits.ts';
import { ACCOUNT_SPAN } from '../../mail/store/search/account-span.ts';

/** Converts a message's number in the account to its row id, and back. */
export const emailRowId = (account: number, number: number): number => account * ACCOUNT_SPAN + number;
export const numberOf = (row: number): number => row % ACCOUNT_SPAN;

/** A delivered message, not one stored by a client. */
export interface ArrivalRow extends Record<string, number> {
  id: number;
  /** 1: it is only in Junk. */
  junk: 0 | 1;
}

/**
 * Messages delivered after a row, in order of arrival, without those in Trash and rejected ones. Messages stored by a mail
 * client have no trace header.
 */
export const arrivalsAfter = lookup(
  'arrivals-behind',
  (rx, { account, row, limit }: { account: number; row: number; limit: number }): Promise<ArrivalRow[]> =>
    rx.all<ArrivalRow>(
      `SELECT e.id, min(coalesce(m.role, '') = 'junk') AS junk FROM email e
         CROSS JOIN entry n INDEXED BY entry_email ON n.email_id = e.id CROSS JOIN mailbox m ON m.id = n.mailbox_id
       WHERE e.id > ?1 AND e.id < ?2 AND e.trace <> '' AND n.flags & 16 = 0 AND m.deleted_at IS NULL
         AND coalesce(m.role, '') NOT IN ('trash', 'drafts')
         AND m.id NOT IN (SELECT mailbox_id FROM rejects_mailbox WHERE account_id = ?3)
       GROUP BY e.id ORDER BY e.id LIMIT ?4 + 0`,
      row,
      emailRowId(account + 1, 0),
      account,
      limit,
    ),
);

/** The number of the last message of an account; undefined: the account is deleted. */
export const newestNumber = lookup(
  'newest-number',
  async (rx, { account }: { account: number }): Promise<number | undefined> =>
    (await rx.get<{ email_seq: number }>('SELECT email_seq FROM account WHERE id = ? AND state < 2', account))
      ?.email_seq,
);

/** Newest messages searched by time. */
const MAX_LOOKBACK = 200;

/** The number after which messages arrived at or after a time, ms UTC; among the last {@link MAX_LOOKBACK}. */
export const numberBefore = lookup(
  'number-before',
  async (rx, { account, at }: { account: number; at: number }): Promise<number | undefined> => {
    const row = await rx.get<{ first: number | null }>(
      `SELECT min(id) AS first FROM (SELECT id, received_at FROM email WHERE id > ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3 + 0)
       WHERE received_at >= ?4`,
      emailRowId(account, 0),
      emailRowId(account + 1, 0),
      MAX_LOOKBACK,
      at,
    );
    return row?.first == null ? undefined : numberOf(row.first) - 1;
  },
);

/** Messages of one read. */
const BATCH_SIZE = 50;

/** An arrived message that was not reported yet. */
interface ArrivalCandidate {
  known: LoadedMessage;
  /** It is only in Junk. */
  junk: boolean;
}

/** Matching messages, and the number of the last scanned message. */
export interface ArrivalScan {
  found: ArrivalCandidate[];
  seen: number;
}

/**
 * Finds matching, unreported messages after a position, in order of arrival, at most `limit`. Undefined: the mailbox was
 * deleted.
 */
export async function scanArrivals(
  store: MailStore,
  box: { id: number; address: string },
  position: MailboxPosition,
  {
    from,
    limit,
    fits,
  }: { from: number; limit: number; fits: (candidate: ArrivalCandidate) => boolean | Promise<boolean> },
): Promise<ArrivalScan | undefined> {
  const newest = await store.read(newestNumber, { account: box.id });
  if (newest === undefined) return undefined;
  const found: ArrivalCandidate[] = [];
  for (let seen = Math.max(position.done, from); ; await yieldToEventLoop()) {
    const arrived = await store.read(arrivalsAfter, {
      account: box.id,
      row: emailRowId(box.id, seen),
      limit: BATCH_SIZE,
    });
    const fresh = arrived.filter(({ id }) => !wasReported(position, numberOf(id)));
    const junk = new Set(fresh.filter((one) => one.junk === 1).map(({ id }) => id));
    for (const known of await knownOf(store, box, fresh)) {
      seen = numberOf(known.row.id);
      const candidate = { known, junk: junk.has(known.row.id) };
      if (await fits(candidate)) found.push(candidate);
      if (found.length >= limit) return { found, seen };
    }
    const last = arrived.at(-1);
    if (arrived.length < BATCH_SIZE || last === undefined) return { found, seen: Math.max(seen, newest) };
    seen = numberOf(last.id);
  }
}

/** Loads messages in one read, or one by one when they are too large for it. */
async function knownOf(
  store: MailStore,
  box: { id: number; address: string },
  arrived: readonly ArrivalRow[],
): Promise<LoadedMessage[]> {
  const ids = arrived.map(({ id }) => id);
  const loaded = await loadMessages(store, box, ids);
  if (loaded !== undefined) return loaded;
  const each = await Promise.all(ids.map((id) => loadMessages(store, box, [id])));
  return each.flatMap((one) => one ?? []);
}

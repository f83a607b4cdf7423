import { formatAddress } from '../message/address.ts';
import type { QueueItem } from './relay-queue.ts';

/** Rows that may share one transaction: same message, sender and destination. Never empty. */
export type RecipientGroup = readonly [QueueItem, ...QueueItem[]];

/** Servers must accept 100 recipients, RFC 5321 4.5.3.1.8. */
const MAX_RECIPIENTS = 100;

/** Groups rows, in the order in which their messages first appear. */
export function groupRows(rows: readonly QueueItem[]): RecipientGroup[] {
  const groups = new Map<string, QueueItem[]>();
  for (const row of rows) {
    const sender = row.sender === undefined ? '' : formatAddress(row.sender);
    const key = JSON.stringify([row.message, row.domain, row.nextHop.via, sender, row.envid, row.ret]);
    const same = groups.get(key);
    if (same === undefined) groups.set(key, [row]);
    else same.push(row);
  }
  return [...groups.values()].flatMap((rowsOfOne) => sliceGroup(rowsOfOne, MAX_RECIPIENTS));
}

/** Splits a list into groups of at max `max` rows. */
export function sliceGroup(rows: readonly QueueItem[], max: number): RecipientGroup[] {
  const out: RecipientGroup[] = [];
  for (let at = 0; at < rows.length; at += max) {
    const [first, ...rest] = rows.slice(at, at + max);
    if (first !== undefined) out.push([first, ...rest]);
  }
  return out;
}

import { formatAddress } from '../message/address.ts';
import type { QueueItem } from './needs.ts';

/** Rows that may share one transaction: the same message from the same sender to one destination. Never empty. */
export type Group = readonly [QueueItem, ...QueueItem[]];

/** RFC 5321 4.5.3.1.8: a server must take a hundred recipients; what takes more is not relied on. */
const MOST_RECIPIENTS = 100;

/** Puts rows together, keeping the order in which their messages first appear. */
export function groupRows(rows: readonly QueueItem[]): Group[] {
  const groups = new Map<string, QueueItem[]>();
  for (const row of rows) {
    const sender = row.sender === undefined ? '' : formatAddress(row.sender);
    const key = JSON.stringify([row.message, row.domain, row.way.via, sender, row.envid, row.ret]);
    const same = groups.get(key);
    if (same === undefined) groups.set(key, [row]);
    else same.push(row);
  }
  return [...groups.values()].flatMap((rowsOfOne) => slices(rowsOfOne, MOST_RECIPIENTS));
}

/** Cuts a list into pieces of at most `most`. */
export function slices(rows: readonly QueueItem[], most: number): Group[] {
  const out: Group[] = [];
  for (let at = 0; at < rows.length; at += most) {
    const [first, ...rest] = rows.slice(at, at + most);
    if (first !== undefined) out.push([first, ...rest]);
  }
  return out;
}

import { setImmediate as turn } from 'node:timers/promises';
import { type Known, knownMessages } from '../reading/summary.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { type Arrived, arrivalsBehind, newestNumber, numberOf, rowOf } from './arrival-queries.ts';
import { type Place, wasTold } from './cursor.ts';

/** Messages that are looked at together. */
const BATCH = 50;

/** A message that came and was not told yet. */
export interface Candidate {
  known: Known;
  /** It is in Junk and nowhere else. */
  junk: boolean;
}

/** What a look finds, and the number of the last message that it looked at. */
export interface Looked {
  found: Candidate[];
  seen: number;
}

/**
 * Messages behind a place that were not told and fit, in the order in which they came; stops at `limit`. Undefined: the
 * mailbox is gone.
 */
export async function lookBehind(
  store: MailStore,
  box: { id: number; address: string },
  place: Place,
  { from, limit, fits }: { from: number; limit: number; fits: (candidate: Candidate) => boolean | Promise<boolean> },
): Promise<Looked | undefined> {
  const newest = await store.read(newestNumber, { account: box.id });
  if (newest === undefined) return undefined;
  const found: Candidate[] = [];
  for (let seen = Math.max(place.done, from); ; await turn()) {
    const arrived = await store.read(arrivalsBehind, { account: box.id, row: rowOf(box.id, seen), limit: BATCH });
    const fresh = arrived.filter(({ id }) => !wasTold(place, numberOf(id)));
    const junk = new Set(fresh.filter((one) => one.junk === 1).map(({ id }) => id));
    for (const known of await knownOf(store, box, fresh)) {
      seen = numberOf(known.row.id);
      const candidate = { known, junk: junk.has(known.row.id) };
      if (await fits(candidate)) found.push(candidate);
      if (found.length >= limit) return { found, seen };
    }
    const last = arrived.at(-1);
    if (arrived.length < BATCH || last === undefined) return { found, seen: Math.max(seen, newest) };
    seen = numberOf(last.id);
  }
}

/** Together, or one by one where they are too large together: none may be passed over for that. */
async function knownOf(
  store: MailStore,
  box: { id: number; address: string },
  arrived: readonly Arrived[],
): Promise<Known[]> {
  const ids = arrived.map(({ id }) => id);
  const together = await knownMessages(store, box, ids);
  if (together !== undefined) return together;
  const each = await Promise.all(ids.map((id) => knownMessages(store, box, [id])));
  return each.flatMap((one) => one ?? []);
}

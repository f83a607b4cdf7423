import type { Read } from '../engine/types.ts';
import { ACCOUNT_SPAN } from '../search/account-span.ts';

/** Emails that a scan may read too many. */
const NEAR = 64;

/**
 * An id after which all emails of an account are that were created at a mod-sequence or later, with few others. Ids grow
 * with mod-sequences, so that new emails need no index of them: this looks back from the newest, since clients usually
 * know all but the last.
 */
export async function beforeCreated(rx: Read, account: number, modseq: number): Promise<number> {
  const start = account * ACCOUNT_SPAN;
  let high = (await newestUpTo(rx, start, start + ACCOUNT_SPAN - 1))?.id ?? start;
  let low = start;
  for (let step = NEAR; high - step > start; step *= 4) {
    if (!(await isOlder(rx, start, high - step, modseq))) high -= step;
    else {
      low = high - step;
      break;
    }
  }
  while (high - low > NEAR) {
    const middle = Math.floor((low + high) / 2);
    if (await isOlder(rx, start, middle, modseq)) low = middle;
    else high = middle;
  }
  return low;
}

/** Reports whether all emails up to an id were created before a mod-sequence. */
async function isOlder(rx: Read, start: number, id: number, modseq: number): Promise<boolean> {
  const newest = await newestUpTo(rx, start, id);
  return newest === undefined || newest.created < modseq;
}

function newestUpTo(rx: Read, start: number, id: number): Promise<{ id: number; created: number } | undefined> {
  return rx.get<{ id: number; created: number }>(
    'SELECT id, created_modseq AS created FROM email WHERE id > ? AND id <= ? ORDER BY id DESC LIMIT 1',
    start,
    id,
  );
}

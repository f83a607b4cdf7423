import { OF_ACCOUNT_2 } from '../search/account-span.ts';
import {
  type EmailStateChange,
  type ChangesPage,
  IS_VISIBLE,
  type UnknownState,
  type ChangePosition,
  readEmailChanges,
  type ChangesSince,
  toChange,
} from './email-changes.ts';
import { lookup, query, type Read } from '../engine/types.ts';
import { stateOf } from '../account/type-state.ts';
import { IN_THREAD } from './in-thread.ts';

/** Visible emails of threads of an account, oldest first, without empty threads. RFC 8621 3. */
export const threadEmails = query(
  'thread-emails',
  async (
    rx,
    { account, threads }: { account: number; threads: readonly number[] },
  ): Promise<{ state: number; threads: Map<number, number[]> }> => {
    const rows = await rx.all<{ id: number; thread: number }>(
      `SELECT e.id, e.thread_id AS thread FROM json_each(?1) t CROSS JOIN email e ON ${IN_THREAD}
       WHERE ${OF_ACCOUNT_2} AND ${IS_VISIBLE} ORDER BY e.received_at, e.id`,
      JSON.stringify(threads),
      account,
    );
    const grouped = [...Map.groupBy(rows, (row) => row.thread)];
    const found = new Map(grouped.map(([thread, members]) => [thread, members.map(({ id }) => id)]));
    return { state: await stateOf(rx, account, 'Thread'), threads: found };
  },
);

/** Reports whether these threads have at most `most` emails together. Reads at most that many, from an index. */
export const areShortThreads = lookup(
  'are-short-threads',
  async (rx, { threads, most }: { threads: readonly number[]; most: number }): Promise<boolean> => {
    const beyond = await rx.get(
      `SELECT 1 AS one FROM json_each(?) t CROSS JOIN email e ON ${IN_THREAD} LIMIT 1 OFFSET ?`,
      JSON.stringify(threads),
      most,
    );
    return beyond === undefined;
  },
);

/** Change of one thread, at the position of the last change of its emails. */
export interface ThreadChange extends ChangePosition {
  thread: number;
  fate: 'created' | 'updated' | 'destroyed';
}

/** Maximum emails scanned for one page, and maximum rounds without a changed thread. */
const MAX_EMAILS_SCANNED = 1_000;
const MAX_ROUNDS = 3;

/** Threads that gained or lost a visible email, at most `limit`. */
export const threadChanges = query(
  'thread-changes',
  async (
    rx,
    { account, since, limit }: { account: number; since: ChangesSince; limit: number },
  ): Promise<ChangesPage<ThreadChange> | UnknownState> => {
    let at = since;
    for (let round = 1; ; round++) {
      const found = await readEmailChanges(rx, { account, since: at, limit: MAX_EMAILS_SCANNED });
      if (found.kind !== 'changes') return found;
      const reported = await threadsOf(rx, account, found.changes, since);
      if (reported.length > 0 || found.cut === undefined || round === MAX_ROUNDS)
        return { ...found, ...page(reported, limit, found.cut) };
      at = { ...since, ...found.cut };
    }
  },
);

function page(
  all: readonly ThreadChange[],
  limit: number,
  cut: ChangePosition | undefined,
): { changes: ThreadChange[]; cut: ChangePosition | undefined } {
  const changes = all.slice(0, limit);
  const last = all.length > limit ? changes.at(-1) : undefined;
  return { changes, cut: last === undefined ? cut : { modseq: last.modseq, row: last.row } };
}

async function threadsOf(
  rx: Read,
  account: number,
  changes: readonly EmailStateChange[],
  since: ChangesSince,
): Promise<ThreadChange[]> {
  const moved = changes.filter((one) => isMove(one, since));
  const members = await membersOf(
    rx,
    account,
    moved.map((one) => one.thread),
  );
  const positions = new Map<number, ThreadChange>();
  for (const one of moved) {
    const all = members.get(one.thread) ?? [];
    const fate = all.some((other) => other.shown === 1) ? fateOfShown(all, one, since) : fateOfHidden(one, since);
    // For a destroyed thread its first email decides, as the client may not know later ones.
    if (fate === undefined || (fate === 'destroyed' && positions.has(one.thread))) continue;
    positions.delete(one.thread);
    positions.set(one.thread, { thread: one.thread, fate, modseq: one.modseq, row: one.id });
  }
  return [...positions.values()];
}

/** Reports a change of visibility; keywords change no thread. */
const isMove = (one: EmailStateChange, since: ChangesSince): boolean => one.shownAt > since.origin;

const isBehind = (
  one: Pick<EmailStateChange, 'modseq' | 'id'>,
  other: Pick<EmailStateChange, 'modseq' | 'id'>,
): boolean => one.modseq > other.modseq || (one.modseq === other.modseq && one.id > other.id);

/** Reported at the last change of its emails. */
function fateOfShown(
  all: readonly EmailStateChange[],
  one: EmailStateChange,
  since: ChangesSince,
): 'created' | 'updated' | undefined {
  if (all.some((other) => isMove(other, since) && isBehind(other, one))) return undefined;
  // Only a constantly visible email is surely known to the client. "Created" is harmless for a known thread, while a
  // client may ignore an update of an unknown one.
  const stayed = all.some((other) => other.shown === 1 && !isMove(other, since));
  return stayed ? 'updated' : 'created';
}

/** An email created after the client's position cannot have shown it the thread. */
function fateOfHidden(one: EmailStateChange, since: ChangesSince): 'destroyed' | undefined {
  return one.created <= since.modseq ? 'destroyed' : undefined;
}

async function membersOf(
  rx: Read,
  account: number,
  threads: readonly number[],
): Promise<Map<number, EmailStateChange[]>> {
  const rows = await rx.all<Parameters<typeof toChange>[0]>(
    `SELECT e.id, e.thread_id AS thread, e.modseq, e.created_modseq AS created, ${IS_VISIBLE} AS shown, e.visibility_modseq AS noted
     FROM json_each(?1) t CROSS JOIN email e ON ${IN_THREAD} WHERE ${OF_ACCOUNT_2}`,
    JSON.stringify([...new Set(threads)]),
    account,
  );
  return Map.groupBy(rows.map(toChange), (row) => row.thread);
}

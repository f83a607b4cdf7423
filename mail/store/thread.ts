import {
  type EmailChange,
  type Found,
  IS_SHOWN,
  type NotKnown,
  type Place,
  readEmailChanges,
  type Since,
  toChange,
} from './email-changes.ts';
import { query, type Read } from './engine/types.ts';
import { stateOf } from './type-state.ts';

/** The shown emails of threads of an account, oldest first; a thread without any is not there. RFC 8621 3. */
export const threadEmails = query(
  'thread-emails',
  async (
    rx,
    { account, threads }: { account: number; threads: readonly number[] },
  ): Promise<{ state: number; threads: Map<number, number[]> }> => {
    const rows = await rx.all<{ id: number; thread: number }>(
      `SELECT e.id, e.thread_id AS thread FROM json_each(?) t CROSS JOIN email e ON e.thread_id = t.value
       WHERE +e.account_id = ? AND ${IS_SHOWN} ORDER BY e.received_at, e.id`,
      JSON.stringify(threads),
      account,
    );
    const grouped = [...Map.groupBy(rows, (row) => row.thread)];
    const found = new Map(grouped.map(([thread, members]) => [thread, members.map(({ id }) => id)]));
    return { state: await stateOf(rx, account, 'Thread'), threads: found };
  },
);

/** What became of one thread, told where the last of its emails changed. */
export interface ThreadChange extends Place {
  thread: number;
  fate: 'created' | 'updated' | 'destroyed';
}

/** Emails that are looked at for one answer, in so many rounds as long as none says anything of a thread. */
const LOOKED_AT = 1_000;
const ROUNDS = 3;

/** Threads that gained or lost a shown email, at most `limit`. */
export const threadChanges = query(
  'thread-changes',
  async (
    rx,
    { account, since, limit }: { account: number; since: Since; limit: number },
  ): Promise<Found<ThreadChange> | NotKnown> => {
    let at = since;
    for (let round = 1; ; round++) {
      const found = await readEmailChanges(rx, { account, since: at, limit: LOOKED_AT });
      if (found.kind !== 'changes') return found;
      const told = await threadsOf(rx, account, found.changes, since);
      if (told.length > 0 || found.cut === undefined || round === ROUNDS)
        return { ...found, ...page(told, limit, found.cut) };
      at = { ...since, ...found.cut };
    }
  },
);

function page(
  told: readonly ThreadChange[],
  limit: number,
  cut: Place | undefined,
): { changes: ThreadChange[]; cut: Place | undefined } {
  const changes = told.slice(0, limit);
  const last = told.length > limit ? changes.at(-1) : undefined;
  return { changes, cut: last === undefined ? cut : { modseq: last.modseq, row: last.row } };
}

async function threadsOf(
  rx: Read,
  account: number,
  changes: readonly EmailChange[],
  since: Since,
): Promise<ThreadChange[]> {
  const moved = changes.filter((one) => isMove(one, since));
  const members = await membersOf(
    rx,
    account,
    moved.map((one) => one.thread),
  );
  const places = new Map<number, ThreadChange>();
  for (const one of moved) {
    const all = members.get(one.thread) ?? [];
    const fate = all.some((other) => other.shown === 1) ? fateOfShown(all, one, since) : fateOfHidden(one, since);
    // Of what is gone the first email says it, as a later one may be none that the client knows.
    if (fate === undefined || (fate === 'destroyed' && places.has(one.thread))) continue;
    places.delete(one.thread);
    places.set(one.thread, { thread: one.thread, fate, modseq: one.modseq, row: one.id });
  }
  return [...places.values()];
}

/** It came into sight or went out of it; a keyword changes no thread. */
const isMove = (one: EmailChange, since: Since): boolean => one.shownAt > since.origin;

const isBehind = (one: Pick<EmailChange, 'modseq' | 'id'>, other: Pick<EmailChange, 'modseq' | 'id'>): boolean =>
  one.modseq > other.modseq || (one.modseq === other.modseq && one.id > other.id);

/** Said where the last of its emails moved: the others wait for it. */
function fateOfShown(all: readonly EmailChange[], one: EmailChange, since: Since): 'created' | 'updated' | undefined {
  if (all.some((other) => isMove(other, since) && isBehind(other, one))) return undefined;
  // Only what was in sight all the time is surely known. "Created" does no harm to who has the thread, but a client that
  // is told of an update of what it never had may take it for nothing.
  const stayed = all.some((other) => other.shown === 1 && !isMove(other, since));
  return stayed ? 'updated' : 'created';
}

/** An email that was made behind the part that the client was told cannot have shown it the thread. */
function fateOfHidden(one: EmailChange, since: Since): 'destroyed' | undefined {
  return one.created <= since.modseq ? 'destroyed' : undefined;
}

async function membersOf(rx: Read, account: number, threads: readonly number[]): Promise<Map<number, EmailChange[]>> {
  const rows = await rx.all<Parameters<typeof toChange>[0]>(
    `SELECT e.id, e.thread_id AS thread, e.modseq, e.created_modseq AS created, ${IS_SHOWN} AS shown, e.shown_modseq AS noted
     FROM json_each(?) t CROSS JOIN email e ON e.thread_id = t.value WHERE +e.account_id = ?`,
    JSON.stringify([...new Set(threads)]),
    account,
  );
  return Map.groupBy(rows.map(toChange), (row) => row.thread);
}

import {
  type EmailChange,
  type Found,
  IS_SHOWN,
  type NotKnown,
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
       WHERE e.account_id = ? AND ${IS_SHOWN} ORDER BY e.received_at, e.id`,
      JSON.stringify(threads),
      account,
    );
    const grouped = [...Map.groupBy(rows, (row) => row.thread)];
    const found = new Map(grouped.map(([thread, members]) => [thread, members.map(({ id }) => id)]));
    return { state: await stateOf(rx, account, 'Thread'), threads: found };
  },
);

/** What became of one thread, told where the last of its emails changed. */
export interface ThreadChange {
  thread: number;
  fate: 'created' | 'updated' | 'destroyed';
  /** Where a client stands that was told this. */
  modseq: number;
  row: number;
}

/** `cut`: there is more behind this. */
interface FoundThreads extends Found<ThreadChange> {
  cut?: { modseq: number; row: number };
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
  ): Promise<FoundThreads | NotKnown> => {
    let at = since;
    for (let round = 1; ; round++) {
      const found = await readEmailChanges(rx, { account, since: at, limit: LOOKED_AT });
      if (found.kind !== 'changes') return found;
      const told = await threadsOf(rx, account, found.changes, since);
      const looked = found.changes.length < LOOKED_AT ? undefined : found.changes.at(-1);
      const cut = looked && { modseq: looked.modseq, row: looked.id };
      if (told.length > 0 || cut === undefined || round === ROUNDS) return page(told, found.state, limit, cut);
      at = { ...since, ...cut };
    }
  },
);

function page(told: ThreadChange[], state: number, limit: number, cut: FoundThreads['cut'] | undefined): FoundThreads {
  const changes = told.slice(0, limit);
  const end = told.length > limit ? changes.at(-1) : cut;
  return { kind: 'changes', state, changes, ...(end !== undefined && { cut: { modseq: end.modseq, row: end.row } }) };
}

async function threadsOf(
  rx: Read,
  account: number,
  changes: readonly EmailChange[],
  since: Since,
): Promise<ThreadChange[]> {
  const moved = changes.filter((one) => isMove(one, since));
  const last = new Map(moved.map((one) => [one.thread, one]));
  const members = await membersOf(rx, account, [...last.keys()]);
  return moved.flatMap((one) => {
    const all = members.get(one.thread) ?? [];
    const isLast = last.get(one.thread) === one && !all.some((other) => isMove(other, since) && isBehind(other, one));
    const fate = isLast ? fateOf(one.thread, all, moved, since) : undefined;
    return fate === undefined ? [] : [{ thread: one.thread, fate, modseq: one.modseq, row: one.id }];
  });
}

/** It came into sight or went out of it; a keyword changes no thread. */
const isMove = (one: Pick<EmailChange, 'created' | 'shownAt'>, since: Since): boolean =>
  one.created > since.origin || one.shownAt > since.origin;

const isBehind = (one: Pick<EmailChange, 'modseq' | 'id'>, other: Pick<EmailChange, 'modseq' | 'id'>): boolean =>
  one.modseq > other.modseq || (one.modseq === other.modseq && one.id > other.id);

function fateOf(
  thread: number,
  all: readonly EmailChange[],
  moved: readonly EmailChange[],
  since: Since,
): ThreadChange['fate'] | undefined {
  // Only what was in sight all the time is surely known. "Created" does no harm to who has the thread, but a client that
  // is told of an update of what it never had may take it for nothing.
  const stayed = (one: EmailChange): boolean =>
    one.shown === 1 && one.created <= since.origin && one.shownAt <= since.origin;
  if (all.some((one) => one.shown === 1)) return all.some(stayed) ? 'updated' : 'created';
  const mayBeKnown = [...all.filter((one) => isMove(one, since)), ...moved.filter((one) => one.thread === thread)];
  return mayBeKnown.some((one) => one.created <= since.modseq) ? 'destroyed' : undefined;
}

async function membersOf(rx: Read, account: number, threads: readonly number[]): Promise<Map<number, EmailChange[]>> {
  const rows = await rx.all<Parameters<typeof toChange>[0]>(
    `SELECT e.id, e.thread_id AS thread, e.modseq, e.created_modseq AS created, ${IS_SHOWN} AS shown, e.shown_modseq AS noted
     FROM json_each(?) t CROSS JOIN email e ON e.thread_id = t.value WHERE e.account_id = ?`,
    JSON.stringify(threads),
    account,
  );
  return Map.groupBy(rows.map(toChange), (row) => row.thread);
}

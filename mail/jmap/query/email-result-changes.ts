import { type Query, query, type Read } from '../../store/engine/types.ts';
import { stateOf } from '../../store/type-state.ts';
import { type EmailQuery, results } from './email-results.ts';
import { type Facts, factsOf, PAGE } from './facts.ts';
import { conditionsOf, isFixed } from './filter.ts';
import { openScene, type Scene, TooLong } from './scene.ts';
import { isFixedOrder, walkOrder } from './sort.ts';
import { comesBefore } from './walk.ts';

/** Email/queryChanges as plain data. `upTo` is an email, 0 one that does not exist. */
export interface EmailQueryChanges extends EmailQuery {
  since: number;
  maxChanges: number;
  upTo: number | null;
  calculateTotal: boolean;
}

export type EmailResultChanges =
  | { kind: 'changes'; state: number; removed: number[]; added: { id: number; index: number }[]; total: number | null }
  /** The state is of the future, or of a past that is forgotten. */
  | { kind: 'unknown-state' }
  | { kind: 'too-many' }
  | { kind: 'too-long' };

/**
 * What became of the results of a query. Whether an email is among them, and where, follows from the email itself, or
 * from its thread; so all that changed is taken out, and what of it is among the results now is put in again. What was
 * not there may be taken out too: RFC 8620 5.6 allows it.
 */
export const emailResultChanges: Query<EmailQueryChanges & { most: number | null }, EmailResultChanges> = query(
  'email-result-changes',
  async (rx, asked) => {
    try {
      const state = await stateOf(rx, asked.account, 'Email');
      if (asked.since > state || asked.since < (await floorOf(rx, asked.account))) return { kind: 'unknown-state' };
      const scene = await openScene(rx, asked, asked.most ?? undefined);
      return await changesOf(scene, asked, state);
    } catch (error) {
      if (error instanceof TooLong) return { kind: 'too-long' };
      throw error;
    }
  },
);

async function changesOf(scene: Scene, asked: EmailQueryChanges, state: number): Promise<EmailResultChanges> {
  const { maxChanges, calculateTotal } = asked;
  const removed = asked.since === state ? [] : await touched(scene, asked);
  if (removed === undefined) return { kind: 'too-many' };
  if (removed.length === 0 && !calculateTotal) return { kind: 'changes', state, removed, added: [], total: null };
  const { added, total } = await place(scene, asked, new Set(removed));
  if (removed.length + added.length > maxChanges) return { kind: 'too-many' };
  return { kind: 'changes', state, removed, added, total };
}

// A mailbox that was removed hides its emails at once; they leave it one by one.
const CHANGED = `SELECT id, thread_id FROM email WHERE account_id = ?1 AND modseq > ?2
  UNION SELECT object_id, thread_id FROM tombstone WHERE account_id = ?1 AND type = 'Email' AND modseq > ?2
  UNION SELECT n.email_id, n.thread_id FROM mailbox m CROSS JOIN entry n ON n.mailbox_id = m.id
    WHERE m.account_id = ?1 AND m.gone_at IS NOT NULL AND m.total > 0 AND m.modseq > ?2
  LIMIT ?3`;

/** Emails that may have come, gone or moved, or undefined when they are too many. */
async function touched(scene: Scene, asked: EmailQueryChanges): Promise<number[] | undefined> {
  const { rx, account } = scene;
  const { since, maxChanges } = asked;
  const changed = await rx.all<{ id: number; thread_id: number | null }>(CHANGED, account, since, maxChanges + 1);
  const ids = new Set(changed.map(({ id }) => id));
  if (ids.size <= maxChanges && followsThreads(asked)) {
    const threads = [...new Set(changed.flatMap(({ thread_id: thread }) => thread ?? []))];
    for (let at = 0; at < threads.length; at += PAGE) {
      const members = await rx.all<{ id: number }>(
        `SELECT id FROM email INDEXED BY email_thread WHERE thread_id IN (SELECT value FROM json_each(?)) LIMIT ?`,
        JSON.stringify(threads.slice(at, at + PAGE)),
        maxChanges + 1,
      );
      for (const { id } of members) ids.add(id);
    }
  }
  return ids.size > maxChanges ? undefined : [...ids];
}

/** Whether the rest of a thread decides about an email: then all of a changed thread may have moved. RFC 8621 4.5. */
function followsThreads({ filter, order, collapseThreads }: EmailQuery): boolean {
  return (
    collapseThreads ||
    conditionsOf(filter).some(({ test }) => test === 'thread-keyword') ||
    order.some(({ by }) => by === 'allInThreadHaveKeyword' || by === 'someInThreadHaveKeyword')
  );
}

/** Where these emails are in the results now. */
async function place(
  scene: Scene,
  asked: EmailQueryChanges,
  ids: ReadonlySet<number>,
): Promise<{ added: { id: number; index: number }[]; total: number | null }> {
  const last = await lastOf(scene, asked, ids);
  const upTo = isSettled(asked) ? asked.upTo : null;
  const added: { id: number; index: number }[] = [];
  let index = 0;
  let over = ids.size === 0;
  for await (const page of results(scene, asked)) {
    for (const facts of page) {
      over ||= last !== undefined && comesBefore(last, facts, last.direction);
      if (!over && ids.has(facts.id)) added.push({ id: facts.id, index });
      over ||= facts.id === upTo;
      index++;
    }
    if (over && !asked.calculateTotal) break;
  }
  return { added, total: asked.calculateTotal ? index : null };
}

/** In the order of receivedAt: the last place that any of them can have. Undefined: any place. */
async function lastOf(
  scene: Scene,
  { order }: EmailQuery,
  ids: ReadonlySet<number>,
): Promise<(Facts & { direction: 'ascending' | 'descending' }) | undefined> {
  const direction = walkOrder(order);
  if (direction === undefined) return undefined;
  let last: Facts | undefined;
  for (const facts of await factsOf(scene.rx, scene.account, [...ids])) {
    if (last === undefined || comesBefore(last, facts, direction)) last = facts;
  }
  return last && { ...last, direction };
}

/** Whether an email has one place for as long as it is there: only then `upToId` counts. RFC 8620 5.6. */
function isSettled({ filter, order, collapseThreads }: EmailQuery): boolean {
  return isFixed(filter) && isFixedOrder(order) && !collapseThreads;
}

async function floorOf(rx: Read, account: number): Promise<number> {
  const row = await rx.get<{ floor: number }>(
    `SELECT floor FROM type_state WHERE account_id = ? AND type = 'Email'`,
    account,
  );
  return row?.floor ?? 0;
}

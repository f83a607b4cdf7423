import { type Query, query, type Read } from '../../store/engine/types.ts';
import { stateOf } from '../../store/account/type-state.ts';
import { type EmailQuery, results } from './email-results.ts';
import { type EmailFacts, readEmailFacts, FACTS_PAGE } from './email-facts.ts';
import { conditionsOf, isFixed } from './email-filter.ts';
import { openQueryContext, type EmailQueryContext, QueryTooExpensive } from './query-context.ts';
import { isFixedOrder, receivedAtDirection } from './email-sort.ts';
import { comesBefore } from './received-scan.ts';
import { beforeCreated } from '../../store/message/created-since.ts';
import { IN_THREAD } from '../../store/message/in-thread.ts';
import { ACCOUNT_SPAN } from '../../store/search/account-span.ts';

/** Email/queryChanges as plain data. `upTo` is an email row; 0 for an unknown id. */
export interface EmailQueryChanges extends EmailQuery {
  since: number;
  maxChanges: number;
  upTo: number | null;
  calculateTotal: boolean;
}

export type EmailResultChanges =
  | { kind: 'changes'; state: number; removed: number[]; added: { id: number; index: number }[]; total: number | null }
  /** A state from the future, or older than the stored changes. */
  | { kind: 'unknown-state' }
  | { kind: 'too-many' }
  | { kind: 'too-long' };

/**
 * Computes the changes of a query's results. An email's position depends only on the email or its thread: so every
 * changed email is removed, and added again if it still matches. RFC 8620 5.6 allows removing ids that were not there.
 */
export const emailResultChanges: Query<EmailQueryChanges & { most: number | null }, EmailResultChanges> = query(
  'email-result-changes',
  async (rx, request) => {
    try {
      const state = await stateOf(rx, request.account, 'Email');
      if (request.since > state || request.since < (await floorOf(rx, request.account)))
        return { kind: 'unknown-state' };
      const context = await openQueryContext(rx, request, request.most ?? undefined);
      return await changesOf(context, request, state);
    } catch (error) {
      if (error instanceof QueryTooExpensive) return { kind: 'too-long' };
      throw error;
    }
  },
);

async function changesOf(
  context: EmailQueryContext,
  request: EmailQueryChanges,
  state: number,
): Promise<EmailResultChanges> {
  const { maxChanges, calculateTotal } = request;
  const removed = request.since === state ? [] : await touched(context, request);
  if (removed === undefined) return { kind: 'too-many' };
  if (removed.length === 0 && !calculateTotal) return { kind: 'changes', state, removed, added: [], total: null };
  const { added, total } = await place(context, request, new Set(removed));
  if (removed.length + added.length > maxChanges) return { kind: 'too-many' };
  return { kind: 'changes', state, removed, added, total };
}

// A deleted mailbox hides its emails at once; its entries are deleted one by one.
const CHANGED = `SELECT id, thread_id FROM email WHERE account_id = ?1 AND modseq <> created_modseq AND modseq > ?2
  UNION SELECT id, thread_id FROM email WHERE id > ?4 AND id < ?5 AND created_modseq > ?2
  UNION SELECT object_id, thread_id FROM tombstone WHERE account_id = ?1 AND type = 'Email' AND modseq > ?2
  UNION SELECT n.email_id, n.thread_id FROM mailbox m CROSS JOIN entry n ON n.mailbox_id = m.id
    WHERE m.account_id = ?1 AND m.deleted_at IS NOT NULL AND m.total > 0 AND m.modseq > ?2
  LIMIT ?3`;

/** Emails that may have been added, removed or moved; undefined if they exceed maxChanges. */
async function touched(context: EmailQueryContext, request: EmailQueryChanges): Promise<number[] | undefined> {
  const { rx, account } = context;
  const { since, maxChanges } = request;
  const changed = await rx.all<{ id: number; thread_id: number | null }>(
    CHANGED,
    account,
    since,
    maxChanges + 1,
    await beforeCreated(rx, account, since + 1),
    (account + 1) * ACCOUNT_SPAN,
  );
  const ids = new Set(changed.map(({ id }) => id));
  if (ids.size <= maxChanges && followsThreads(request)) {
    const threads = [...new Set(changed.flatMap(({ thread_id: thread }) => thread ?? []))];
    for (let at = 0; at < threads.length; at += FACTS_PAGE) {
      const members = await rx.all<{ id: number }>(
        `SELECT e.id FROM json_each(?) t CROSS JOIN email e ON ${IN_THREAD} LIMIT ?`,
        JSON.stringify(threads.slice(at, at + FACTS_PAGE)),
        maxChanges + 1,
      );
      for (const { id } of members) ids.add(id);
    }
  }
  return ids.size > maxChanges ? undefined : [...ids];
}

/** Checks whether results depend on whole threads: then every email of a changed thread may have moved. RFC 8621 4.5. */
function followsThreads({ filter, order, collapseThreads }: EmailQuery): boolean {
  return (
    collapseThreads ||
    conditionsOf(filter).some(({ test }) => test === 'thread-keyword') ||
    order.some(({ by }) => by === 'allInThreadHaveKeyword' || by === 'someInThreadHaveKeyword')
  );
}

/** Finds the positions of these emails in the present results. */
async function place(
  context: EmailQueryContext,
  request: EmailQueryChanges,
  ids: ReadonlySet<number>,
): Promise<{ added: { id: number; index: number }[]; total: number | null }> {
  const last = await lastOf(context, request, ids);
  const upTo = isSettled(request) ? request.upTo : null;
  const added: { id: number; index: number }[] = [];
  let index = 0;
  let over = ids.size === 0;
  for await (const page of results(context, request)) {
    for (const facts of page) {
      over ||= last !== undefined && comesBefore(last, facts, last.direction);
      if (!over && ids.has(facts.id)) added.push({ id: facts.id, index });
      over ||= facts.id === upTo;
      index++;
    }
    if (over && !request.calculateTotal) break;
  }
  return { added, total: request.calculateTotal ? index : null };
}

/** The email that sorts last by receivedAt; undefined for other sort orders. */
async function lastOf(
  context: EmailQueryContext,
  { order }: EmailQuery,
  ids: ReadonlySet<number>,
): Promise<(EmailFacts & { direction: 'ascending' | 'descending' }) | undefined> {
  const direction = receivedAtDirection(order);
  if (direction === undefined) return undefined;
  let last: EmailFacts | undefined;
  for (const facts of await readEmailFacts(context, [...ids])) {
    if (last === undefined || comesBefore(last, facts, direction)) last = facts;
  }
  return last && { ...last, direction };
}

/** Checks that positions never change while an email exists: only then `upToId` applies. RFC 8620 5.6. */
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

import type { Query } from '../../store/engine/types.ts';
import { MethodError } from '../errors.ts';
import type { JmapDesk } from '../method.ts';
import { conditionsOf, type Condition, type Filter, searchesText } from './filter.ts';
import { type Order, walkOrder } from './sort.ts';

/** How long a text search waits for messages that are not indexed yet. */
const PATIENCE_MS = 10_000;
/** Emails that a query may look at on the main thread. */
const GLANCE = 1000;

const LIGHT: ReadonlySet<Condition['test']> = new Set(['in-mailbox', 'in-other-than', 'before', 'after', 'keyword']);

interface Asked {
  account: number;
  filter: Filter;
  order: Order;
}

/**
 * Runs a query where it belongs: what a glance may answer on this thread, words beside their index, the rest in the
 * reading thread. Throws the method error when it cannot be answered.
 */
export async function runQuery<I extends Asked, O extends { kind: string }>(
  desk: Pick<JmapDesk, 'store'>,
  what: Query<I & { most: number | null }, O>,
  asked: I,
): Promise<Exclude<O, { kind: 'too-long' }>> {
  const light = walkOrder(asked.order) !== undefined && conditionsOf(asked.filter).every(({ test }) => LIGHT.has(test));
  const glance = light ? await desk.store.read(what, { ...asked, most: GLANCE }) : undefined;
  if (glance !== undefined && glance.kind !== 'too-long') return glance as Exclude<O, { kind: 'too-long' }>;
  const all = { ...asked, most: null };
  const found = searchesText(asked.filter) ? await searchText(desk, what, all) : await desk.store.scan(what, all);
  if (found.kind === 'too-long') {
    throw unavailable(
      'The query looked at too many messages: narrow it by a mailbox or a time, or sort by receivedAt.',
    );
  }
  return found as Exclude<O, { kind: 'too-long' }>;
}

/** Runs a query beside the index, once that knows all of the account's messages. */
export async function searchText<I extends { account: number }, O>(
  desk: Pick<JmapDesk, 'store'>,
  what: Query<I, O>,
  input: I,
): Promise<O> {
  const { account } = input;
  const searched = await desk.store.text.search(what, input, { account, patienceMs: PATIENCE_MS });
  switch (searched.kind) {
    case 'found':
      return searched.value;
    case 'behind':
      throw unavailable(
        `Of about ${searched.total} messages ${searched.indexed} are indexed so far: search for words again in a while.`,
      );
    case 'unavailable':
      throw unavailable('The full-text index is being made again: search for words again in a while.');
  }
}

function unavailable(why: string): MethodError {
  return new MethodError('serverUnavailable', why);
}

import type { Query } from '../../store/engine/types.ts';
import { MethodError } from '../core/errors.ts';
import type { JmapContext } from '../core/method.ts';
import { conditionsOf, type EmailCondition, type EmailFilter, searchesText } from './email-filter.ts';
import { type EmailOrder, receivedAtDirection } from './email-sort.ts';

/** Maximum wait of a text search for the indexing of new messages. */
const INDEX_WAIT_MS = 10_000;
/** Maximum emails that a query examines on the main thread. */
const MAX_EMAILS_INLINE = 1000;

const INDEX_ONLY_CONDITIONS: ReadonlySet<EmailCondition['test']> = new Set([
  'in-mailbox',
  'in-other-than',
  'before',
  'after',
  'keyword',
]);

interface EmailQueryInput {
  account: number;
  filter: EmailFilter;
  order: EmailOrder;
}

/**
 * Runs a query on the right thread: short index-only queries on the main thread, text searches in the index thread, the
 * rest in a reader thread. Throws MethodError.
 */
export async function runQuery<I extends EmailQueryInput, O extends { kind: string }>(
  context: Pick<JmapContext, 'store'>,
  what: Query<I & { most: number | null }, O>,
  request: I,
): Promise<Exclude<O, { kind: 'too-long' }>> {
  const light =
    receivedAtDirection(request.order) !== undefined &&
    conditionsOf(request.filter).every(({ test }) => INDEX_ONLY_CONDITIONS.has(test));
  const glance = light ? await context.store.read(what, { ...request, most: MAX_EMAILS_INLINE }) : undefined;
  if (glance !== undefined && glance.kind !== 'too-long') return glance as Exclude<O, { kind: 'too-long' }>;
  const all = { ...request, most: null };
  const found = searchesText(request.filter)
    ? await searchText(context, what, all)
    : await context.store.scan(what, all);
  if (found.kind === 'too-long') {
    throw unavailable(
      'The query examines too many emails. Restrict it to a mailbox or a time range, or sort by receivedAt.',
    );
  }
  return found as Exclude<O, { kind: 'too-long' }>;
}

/** Runs a query in the index thread, once all messages of the account are indexed. */
export async function searchText<I extends { account: number }, O>(
  context: Pick<JmapContext, 'store'>,
  what: Query<I, O>,
  input: I,
): Promise<O> {
  const { account } = input;
  const searched = await context.store.text.search(what, input, { account, patienceMs: INDEX_WAIT_MS });
  switch (searched.kind) {
    case 'found':
      return searched.value;
    case 'behind':
      throw unavailable(
        `Indexing is in progress: ${searched.indexed} of about ${searched.total} messages. Retry the text search later.`,
      );
    case 'unavailable':
      throw unavailable('The full-text index is being rebuilt. Retry the text search later.');
  }
}

function unavailable(why: string): MethodError {
  return new MethodError('serverUnavailable', why);
}

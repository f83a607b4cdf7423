import { stateOf } from '../../store/account/type-state.ts';
import { type Query, query, type Read } from '../../store/engine/types.ts';
import { MAX_IN_QUERY } from '../core/capabilities.ts';
import type { EmailFacts } from './email-facts.ts';
import { type EmailFilter, onlyMailbox } from './email-filter.ts';
import type { EmailOrder } from './email-sort.ts';
import { matchingEmails } from './matching-emails.ts';
import { type EmailQueryContext, openQueryContext, QueryTooExpensive } from './query-context.ts';

/** Email/query as plain data. */
export interface EmailQuery {
  account: number;
  blobs: string;
  /** The only mailboxes that the reader sees; omitted: all. */
  within?: readonly number[] | undefined;
  filter: EmailFilter;
  order: EmailOrder;
  collapseThreads: boolean;
}

type EmailResults =
  | { kind: 'found'; state: number; ids: number[]; position: number; total: number | null }
  | { kind: 'no-anchor' }
  | { kind: 'too-long' };

/**
 * Runs an Email/query. `anchor` is an email row; 0 for an unknown id. `most` limits the emails examined when it runs on
 * the main thread.
 */
export const emailResults: Query<
  EmailQuery & EmailQueryWindow & { anchor: number | null; most: number | null },
  EmailResults
> = query('email-results', async (rx, request) => {
  try {
    const context = await openQueryContext(rx, request, request.most ?? undefined);
    const state = await stateOf(rx, request.account, 'Email');
    const total = request.calculateTotal || request.position < 0 ? await knownTotal(rx, request) : undefined;
    const found = await windowOf(context, request, total);
    return found.kind === 'found' ? { ...found, state } : found;
  } catch (error) {
    if (error instanceof QueryTooExpensive) return { kind: 'too-long' };
    throw error;
  }
});

/** Reads the total from the mailbox's stored counters. RFC 8621 2: totalEmails and totalThreads. */
async function knownTotal(
  rx: Read,
  { account, within, filter, collapseThreads }: EmailQuery,
): Promise<number | undefined> {
  const mailbox = onlyMailbox(filter);
  if (mailbox === undefined) return undefined;
  if (within?.includes(mailbox) === false) return 0;
  const row = await rx.get<{ emails: number; threads: number | null }>(
    'SELECT j_total AS emails, threads FROM mailbox WHERE id = ? AND account_id = ? AND deleted_at IS NULL',
    mailbox,
    account,
  );
  if (row === undefined) return 0;
  return collapseThreads ? (row.threads ?? undefined) : row.emails;
}

async function windowOf(
  context: EmailQueryContext,
  request: EmailQuery & EmailQueryWindow & { anchor: number | null },
  known: number | undefined,
): Promise<{ kind: 'found'; ids: number[]; position: number; total: number | null } | { kind: 'no-anchor' }> {
  const { limit, anchor, anchorOffset } = request;
  const counts = request.calculateTotal && known === undefined;
  const ids: number[] = [];
  let start = anchor === null ? startOf(request.position, known) : undefined;
  for await (const page of results(context, request)) {
    for (const { id } of page) {
      if (id === anchor) start = Math.max(0, ids.length + anchorOffset);
      ids.push(id);
    }
    if (start === undefined || ids.length < start + limit) continue;
    if (!counts) break;
    // RFC 8620 5.5: a total may be expensive. Returns the ids without it.
    if (!context.mayCount())
      return { kind: 'found', ids: ids.slice(start, start + limit), position: start, total: null };
  }
  if (start === undefined && anchor !== null) return { kind: 'no-anchor' };
  const position = start ?? Math.max(0, ids.length + request.position);
  const total = request.calculateTotal ? (known ?? ids.length) : null;
  return { kind: 'found', ids: ids.slice(position, position + limit), position, total };
}

/** Resolves a position; negative ones count from the end. RFC 8620 5.5. */
function startOf(position: number, total: number | undefined): number | undefined {
  if (position >= 0) return position;
  return total === undefined ? undefined : Math.max(0, total + position);
}

/** Yields the results; with collapseThreads only the first email of each thread. RFC 8621 4.4.3. */
export async function* results(
  context: EmailQueryContext,
  { filter, order, collapseThreads }: EmailQuery,
): AsyncGenerator<readonly EmailFacts[], void> {
  const seen = new Set<number>();
  for await (const page of matchingEmails(context, filter, order)) {
    if (!collapseThreads) yield page;
    else {
      yield page.filter(({ thread }) => {
        const first = !seen.has(thread);
        seen.add(thread);
        return first;
      });
    }
  }
}

/** The requested part of the results, without its anchor. RFC 8620 5.5. */
interface EmailQueryWindow {
  /** Negative positions count from the end. */
  position: number;
  anchorOffset: number;
  limit: number;
  calculateTotal: boolean;
}

/** The effective limit; `ours` if it differs from the client's. */
export function effectiveLimit(requested: number | null): { limit: number; ours: boolean } {
  const ours = requested === null || requested > MAX_IN_QUERY;
  return { limit: ours ? MAX_IN_QUERY : requested, ours };
}

import { type Query, query, type Read } from '../../store/engine/types.ts';
import { stateOf } from '../../store/type-state.ts';
import type { Facts } from './facts.ts';
import { type Filter, onlyMailbox } from './filter.ts';
import { matches } from './matches.ts';
import { openScene, type Scene, TooLong } from './scene.ts';
import type { Order } from './sort.ts';
import type { Window } from './window.ts';

/** Email/query as plain data. */
export interface EmailQuery {
  account: number;
  blobs: string;
  filter: Filter;
  order: Order;
  collapseThreads: boolean;
}

export type EmailResults =
  | { kind: 'found'; state: number; ids: number[]; position: number; total: number | null }
  | { kind: 'no-anchor' }
  | { kind: 'too-long' };

/**
 * Runs an Email/query. `anchor` is an email, 0 one that does not exist; `most`: emails that it may look at, on a thread that has
 * other things to do.
 */
export const emailResults: Query<EmailQuery & Window & { anchor: number | null; most: number | null }, EmailResults> =
  query('email-results', async (rx, asked) => {
    try {
      const scene = await openScene(rx, asked, asked.most ?? undefined);
      const state = await stateOf(rx, asked.account, 'Email');
      const total = asked.calculateTotal || asked.position < 0 ? await knownTotal(rx, asked) : undefined;
      const found = await windowOf(scene, asked, total);
      return found.kind === 'found' ? { ...found, state } : found;
    } catch (error) {
      if (error instanceof TooLong) return { kind: 'too-long' };
      throw error;
    }
  });

/** What a mailbox counts itself. RFC 8621 2: totalEmails and totalThreads. */
async function knownTotal(rx: Read, { account, filter, collapseThreads }: EmailQuery): Promise<number | undefined> {
  const mailbox = onlyMailbox(filter);
  if (mailbox === undefined) return undefined;
  const row = await rx.get<{ emails: number; threads: number | null }>(
    'SELECT j_total AS emails, threads FROM mailbox WHERE id = ? AND account_id = ? AND gone_at IS NULL',
    mailbox,
    account,
  );
  if (row === undefined) return 0;
  return collapseThreads ? (row.threads ?? undefined) : row.emails;
}

async function windowOf(
  scene: Scene,
  asked: EmailQuery & Window & { anchor: number | null },
  known: number | undefined,
): Promise<{ kind: 'found'; ids: number[]; position: number; total: number | null } | { kind: 'no-anchor' }> {
  const { limit, anchor, anchorOffset } = asked;
  const counts = asked.calculateTotal && known === undefined;
  const ids: number[] = [];
  let start = anchor === null ? startOf(asked.position, known) : undefined;
  for await (const page of results(scene, asked)) {
    for (const { id } of page) {
      if (id === anchor) start = Math.max(0, ids.length + anchorOffset);
      ids.push(id);
    }
    if (start === undefined || ids.length < start + limit) continue;
    if (!counts) break;
    // RFC 8620 5.5 warns that a total may be expensive: the results are not withheld for it.
    if (!scene.mayCount()) return { kind: 'found', ids: ids.slice(start, start + limit), position: start, total: null };
  }
  if (start === undefined && anchor !== null) return { kind: 'no-anchor' };
  const position = start ?? Math.max(0, ids.length + asked.position);
  const total = asked.calculateTotal ? (known ?? ids.length) : null;
  return { kind: 'found', ids: ids.slice(position, position + limit), position, total };
}

/** RFC 8620 5.5: negative positions count from the end, and stop at the beginning. */
function startOf(position: number, total: number | undefined): number | undefined {
  if (position >= 0) return position;
  return total === undefined ? undefined : Math.max(0, total + position);
}

/** The results one after the other, of each thread only the first where threads are collapsed. RFC 8621 4.4.3. */
export async function* results(
  scene: Scene,
  { filter, order, collapseThreads }: EmailQuery,
): AsyncGenerator<readonly Facts[], void> {
  const seen = new Set<number>();
  for await (const page of matches(scene, filter, order)) {
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

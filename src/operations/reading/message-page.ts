import { emailResults } from '../../../mail/jmap/email-query/email-results.ts';
import type { EmailFilter } from '../../../mail/jmap/email-query/email-filter.ts';
import { runQuery } from '../../../mail/jmap/email-query/query-runner.ts';
import { recordTaint, taintRows } from '../../reading/read-record.ts';
import { type MailboxRef, summaries } from '../../reading/summary.ts';
import type { MsgSummary } from '../../reading/summary-schema.ts';
import { firstFitting, pageBudget } from '../../untrusted/result-budget.ts';
import { jmapForm, rowIn } from '../../core/message-ids.ts';
import type { Call } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { answered } from './mailbox-arguments.ts';
import { ACCOUNT_SPAN } from '../../../mail/store/search/account-span.ts';

/** Maximum messages with the same time that a page skips when the message of its cursor was deleted. */
const SAME_MOMENT = 200;

/** A position in a list by time, newest first. */
interface PagePosition {
  /** Milliseconds UTC. */
  at: number;
  email: number;
}

/** Returns a page of the messages that match a filter, newest first; `nextCursor` is a position, not an offset. */
export async function pageOfMessages(
  call: Call,
  box: MailboxRef,
  filter: EmailFilter,
  { cursor, limit }: { cursor?: string | undefined; limit: number },
): Promise<{ messages: MsgSummary[]; nextCursor: string | null }> {
  const after = cursor === undefined ? undefined : placeOf(box.id, cursor);
  const ids = await idsBehind(call, box.id, filter, after, limit + 1);
  const messages = await summaries(call, box, ids);
  const behind = messages.filter((one) => after === undefined || isBehind(one, after));
  const shown = firstFitting(behind.slice(0, limit), pageBudget(limit));
  await recordTaint(call, taintRows(shown.map(({ id }) => rowIn('email', box.id, id) ?? 0)));
  const last = shown.at(-1);
  return { messages: shown, nextCursor: behind.length > shown.length && last !== undefined ? cursorOf(last) : null };
}

async function idsBehind(
  call: Call,
  account: number,
  filter: EmailFilter,
  after: PagePosition | undefined,
  limit: number,
): Promise<number[]> {
  if (after === undefined) return newestMessages(call, account, filter, limit);
  const before: EmailFilter = { op: 'and', of: [filter, { test: 'before', at: after.at + 1 }] };
  const behind = await ask(call, account, before, limit, after.email);
  return behind ?? newestMessages(call, account, before, limit + SAME_MOMENT);
}

/** Returns rows of the newest messages that match a filter. */
export async function newestMessages(
  call: Call,
  account: number,
  filter: EmailFilter,
  limit: number,
): Promise<number[]> {
  return (await ask(call, account, filter, limit, null)) ?? [];
}

/** Undefined: the message of the cursor is not among them. */
async function ask(
  { store }: Call,
  account: number,
  filter: EmailFilter,
  limit: number,
  anchor: number | null,
): Promise<number[] | undefined> {
  const found = await answered(
    runQuery({ store }, emailResults, {
      account,
      blobs: store.files.directory,
      filter,
      order: [{ by: 'receivedAt', ascending: false }],
      collapseThreads: false,
      anchor,
      position: 0,
      anchorOffset: anchor === null ? 0 : 1,
      limit,
      calculateTotal: false,
    }),
  );
  return found.kind === 'found' ? found.ids : undefined;
}

function isBehind({ receivedAt, id }: MsgSummary, { at, email }: PagePosition): boolean {
  const time = Date.parse(receivedAt);
  return time < at || (time === at && (rowIn('email', Math.floor(email / ACCOUNT_SPAN), id) ?? 0) < email);
}

function cursorOf({ receivedAt, id }: MsgSummary): string {
  return `${Date.parse(receivedAt).toString(36)}-${jmapForm(id).slice(1)}`;
}

function placeOf(account: number, cursor: string): PagePosition {
  const [at = '', email = ''] = cursor.split('-');
  const place = { at: Number.parseInt(at, 36), email: account * ACCOUNT_SPAN + Number.parseInt(email, 36) };
  if (Number.isSafeInteger(place.at) && Number.isSafeInteger(place.email)) return place;
  return refuse('invalid_arguments', 'cursor is invalid: use the nextCursor of this list.', {
    issues: [{ path: 'cursor', message: 'unknown' }],
  });
}

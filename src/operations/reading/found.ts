import { jmapRow } from '../../../mail/jmap/ids.ts';
import { emailResults } from '../../../mail/jmap/query/email-results.ts';
import type { Filter } from '../../../mail/jmap/query/filter.ts';
import { runQuery } from '../../../mail/jmap/query/run-query.ts';
import { noteExposure, rowsOf } from '../../reading/exposure.ts';
import { type Box, summaries } from '../../reading/summary.ts';
import type { MsgSummary } from '../../reading/shown.ts';
import { firstFitting, pageRoom } from '../../untrusted/room.ts';
import type { Call } from '../operation.ts';
import { refuse } from '../refusal.ts';
import { answered } from './which.ts';

/** Messages of one moment that a page may have to step over when the one that it goes on behind is gone. */
const SAME_MOMENT = 200;
const ACCOUNT_SPAN = 2 ** 32;

/** A place in a list by time, newest first. */
interface Place {
  /** ms UTC. */
  at: number;
  email: number;
}

/** A page of the messages that a filter lets through, newest first; `nextCursor` is a place and not a count. */
export async function pageOfMessages(
  call: Call,
  box: Box,
  filter: Filter,
  { cursor, limit }: { cursor?: string | undefined; limit: number },
): Promise<{ messages: MsgSummary[]; nextCursor: string | null }> {
  const after = cursor === undefined ? undefined : placeOf(box.id, cursor);
  const ids = await idsBehind(call, box.id, filter, after, limit + 1);
  const messages = await summaries(call, box, ids);
  const behind = messages.filter((one) => after === undefined || isBehind(one, after));
  const shown = firstFitting(behind.slice(0, limit), pageRoom(limit));
  await noteExposure(call, rowsOf(shown.map(({ id }) => jmapRow('email', box.id, id) ?? 0)));
  const last = shown.at(-1);
  return { messages: shown, nextCursor: behind.length > shown.length && last !== undefined ? cursorOf(last) : null };
}

async function idsBehind(
  call: Call,
  account: number,
  filter: Filter,
  after: Place | undefined,
  limit: number,
): Promise<number[]> {
  if (after === undefined) return newestMessages(call, account, filter, limit);
  const before: Filter = { op: 'and', of: [filter, { test: 'before', at: after.at + 1 }] };
  const behind = await ask(call, account, before, limit, after.email);
  return behind ?? newestMessages(call, account, before, limit + SAME_MOMENT);
}

/** Rows of the newest messages that a filter lets through. */
export async function newestMessages(call: Call, account: number, filter: Filter, limit: number): Promise<number[]> {
  return (await ask(call, account, filter, limit, null)) ?? [];
}

/** Undefined: the message behind which it shall begin is not among them. */
async function ask(
  { store }: Call,
  account: number,
  filter: Filter,
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

function isBehind({ receivedAt, id }: MsgSummary, { at, email }: Place): boolean {
  const time = Date.parse(receivedAt);
  return time < at || (time === at && Number.parseInt(id.slice(1), 36) < email % ACCOUNT_SPAN);
}

function cursorOf({ receivedAt, id }: MsgSummary): string {
  return `${Date.parse(receivedAt).toString(36)}-${id.slice(1)}`;
}

function placeOf(account: number, cursor: string): Place {
  const [at = '', email = ''] = cursor.split('-');
  const place = { at: Number.parseInt(at, 36), email: account * ACCOUNT_SPAN + Number.parseInt(email, 36) };
  if (Number.isSafeInteger(place.at) && Number.isSafeInteger(place.email)) return place;
  return refuse('invalid_arguments', 'The cursor is not one that this list gave as nextCursor.', {
    issues: [{ path: 'cursor', message: 'unknown' }],
  });
}

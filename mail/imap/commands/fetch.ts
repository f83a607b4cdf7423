import type { ReadDepth } from '../../agents/hooks.ts';
import { no, ok } from '../tagged-response.ts';
import type { TaggedResponse } from '../tagged-response.ts';
import { SELECTED } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import type { FetchRequest } from '../fetch/items.ts';
import { parseFetch, withFlags } from '../fetch/parse.ts';
import { renderFetch, renderLine } from '../fetch/render.ts';
import type { FetchedMessage } from '../fetch/render.ts';
import { flagsOf } from '../flags.ts';
import { SEEN } from '../imap-store.ts';
import type { MessageRow } from '../imap-store.ts';
import { yieldToEventLoop } from '../../limits/event-loop.ts';
import type { Session } from '../session.ts';
import type { IndexRange, SequenceSet } from '../wire/sequence-set.ts';

/** Rows read at once: bounds the memory of a FETCH of a large mailbox. */
const PAGE = 200;

interface FetchArguments {
  set: SequenceSet;
  request: FetchRequest;
}

/** FETCH and UID FETCH. RFC 9051 6.4.5. */
export const fetch: ImapCommand<FetchArguments> = {
  name: 'FETCH',
  states: SELECTED,
  uidForm: true,
  allowedUpdates: 'no-expunge',
  parse: (d, uid) => ({ set: d.sp().sequenceSet(), request: parseFetch(d.sp(), uid) }),

  async run(session, { set, request }, { uid }) {
    let missing = 0;
    const damaged = new Set<number>();
    for (const page of pages(session.view.indexes(set, uid))) {
      if (request.reads === 'view') fromView(session, page, request);
      else missing += await fromRows(session, page, request, damaged);
      await session.drained();
      await yieldToEventLoop(session.login?.account);
    }
    if (damaged.size > 0) return damagedResponse(damaged);
    return missing > 0 ? missingResponse(uid) : ok('Fetched');
  },
};

/** The response when stored messages are damaged: the others were sent. RFC 9051 7.1. */
function damagedResponse(uids: ReadonlySet<number>): TaggedResponse {
  const [first] = uids;
  const which =
    uids.size === 1 ? `The message with UID ${first}` : `${uids.size} messages, the first with UID ${first},`;
  return no('CORRUPTION', `${which} cannot be read completely: damaged on the server. Ask its operator`);
}

/** The response when messages were expunged meanwhile. RFC 2180 4.1.2. A missing UID is no error, RFC 9051 6.4.9. */
function missingResponse(uid: boolean): TaggedResponse {
  return uid ? ok('Fetched') : no('EXPUNGEISSUED', 'Some of the messages were expunged');
}

function* pages(ranges: readonly IndexRange[]): Generator<IndexRange> {
  for (const { start, end } of ranges) {
    for (let at = start; at < end; at += PAGE) yield { start: at, end: Math.min(end, at + PAGE) };
  }
}

/** Writes UID and FLAGS from the view. */
function fromView(session: Session, { start, end }: IndexRange, request: FetchRequest): void {
  const { view } = session;
  const lines: string[] = [];
  for (let at = start; at < end; at += 1) lines.push(renderLine(request, messageAt(session, at)));
  session.write(view.takeKeywordUpdate() + lines.join(''));
}

/** Writes messages and adds the UIDs of damaged ones. Returns the number of missing messages. */
async function fromRows(
  session: Session,
  page: IndexRange,
  request: FetchRequest,
  damaged: Set<number>,
): Promise<number> {
  const { view, store } = session;
  const uids = Array.from(view.uids.subarray(page.start, page.end));
  const structure = request.reads === 'structure' || request.reads === 'content';
  const rows = await store.rows(view.shared.mailbox, uids, { structure });
  const depth = depthOf(request);
  if (depth !== undefined) {
    const emails = rows.map(({ emailId }) => emailId);
    await store.onRead?.(emails, depth);
  }
  const seen = request.setsSeen && !view.readOnly ? await markSeen(session, uids) : undefined;
  session.write(view.takeKeywordUpdate());
  let at = page.start;
  for (const row of rows) {
    while ((view.uids[at] ?? row.uid) < row.uid) at += 1;
    await writeMessage(
      session,
      seen?.has(row.uid) === true ? withFlags(request) : request,
      messageAt(session, at, row, damaged),
    );
  }
  return uids.length - rows.length;
}

/**
 * The read depth for taint tracking; undefined: nothing a sender wrote. Clients that copy whole mailboxes use PEEK, so a
 * body fetched without it counts as read.
 */
function depthOf({ items, reads }: FetchRequest): ReadDepth | undefined {
  const texts = items.filter((one) => one.kind === 'section' && /^(?:all|text)$/.test(one.section.what));
  if (texts.some((one) => one.kind === 'section' && !one.peek)) return 'read';
  if (texts.length > 0) return 'downloaded';
  // Rows without structure contain only the arrival time and the size.
  return reads === 'structure' || reads === 'content' ? 'listed' : undefined;
}

/** Sets \Seen on messages whose BODY[...] is fetched, and returns those that changed. RFC 9051 6.4.5. */
async function markSeen(session: Session, uids: readonly number[]): Promise<Set<number> | undefined> {
  const { shared } = session.view;
  const unseen = uids.filter((uid) => (shared.bits(uid) & SEEN) === 0 && shared.indexOf(uid) >= 0);
  if (unseen.length === 0) return undefined;
  try {
    const stored = await session.store.store(shared.mailbox, unseen, 'add', { bits: SEEN, keywords: [] });
    if ('kind' in stored) return undefined;
    session.view.addOwnChanges(stored.modseqs);
    return new Set(unseen);
  } catch (error) {
    // Mail stays readable when the disk is full.
    session.context.log.warn({ err: error, account: session.login?.account }, 'failed to mark messages as seen');
    return undefined;
  }
}

async function writeMessage(session: Session, request: FetchRequest, message: FetchedMessage): Promise<void> {
  if (request.reads !== 'content') {
    session.write(renderLine(request, message));
    return;
  }
  try {
    for await (const piece of renderFetch(request, message)) {
      session.write(piece);
      await session.drained();
      await yieldToEventLoop(session.login?.account);
    }
  } catch (error) {
    // The response is incomplete, possibly within a literal: anything written now would be parsed as its rest.
    session.terminate('Failed to read a message');
    throw error;
  }
}

function messageAt(session: Session, at: number, row?: MessageRow, damaged?: Set<number>): FetchedMessage {
  const { view, store } = session;
  const uid = view.uids[at] ?? 0;
  const message: FetchedMessage = { seq: at + 1, uid, flags: flagsOf(view.shared, uid).names };
  if (row === undefined) return message;
  message.row = row;
  message.bytes = (start, length) => store.bytes(row.content, start, length);
  message.onShort = (promised, found) => {
    damaged?.add(uid);
    session.context.log.error(
      { account: session.login?.account, uid, promised, found },
      'stored message is shorter than its size',
    );
  };
  return message;
}

import type { ReadDepth } from '../../agents/hooks.ts';
import { yieldToEventLoop } from '../../limits/event-loop.ts';
import { fetchHead } from '../fetch-line.ts';
import { type MessageRow, SEEN } from '../imap-store.ts';
import type { Session } from '../session.ts';
import type { IndexRange } from '../wire/sequence-set.ts';
import type { FetchRequest } from './items.ts';
import { hasItem, isContent, withItems } from './parse.ts';
import { type FetchedMessage, type FetchResponse, renderLine } from './render.ts';
import { writeContents } from './write-contents.ts';

/** Rows read at once: bounds the memory of a FETCH of a large mailbox. */
const ROW_PAGE = 200;
/** The same for lines of the view, which are short. */
const VIEW_PAGE = 1000;

/** Problems with the content of messages, for the tagged response. */
export interface ContentProblems {
  /** UIDs of damaged messages. */
  damaged: Set<number>;
  /** A part has a transfer encoding that BINARY cannot remove. */
  isUnknownEncoding: boolean;
}

/** Positions of the messages, in pages. */
export function* fetchPages(ranges: readonly IndexRange[], { reads }: FetchRequest): Generator<number[]> {
  const most = reads === 'view' ? VIEW_PAGE : ROW_PAGE;
  let page: number[] = [];
  for (const { start, end } of ranges) {
    for (let at = start; at < end; at += 1) {
      page.push(at);
      if (page.length < most) continue;
      yield page;
      page = [];
    }
  }
  if (page.length > 0) yield page;
}

/** Writes the FETCH responses of one page as fast as the client reads. Returns the number of missing messages. */
export async function writePage(
  session: Session,
  page: readonly number[],
  request: FetchRequest,
  problems: ContentProblems,
): Promise<number> {
  let missing = 0;
  if (request.reads === 'view') await fromView(session, page, request);
  else missing = await fromRows(session, page, request, problems);
  await session.drained();
  await yieldToEventLoop(session.login?.account);
  return missing;
}

/** Writes UID, FLAGS and MODSEQ from the view. */
async function fromView(session: Session, page: readonly number[], request: FetchRequest): Promise<void> {
  await session.view.noteLabels(session.store);
  const readsModseq = hasItem(request, 'modseq');
  const lines = page.map((at) => renderLine(request, messageAt(session, at, readsModseq)));
  session.write(session.view.takeKeywordUpdate() + lines.join(''));
}

/** Writes messages and adds the UIDs of damaged ones. Returns the number of missing messages. */
async function fromRows(
  session: Session,
  page: readonly number[],
  request: FetchRequest,
  problems: ContentProblems,
): Promise<number> {
  const { view, store } = session;
  const uids = page.map((at) => view.uids[at] ?? 0);
  const { structure, preview } = request;
  const rows = await store.rows(view.shared.mailbox, uids, { structure, preview });
  const depth = depthOf(request);
  if (depth !== undefined) {
    const emails = rows.map(({ emailId }) => emailId);
    await store.onRead?.(emails, depth);
  }
  const seen = request.setsSeen && !view.readOnly ? await markSeen(session, uids) : undefined;
  await view.noteLabels(store);
  session.write(view.takeKeywordUpdate());
  const responseTo = (row: MessageRow): FetchResponse => {
    const wanted = seen?.has(row.uid) === true ? withNewFlags(session, request) : request;
    const at = view.sequenceOf(row.uid) - 1;
    return { request: wanted, message: messageAt(session, at, hasItem(wanted, 'modseq'), row, problems) };
  };
  if (request.reads === 'content') await writeContents(session, rows, request, responseTo);
  else session.write(rows.map((row) => renderLine(request, responseTo(row).message)).join(''));
  return uids.length - rows.length;
}

/** The request for a message that was just marked \Seen. RFC 7162 3.1: with MODSEQ after a command that enables it. */
function withNewFlags({ enabled }: Session, request: FetchRequest): FetchRequest {
  return enabled.has('CONDSTORE') ? withItems(request, 'flags', 'modseq') : withItems(request, 'flags');
}

/**
 * The read depth for taint tracking; undefined: nothing a sender wrote. Clients that copy whole mailboxes use PEEK, so a
 * body fetched without it counts as read.
 */
function depthOf({ items, reads, preview }: FetchRequest): ReadDepth | undefined {
  const texts = items
    .filter(isContent)
    .filter((one) => one.kind === 'binary' || /^(?:all|text)$/.test(one.section.what));
  if (texts.some((one) => !one.peek)) return 'read';
  if (texts.length > 0) return 'downloaded';
  // Rows without structure contain only the arrival time and the size.
  return preview || reads === 'structure' || reads === 'content' ? 'listed' : undefined;
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

function messageAt(
  session: Session,
  at: number,
  readsModseq: boolean,
  row?: MessageRow,
  problems?: ContentProblems,
): FetchedMessage {
  const { view, store } = session;
  const uid = view.uids[at] ?? 0;
  const message: FetchedMessage = {
    head: fetchHead(at + 1, uid, session.enabled),
    uid,
    flags: view.flagsOf(uid).text,
    // An expunged message that is still counted has the mod-sequence of the mailbox: 0 is not allowed.
    modseq: readsModseq ? view.shared.modseq(uid) || view.shared.highestModseq : 0,
  };
  if (row === undefined) return message;
  message.row = row;
  message.bytes = (start, length) => store.bytes(row.content, start, length);
  message.onShort = (promised, found) => {
    problems?.damaged.add(uid);
    session.context.log.error(
      { account: session.login?.account, uid, promised, found },
      'stored message is shorter than its size',
    );
  };
  message.onUnknownEncoding = () => {
    if (problems !== undefined) problems.isUnknownEncoding = true;
  };
  return message;
}

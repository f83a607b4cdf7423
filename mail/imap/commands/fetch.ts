import type { ReadDepth } from '../../agents/hooks.ts';
import { enableCondstore } from '../condstore.ts';
import { fetchHead } from '../fetch-line.ts';
import { writeVanished } from '../qresync.ts';
import { bad, no, ok } from '../tagged-response.ts';
import type { TaggedResponse } from '../tagged-response.ts';
import { SELECTED } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import type { FetchRequest } from '../fetch/items.ts';
import { parseFetchModifiers } from '../fetch/modifiers.ts';
import type { FetchModifiers } from '../fetch/modifiers.ts';
import { hasItem, isContent, parseFetch, withItems, withoutUid } from '../fetch/parse.ts';
import { renderFetch, renderLine } from '../fetch/render.ts';
import type { FetchedMessage } from '../fetch/render.ts';
import { SEEN } from '../imap-store.ts';
import type { MessageRow } from '../imap-store.ts';
import { StoreBusy } from '../../store/engine/types.ts';
import { yieldToEventLoop } from '../../limits/event-loop.ts';
import type { Session } from '../session.ts';
import { partOfRanges } from '../search/returns.ts';
import type { IndexRange, SequenceSet } from '../wire/sequence-set.ts';

/** Rows read at once: bounds the memory of a FETCH of a large mailbox. */
const PAGE = 200;

interface FetchArguments {
  set: SequenceSet;
  request: FetchRequest;
  modifiers: FetchModifiers;
}

/** FETCH and UID FETCH. RFC 9051 6.4.5; their modifiers: RFC 7162 3.1.4, RFC 9394 3.3. */
export const fetch: ImapCommand<FetchArguments> = {
  name: 'FETCH',
  states: SELECTED,
  uidForm: true,
  allowedUpdates: 'no-expunge',
  capabilities: ['CONDSTORE', 'OBJECTID', 'PREVIEW', 'QRESYNC', 'SAVEDATE'],
  parse: (d, uid) => ({
    set: d.sp().sequenceSet(),
    request: parseFetch(d.sp(), uid),
    modifiers: parseFetchModifiers(d),
  }),

  async run(session, { set, request: given, modifiers }, { uid }) {
    const { changedSince, vanished, partial } = modifiers;
    if (partial !== undefined && !uid) return bad('PARTIAL needs UID FETCH');
    if (vanished && !(uid && session.enabled.has('QRESYNC'))) return bad('VANISHED needs UID FETCH and ENABLE QRESYNC');
    const items = session.enabled.has('UIDONLY') ? withoutUid(given) : given;
    const request = changedSince === undefined ? items : withItems(items, 'modseq');
    if (hasItem(request, 'modseq')) enableCondstore(session);
    const inSet = session.view.indexes(set, uid);
    if (vanished) await writeVanished(session, changedSince ?? 0, { known: set });
    const matching = changedSince === undefined ? inSet : session.view.changedWithin(inSet, changedSince);
    const ranges = partial === undefined ? matching : partOfRanges(matching, partial);
    let missing = 0;
    const problems: ContentProblems = { damaged: new Set(), isUnknownEncoding: false };
    for (const page of pages(ranges)) {
      if (request.reads === 'view') fromView(session, page, request);
      else missing += await fromRows(session, page, request, problems);
      await session.drained();
      await yieldToEventLoop(session.login?.account);
    }
    if (problems.damaged.size > 0) return damagedResponse(problems.damaged);
    if (problems.isUnknownEncoding) return no('UNKNOWN-CTE', 'A part has an unknown transfer encoding: use BODY');
    return missing > 0 ? missingResponse(uid) : ok('Fetched');
  },
};

/** Problems with the content of messages, for the tagged response. */
interface ContentProblems {
  /** UIDs of damaged messages. */
  damaged: Set<number>;
  /** A part has a transfer encoding that BINARY cannot remove. */
  isUnknownEncoding: boolean;
}

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

/** Positions of the messages of one page. */
function* pages(ranges: readonly IndexRange[]): Generator<number[]> {
  let page: number[] = [];
  for (const { start, end } of ranges) {
    for (let at = start; at < end; at += 1) {
      page.push(at);
      if (page.length < PAGE) continue;
      yield page;
      page = [];
    }
  }
  if (page.length > 0) yield page;
}

/** Writes UID, FLAGS and MODSEQ from the view. */
function fromView(session: Session, page: readonly number[], request: FetchRequest): void {
  const lines = page.map((at) => renderLine(request, messageAt(session, at)));
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
  const structure = request.reads === 'structure' || request.reads === 'content';
  const rows = await store.rows(view.shared.mailbox, uids, { structure, preview: request.preview });
  const depth = depthOf(request);
  if (depth !== undefined) {
    const emails = rows.map(({ emailId }) => emailId);
    await store.onRead?.(emails, depth);
  }
  const seen = request.setsSeen && !view.readOnly ? await markSeen(session, uids) : undefined;
  session.write(view.takeKeywordUpdate());
  for (const row of rows) {
    const wanted = seen?.has(row.uid) === true ? withNewFlags(session, request) : request;
    await writeMessage(session, wanted, messageAt(session, view.sequenceOf(row.uid) - 1, row, problems));
  }
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

async function writeMessage(session: Session, request: FetchRequest, message: FetchedMessage): Promise<void> {
  if (request.reads !== 'content') {
    session.write(renderLine(request, message));
    return;
  }
  let isBegun = false;
  try {
    for await (const piece of renderFetch(request, message)) {
      session.write(piece);
      isBegun = true;
      await session.drained();
      await yieldToEventLoop(session.login?.account);
    }
  } catch (error) {
    // A bucket that does not answer: the command fails, and the next one may succeed.
    if (!isBegun && error instanceof StoreBusy) throw error;
    // The response is incomplete, possibly within a literal: anything written now would be parsed as its rest.
    session.terminate('Failed to read a message');
    throw error;
  }
}

function messageAt(session: Session, at: number, row?: MessageRow, problems?: ContentProblems): FetchedMessage {
  const { view, store } = session;
  const uid = view.uids[at] ?? 0;
  const message: FetchedMessage = {
    head: fetchHead(at + 1, uid, session.enabled),
    uid,
    flags: view.flagsOf(uid).names,
    // An expunged message that is still counted has the mod-sequence of the mailbox: 0 is not allowed.
    modseq: view.shared.modseq(uid) || view.shared.highestModseq,
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

import { no, ok } from '../answer.ts';
import type { Answer } from '../answer.ts';
import { SELECTED } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import type { FetchRequest } from '../fetch/items.ts';
import { parseFetch, withFlags } from '../fetch/parse.ts';
import { renderFetch, renderLine } from '../fetch/render.ts';
import type { FetchedMessage } from '../fetch/render.ts';
import { flagsOf } from '../flags.ts';
import { SEEN } from '../needs.ts';
import type { MessageRow } from '../needs.ts';
import { breathe } from '../pace.ts';
import type { Session } from '../session.ts';
import type { IndexRange, SequenceSet } from '../wire/sequence-set.ts';

/** Messages whose rows are read at once: a FETCH of a hundred thousand never holds more of them. */
const PAGE = 200;

interface Wanted {
  set: SequenceSet;
  request: FetchRequest;
}

/** FETCH and UID FETCH. RFC 9051 6.4.5. */
export const fetch: ImapCommand<Wanted> = {
  name: 'FETCH',
  states: SELECTED,
  uidForm: true,
  tellable: 'no-expunge',
  parse: (d, uid) => ({ set: d.sp().sequenceSet(), request: parseFetch(d.sp(), uid) }),

  async run(session, { set, request }, { uid }) {
    let missing = 0;
    for (const page of pages(session.view.indexes(set, uid))) {
      missing += request.reads === 'view' ? fromView(session, page, request) : await fromRows(session, page, request);
      await session.room();
      await breathe();
    }
    return missing > 0 ? gone(uid) : ok('Fetched');
  },
};

/** RFC 2180 4.1.2. A UID that is not there is no error, RFC 9051 6.4.9. */
function gone(uid: boolean): Answer {
  return uid ? ok('Fetched what is there') : no('EXPUNGEISSUED', 'Some of these messages are gone');
}

function* pages(ranges: readonly IndexRange[]): Generator<IndexRange> {
  for (const { start, end } of ranges) {
    for (let at = start; at < end; at += PAGE) yield { start: at, end: Math.min(end, at + PAGE) };
  }
}

/** UID and FLAGS need no row. Answers how many messages were missing: none. */
function fromView(session: Session, { start, end }: IndexRange, request: FetchRequest): number {
  const { view } = session;
  const lines: string[] = [];
  for (let at = start; at < end; at += 1) lines.push(renderLine(request, messageAt(session, at)));
  session.say(view.keywordNews() + lines.join(''));
  return 0;
}

async function fromRows(session: Session, page: IndexRange, request: FetchRequest): Promise<number> {
  const { view, store } = session;
  const uids = Array.from(view.uids.subarray(page.start, page.end));
  const structure = request.reads === 'structure' || request.reads === 'content';
  const rows = await store.rows(view.shared.mailbox, uids, { structure });
  if (handsOut(request)) await store.handed?.(rows);
  if (opens(request)) await store.opened?.(rows);
  const seen = request.setsSeen && !view.readOnly ? await markSeen(session, uids) : undefined;
  session.say(view.keywordNews());
  let at = page.start;
  for (const row of rows) {
    while ((view.uids[at] ?? row.uid) < row.uid) at += 1;
    await sayMessage(session, seen?.has(row.uid) === true ? withFlags(request) : request, messageAt(session, at, row));
  }
  return uids.length - rows.length;
}

function handsOut({ items }: FetchRequest): boolean {
  return items.some((one) => one.kind === 'section' && /^(?:all|text)$/.test(one.section.what));
}

/** Programs that copy whole mailboxes look without \Seen: who sets it with the text of a message reads it. */
function opens({ items }: FetchRequest): boolean {
  return items.some((one) => one.kind === 'section' && !one.peek && /^(?:all|text)$/.test(one.section.what));
}

/** Marks what BODY[...] shows as read, and answers what was marked. RFC 9051 6.4.5. */
async function markSeen(session: Session, uids: readonly number[]): Promise<Set<number> | undefined> {
  const { shared } = session.view;
  const unseen = uids.filter((uid) => (shared.bits(uid) & SEEN) === 0 && shared.indexOf(uid) >= 0);
  if (unseen.length === 0) return undefined;
  try {
    const stored = await session.store.store(shared.mailbox, unseen, 'add', { bits: SEEN, keywords: [] });
    if ('kind' in stored) return undefined;
    session.view.knows(stored.modseqs);
    return new Set(unseen);
  } catch (error) {
    // A full disk must not keep anybody from reading the mail that is there.
    session.door.log.warn({ err: error, account: session.login?.account }, 'cannot mark messages as seen');
    return undefined;
  }
}

async function sayMessage(session: Session, request: FetchRequest, message: FetchedMessage): Promise<void> {
  if (request.reads !== 'content') {
    session.say(renderLine(request, message));
    return;
  }
  try {
    for await (const piece of renderFetch(request, message)) {
      session.say(piece);
      await session.room();
      await breathe();
    }
  } catch (error) {
    // The line broke off, perhaps within a literal: whatever followed would be read as its rest.
    session.expel('A message cannot be read');
    throw error;
  }
}

function messageAt(session: Session, at: number, row?: MessageRow): FetchedMessage {
  const { view, store } = session;
  const uid = view.uids[at] ?? 0;
  const message: FetchedMessage = { seq: at + 1, uid, flags: flagsOf(view.shared, uid).names };
  if (row === undefined) return message;
  message.row = row;
  message.bytes = (start, length) => store.bytes(row.content, start, length);
  message.onShort = (promised, found) => {
    session.door.log.error({ account: session.login?.account, uid, promised, found }, 'a stored message is too short');
  };
  return message;
}

import type { Session } from '../session.ts';
import { no, type TaggedResponse } from '../tagged-response.ts';
import { ImapSyntaxError } from '../wire/syntax-error.ts';
import { bindSearch, usesSequence } from './bind.ts';
import type { SearchedView } from './candidates.ts';
import type { FoundMessages, SearchProgram } from './program.ts';
import { hasFuzzy, resolveFuzzy } from './resolve-fuzzy.ts';
import type { SortKey } from './sort/sort-key.ts';
import type { ThreadAlgorithm } from './thread/thread-input.ts';

/** Interval in which a search looks for its client, ms. */
const WATCH_MS = 500;
/** Interval of progress responses, ms. RFC 9585 3: at least 10 s. */
const PROGRESS_MS = 10_000;

/** The answer to BADCHARSET. RFC 9051 7.1. */
export function badCharset(): TaggedResponse {
  return no('BADCHARSET (US-ASCII UTF-8)', 'Unsupported charset');
}

/** The answer when the limit of time or memory was reached. */
export function searchTooLong(): TaggedResponse {
  return no('LIMIT', 'The search takes too long, or too much memory. Use fewer or narrower keys');
}

/** Searches the selected mailbox for messages that the client knows. */
export async function searchSelected(
  session: Session,
  tag: string,
  program: SearchProgram,
  sort?: readonly SortKey[],
): Promise<FoundMessages | { kind: 'too-long' }> {
  const { mailbox } = session.view.shared;
  const resolved = await boundProgram(session, program);
  const found = await watched(session, tag, (signal) =>
    session.store.search(mailbox, knownMessages(session), resolved.program, {
      signal,
      scores: resolved.scores,
      ...(sort !== undefined && { sort }),
    }),
  );
  if ('kind' in found) return found;
  await session.view.noteLabels(session.store);
  const { shared, uids } = session.view;
  // Flags alone would also match messages that another session expunged.
  const existing = shared.uids === uids ? found : found.filter((uid) => shared.indexOf(uid) >= 0);
  return { kind: 'messages', uids: existing, scores: resolved.scores };
}

/** Threads messages of the selected mailbox that the client knows: the data of the response. */
export async function threadSelected(
  session: Session,
  tag: string,
  program: SearchProgram,
  how: { algorithm: ThreadAlgorithm; uid: boolean },
): Promise<string | { kind: 'too-long' }> {
  const { mailbox } = session.view.shared;
  const resolved = await boundProgram(session, program);
  const threads = await watched(session, tag, (signal) =>
    session.store.thread(mailbox, knownMessages(session), resolved.program, { ...how, signal }),
  );
  await session.view.noteLabels(session.store);
  return threads;
}

async function boundProgram(session: Session, program: SearchProgram): ReturnType<typeof resolveFuzzy> {
  if (session.enabled.has('UIDONLY') && usesSequence(program))
    throw new ImapSyntaxError('Use UID in the search: UIDONLY is enabled', 'UIDREQUIRED');
  const { view, store } = session;
  const bound = bindSearch(program, view.uids, view.length, {
    saved: () => view.savedSet(),
    recent: view.recentRanges,
    changedSince: (modseq) => view.shared.uidsChangedSince(modseq),
  });
  if (!hasFuzzy(bound)) return { program: bound, scores: new Map() };
  return resolveFuzzy(bound, store, view.shared.mailbox);
}

/** Messages that were reported to the client and exist, with their flags: newer ones wait for their EXISTS. */
export function knownMessages({ view }: Session): SearchedView {
  const { shared, uids, length } = view;
  const bits = (uid: number): number => shared.bits(uid);
  const flagNames = (uid: number): readonly string[] => shared.flagNames(uid);
  return { uids, length, bits, flagNames };
}

/** Sends progress while a search runs, and ends it when its client is gone. RFC 9585. */
export async function watched<T>(
  session: Session,
  tag: string,
  search: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  let reportedAt = performance.now();
  const timer = setInterval(() => {
    if (!session.connected) abort.abort();
    if (performance.now() - reportedAt < PROGRESS_MS) return;
    reportedAt = performance.now();
    session.writeUnsolicited(`* OK [INPROGRESS ("${tag}" NIL NIL)] Still searching\r\n`);
  }, WATCH_MS);
  try {
    return await search(abort.signal);
  } finally {
    clearInterval(timer);
  }
}

/** Converts UIDs to what the client asked for: UIDs, or sequence numbers without messages that it does not know. */
export function numbersOf({ view }: Session, uids: Uint32Array, uid: boolean): Uint32Array {
  if (uid) return uids;
  const numbers = new Uint32Array(uids.length);
  let count = 0;
  let at = 0;
  for (const each of uids) {
    // Results mostly ascend: the next number is not far from the last one.
    if ((view.uids[at] ?? 0) > each) at = 0;
    if (at === 0 || (view.uids[at + STEPS] ?? Infinity) < each) at = Math.max(0, view.sequenceOf(each) - 1);
    while (at < view.length && (view.uids[at] ?? 0) < each) at++;
    if (at < view.length && view.uids[at] === each) numbers[count++] = at + 1;
  }
  return numbers.subarray(0, count);
}

/** Messages that are looked at one by one before a binary search. */
const STEPS = 16;

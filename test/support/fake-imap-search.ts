import { MailboxColumns } from '../../mail/imap/search/columns/mailbox-columns.ts';
import type { ColumnSource, KeyColumn } from '../../mail/imap/search/columns/column-source.ts';
import { matchByFlags, type SearchedView } from '../../mail/imap/search/candidates.ts';
import type { MessageRowFacts, SearchRow, SearchSource } from '../../mail/imap/search/search-source.ts';
import { findMessages } from '../../mail/imap/search/find.ts';
import type { FindOrder, FindOutcome } from '../../mail/imap/search/find-order.ts';
import type { SearchProgram } from '../../mail/imap/search/program.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import type { MessageIndex } from '../../mail/message/index-types.ts';

interface Stored extends SearchRow, MessageRowFacts {
  bytes: Buffer;
  index: MessageIndex;
}

/** Where {@link findInMemory} finds messages. */
export interface Messages {
  message(mailbox: number, uid: number): { bytes: Buffer; receivedAt: number } | undefined;
}

/** SEARCH, SORT and THREAD as the store would do them, over messages in memory. */
export async function findInMemory(
  messages: Messages,
  mailbox: number,
  view: SearchedView,
  program: SearchProgram,
  order?: FindOrder,
): Promise<FindOutcome> {
  const { found, open } = matchByFlags(program, view.uids, view.length, view);
  const input = { program, found, open, total: view.length, now: Date.now(), order };
  return findMessages(input, { ...storedInMemory(messages, mailbox, view), columns: new MailboxColumns() });
}

/** Where a search finds messages in memory: those of the view. */
export function storedInMemory(
  stored: Messages,
  mailbox: number,
  view: SearchedView,
): { messages: SearchSource<Stored>; source: ColumnSource } {
  const all = Array.from(view.uids.subarray(0, view.length)).flatMap((uid) => rowOf(stored, mailbox, uid));
  const byUid = new Map(all.map((row) => [row.uid, row]));
  const rowsOf = (uids: readonly number[]): Stored[] => uids.flatMap((uid) => byUid.get(uid) ?? []);
  const messages: SearchSource<Stored> = {
    facts: rowsOf,
    rows: rowsOf,
    header: (row) => row.bytes.toString('latin1', 0, row.index.headerLength),
    whole: (row) => row.bytes,
  };
  return { messages, source: columnsOf(all) };
}

function columnsOf(all: readonly Stored[]): ColumnSource {
  const behind = (after: number, limit: number): Stored[] => all.filter(({ uid }) => uid > after).slice(0, limit);
  return {
    base: (after, limit) => behind(after, limit).map((row) => ({ ...row, sentAt: row.index.sentAt })),
    keys: (column, after, limit) =>
      behind(after, limit).map(({ uid, index }) => ({ uid, key: String(index[KEYS[column]]) })),
    threading: (after, limit) =>
      behind(after, limit).map(({ uid, index: { refs, subject, baseSubject, envelope } }) => ({
        uid,
        refs: new Uint8Array(BigInt64Array.from(refs).buffer),
        subject,
        baseSubject,
        envelope,
      })),
    headers: (uids) =>
      all
        .filter(({ uid }) => uids.includes(uid))
        .map(({ uid, bytes, index }) => ({ uid, header: bytes.toString('latin1', 0, index.headerLength) })),
  };
}

const KEYS: Record<KeyColumn, keyof MessageIndex> = {
  subj: 'baseSubject',
  from_k: 'fromKey',
  to_k: 'toKey',
  cc_k: 'ccKey',
  from_d: 'fromDisplay',
  to_d: 'toDisplay',
};

function rowOf(messages: Messages, mailbox: number, uid: number): Stored[] {
  const message = messages.message(mailbox, uid);
  if (message === undefined) return [];
  const { bytes, receivedAt } = message;
  const index = indexMessage(bytes);
  const ids = { savedAt: 1_700_000_000_000, emailId: uid, threadId: uid };
  return [
    {
      uid,
      size: bytes.length,
      receivedAt,
      sentDay: index.sentDay,
      parts: index.parts,
      traceLength: 0,
      bytes,
      index,
      ...ids,
    },
  ];
}

import type { MailboxView } from '../../mail/imap/imap-store.ts';
import { searchMailbox } from '../../mail/imap/search/evaluate.ts';
import type { MessageRowFacts, SearchRow } from '../../mail/imap/search/evaluate.ts';
import type { SearchProgram } from '../../mail/imap/search/program.ts';
import { indexMessage } from '../../mail/message/indexer.ts';

interface Stored extends SearchRow, MessageRowFacts {
  bytes: Buffer;
}

/** Where {@link evaluateSearch} finds messages. */
export interface Messages {
  message(mailbox: number, uid: number): { bytes: Buffer; receivedAt: number } | undefined;
}

/** SEARCH as the store would do it, over messages in memory. */
export async function evaluateSearch(
  messages: Messages,
  view: MailboxView,
  program: SearchProgram,
): Promise<Uint32Array | { kind: 'too-long' }> {
  const outcome = await searchMailbox<Stored>(program, view, {
    facts: (uids) => uids.flatMap((uid) => rowOf(messages, view.mailbox, uid)),
    rows: (uids) => uids.flatMap((uid) => rowOf(messages, view.mailbox, uid)),
    header: (row) => row.bytes.toString('latin1', 0, indexMessage(row.bytes).headerLength),
    whole: (row) => row.bytes,
  });
  return outcome.kind === 'found' ? outcome.uids : outcome;
}

function rowOf(messages: Messages, mailbox: number, uid: number): Stored[] {
  const message = messages.message(mailbox, uid);
  if (message === undefined) return [];
  const { bytes, receivedAt } = message;
  const { parts, sentDay } = indexMessage(bytes);
  return [{ uid, size: bytes.length, receivedAt, sentDay, parts, traceLength: 0, bytes }];
}

import type { AppendOutcome, AppendSink, ImapStore, NewMessage } from '../../mail/imap/imap-store.ts';

/** Stores one message that was written to a sink, as APPEND does. */
export async function finishAppend(
  imap: ImapStore,
  sink: AppendSink,
  { mailbox, ...facts }: Omit<NewMessage, 'sink'> & { mailbox: string },
): Promise<
  Exclude<AppendOutcome, { kind: 'appended' }> | (Extract<AppendOutcome, { kind: 'appended' }> & { uid: number })
> {
  await sink.close();
  const into = await imap.mailbox(mailbox);
  if (into === undefined) throw new Error(`there is no mailbox ${mailbox}`);
  const outcome = await imap.finishAppends({ mailbox: into, messages: [{ sink, ...facts }] });
  return outcome.kind === 'appended' ? { ...outcome, uid: outcome.uids[0] ?? 0 } : outcome;
}

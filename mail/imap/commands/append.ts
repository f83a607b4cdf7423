import { no, ok } from '../tagged-response.ts';
import type { TaggedResponse } from '../tagged-response.ts';
import { AppendBatch, appendRefusal } from '../append/append-batch.ts';
import { AppendInput } from '../append/append-input.ts';
import { readMessages } from '../append/append-messages.ts';
import { LOGGED_IN } from '../command.ts';
import type { CommandCall, ImapCommand } from '../command.ts';
import type { AppendOutcome, ReplacedMessage } from '../imap-store.ts';
import type { Session } from '../session.ts';
import { uidSet } from '../wire/encoder.ts';

/** The target of APPEND, and what follows it up to the first literal. */
export interface AppendArguments {
  mailbox: string;
  text: Buffer;
}

/**
 * APPEND. RFC 9051 6.3.12, with several messages (RFC 3502) and with messages made of others (RFC 4469). Messages are streamed
 * to the store. A refusal is sent before the literal when the client waits for a continuation; otherwise the loop
 * discards the literal.
 */
export const append: ImapCommand<AppendArguments> = {
  name: 'APPEND',
  changes: true,
  states: LOGGED_IN,
  capabilities: ['BINARY', 'MULTIAPPEND', 'CATENATE', 'URL-PARTIAL'],
  parse: (d) => ({ mailbox: d.sp().mailbox(), text: d.rest() }),

  async run(session, into, call) {
    const outcome = await receiveMessages(session, into, call);
    if (outcome.kind === 'refused') return outcome.response;
    return ok(appendUid(outcome), outcome.uids.length === 1 ? 'Appended' : `Appended ${outcome.uids.length} messages`);
  },
};

export type StoredAppend = Extract<AppendOutcome, { kind: 'appended' }> | { kind: 'refused'; response: TaggedResponse };

/** `APPENDUID 38505 3955:3957`. RFC 4315 3. */
export function appendUid({ uidValidity, uids }: Extract<AppendOutcome, { kind: 'appended' }>): string {
  return `APPENDUID ${uidValidity} ${uidSet(uids)}`;
}

/** Reads the messages of APPEND or REPLACE and stores them in one commit. */
export async function receiveMessages(
  session: Session,
  { mailbox: name, text }: AppendArguments,
  { literal }: CommandCall,
  replaces?: ReplacedMessage,
): Promise<StoredAppend> {
  const mailbox = await session.store.mailbox(name);
  if (mailbox === undefined) return refused(no('TRYCREATE', 'No such mailbox'));
  const batch = new AppendBatch(session.store, session.context.limits);
  try {
    const refusal = await readMessages(session, new AppendInput(session, text, literal), batch, replaces !== undefined);
    if (refusal !== undefined) return refused(refusal);
    const outcome = await batch.commit(mailbox, replaces);
    return outcome.kind === 'appended' ? outcome : refused(appendRefusal(outcome));
  } finally {
    batch.abort();
  }
}

function refused(response: TaggedResponse): StoredAppend {
  return { kind: 'refused', response };
}

import type { MessageIndex } from '../../message/index-types.ts';
import { addBlob, type NewBlob, type NewBlobFile } from '../blob/blob.ts';
import { command, type Forbidden, type Stamp, type Write } from '../engine/types.ts';
import { agentName, type Actor } from '../actor.ts';
import { addEntry, entriesOf, removeEntries } from '../message/entry.ts';
import { addEmail } from '../message/message.ts';
import { overQuota, ownsMailbox, recordedByActor, RESERVED_MAILBOX } from './entry-commands.ts';
import { hasKeywords, type NamedFlags, type StoredFlags, storeKeywords } from './flags.ts';

/** One of the messages of {@link appendMessages}. */
export interface AppendedBlob {
  /** The file of a large message; null: the next `length` octets of `data`. */
  file: NewBlobFile | null;
  length: number;
  index: MessageIndex;
  flags: NamedFlags;
  receivedAt: number;
}

export type AppendMessagesResult =
  | { kind: 'appended'; mailbox: number; uidValidity: number; uids: number[]; modseq: number }
  | { kind: 'missing' }
  | { kind: 'over-quota' }
  | { kind: 'too-many-keywords' }
  | { kind: 'gone' }
  | Forbidden;

interface AppendMessagesInput {
  account: number;
  mailbox: number;
  messages: readonly AppendedBlob[];
  /** The short messages one after the other: a top-level field, where the limit of the queue counts it. */
  data: Uint8Array;
  /** The message that REPLACE expunges; null: none. */
  replaces: { mailbox: number; uid: number } | null;
  actor?: Actor | undefined;
}

/** APPEND of several messages, or REPLACE: all of it or nothing. RFC 3502 6.3.11, RFC 8508 3.1. */
export const appendMessages = command('append-messages', (tx, input: AppendMessagesInput, stamp) => {
  const { replaces, account, actor } = input;
  if (replaces === null) return append(tx, input, stamp);
  const change = { account, mailbox: replaces.mailbox, uids: [replaces.uid], actor };
  return recordedByActor(tx, change, stamp, () => replace(tx, input, replaces, stamp));
});

async function append(tx: Write, input: AppendMessagesInput, stamp: Stamp): Promise<AppendMessagesResult> {
  const { account, mailbox, messages, data } = input;
  if (!(await ownsMailbox(tx, account, mailbox))) return { kind: 'missing' };
  if (await tx.hooks.isReserved(tx, account, mailbox)) return RESERVED_MAILBOX;
  const octets = messages.reduce((sum, { index }) => sum + index.size, 0);
  if (await overQuota(tx, account, octets, messages.length)) return { kind: 'over-quota' };
  const by = await agentName(tx, account, input.actor);
  const flags = await flagsOf(tx, { account, by }, messages);
  if (flags === undefined) return { kind: 'too-many-keywords' };
  const added = { uids: [] as number[], uidValidity: 0, modseq: 0 };
  let at = 0;
  for (const [i, { file, length, index, receivedAt }] of messages.entries()) {
    const blob = await addBlob(tx, file ?? octetsAt(data, at, length));
    if (file === null) at += length;
    const stored = flags[i] as StoredFlags;
    const namedBy = hasKeywords(stored) ? by : null;
    const email = await addEmail(tx, { account, blob, index, trace: '', receivedAt, by, namedBy });
    const { uid, uidValidity, modseq } = await addEntry(tx, mailbox, email, stored, stamp);
    added.uids.push(uid);
    Object.assign(added, { uidValidity, modseq });
  }
  return { kind: 'appended', mailbox, ...added };
}

function octetsAt(data: Uint8Array, at: number, length: number): NewBlob {
  return { data: data.subarray(at, at + length) };
}

/** Flags of all messages; undefined: too many keywords. Before anything is stored, since the command must store nothing then. */
async function flagsOf(
  tx: Write,
  { account, by }: { account: number; by: string | null },
  messages: readonly AppendedBlob[],
): Promise<StoredFlags[] | undefined> {
  const flags: StoredFlags[] = [];
  for (const message of messages) {
    const stored = await storeKeywords(tx, account, message.flags, { by });
    if (stored === undefined) return undefined;
    flags.push(stored);
  }
  return flags;
}

async function replace(
  tx: Write,
  input: AppendMessagesInput,
  { mailbox, uid }: { mailbox: number; uid: number },
  stamp: Stamp,
): Promise<AppendMessagesResult> {
  const { account, actor } = input;
  const rows = (await ownsMailbox(tx, account, mailbox)) ? await entriesOf(tx, mailbox, [uid]) : [];
  if (rows.length === 0) return { kind: 'gone' };
  const emails = rows.map((row) => row.email_id);
  const allowed = await tx.hooks.beforeMove(tx, { account, emails, into: [], actor }, stamp);
  if (allowed.kind === 'forbidden') return allowed;
  const outcome = await append(tx, input, stamp);
  if (outcome.kind !== 'appended') return outcome;
  await removeEntries(tx, account, mailbox, rows, stamp);
  await allowed.settle(tx, stamp);
  return outcome;
}

import { command, type Forbidden, query, type Stamp, type Write } from '../engine/types.ts';
import { runIfState, type StateMismatch, type StateStep } from '../account/state-guard.ts';
import { newBlob, RESERVED_MAILBOX, overQuota } from '../mailbox/entry-commands.ts';
import { addBlob } from '../blob/blob.ts';
import { hasKeywords, type NamedFlags, storeKeywords } from '../mailbox/flags.ts';
import { agentName, type Actor } from '../actor.ts';
import { addEntry } from './entry.ts';
import { addEmail } from './message.ts';
import type { WrittenMessage } from '../blob/message-writer.ts';
import { missingMailboxes, storedEmail } from './visible-entries.ts';
import { stateOf } from '../account/type-state.ts';

/** Limit, since a command changes one or two rows for each. */
export const MAX_MAILBOXES_PER_EMAIL = 200;

/** Reports whether the quota has so many octets left; checked before they are written, and again in the commit. */
export const hasRoom = query(
  'has-room',
  async (rx, input: { account: number; more: number }): Promise<boolean> =>
    !(await overQuota(rx, input.account, input.more)),
);

/** Mailboxes, keywords and time of a new email. */
export interface EmailPlacementInput {
  mailboxes: readonly number[];
  flags: NamedFlags;
  /** ms UTC. */
  receivedAt: number;
}

export type StoreEmailResult =
  | ({ kind: 'placed'; email: number; thread: number; size: number } & StateStep)
  | { kind: 'missing'; mailboxes: number[] }
  | { kind: 'over-quota' }
  | { kind: 'too-many-keywords' }
  | Forbidden
  | StateMismatch;

/**
 * Adds a message to one or more mailboxes of an account. Always a new email; `by` is the agent that created it, `actor`
 * the credential.
 */
export const storeEmail = command(
  'store-email',
  async (
    tx,
    input: {
      account: number;
      ifState: number | null;
      by?: string | null;
      actor?: Actor | undefined;
    } & EmailPlacementInput &
      WrittenMessage,
    stamp,
  ): Promise<StoreEmailResult> => {
    const { account, index } = input;
    const by = input.by ?? (await agentName(tx, account, input.actor));
    return runIfState(tx, account, input.ifState, () =>
      insertIntoMailboxes(tx, account, { ...input, namedBy: by }, stamp, index.size, async () => {
        const blob = await addBlob(tx, newBlob(input));
        return { blob, index, trace: '', by };
      }),
    );
  },
);

export type CopyEmailResult = StoreEmailResult | { kind: 'not-found' };

/** Copies an email to another account unchanged. Null values are those of the original. RFC 8620 5.4. */
export const copyEmail = command(
  'copy-email',
  async (
    tx,
    input: {
      from: number;
      email: number;
      account: number;
      mailboxes: readonly number[];
      flags: NamedFlags | null;
      receivedAt: number | null;
      /** The agent that copies. */
      by: string | null;
      /** Expected state of the source account, if any. */
      ifFromState: number | null;
      ifState: number | null;
    },
    stamp,
  ): Promise<CopyEmailResult> => {
    const { from, email, account, flags, by, ifFromState } = input;
    if (ifFromState !== null && (await stateOf(tx, from, 'Email')) !== ifFromState) return { kind: 'state-mismatch' };
    const original = await storedEmail(tx, from, email);
    if (original === undefined) return { kind: 'not-found' };
    const where = {
      mailboxes: input.mailboxes,
      flags: flags ?? original.flags,
      receivedAt: input.receivedAt ?? original.receivedAt,
      namedBy: flags === null ? null : by,
    };
    return runIfState(tx, account, input.ifState, () =>
      placeCopy(tx, account, where, { ...original, copyOf: email }, stamp),
    );
  },
);

/** Places a copy of an email inside of another command. */
export function placeCopy(
  tx: Write,
  account: number,
  where: NamedPlacement,
  original: Message & { size: number },
  stamp: Stamp,
): ReturnType<typeof insertIntoMailboxes> {
  return insertIntoMailboxes(tx, account, where, stamp, original.size, () => Promise.resolve(original));
}

/** `namedBy`: the agent that chose the keywords, also those of a copy that are not its original's. */
type NamedPlacement = EmailPlacementInput & { namedBy: string | null };

type Message = Pick<Parameters<typeof addEmail>[1], 'blob' | 'index' | 'trace' | 'by' | 'copyOf'>;

async function insertIntoMailboxes(
  tx: Write,
  account: number,
  where: NamedPlacement,
  stamp: Stamp,
  size: number,
  message: () => Promise<Message>,
): Promise<StoreEmailResult | { kind: 'placed'; email: number; thread: number; size: number }> {
  const missing = await missingMailboxes(tx, account, where.mailboxes);
  if (missing.length > 0) return { kind: 'missing', mailboxes: missing };
  for (const mailbox of where.mailboxes) {
    if (await tx.hooks.isReserved(tx, account, mailbox)) return RESERVED_MAILBOX;
  }
  if (await overQuota(tx, account, size)) return { kind: 'over-quota' };
  const flags = await storeKeywords(tx, account, where.flags, { by: where.namedBy });
  if (flags === undefined) return { kind: 'too-many-keywords' };
  const namedBy = hasKeywords(flags) ? where.namedBy : null;
  const email = await addEmail(tx, { ...(await message()), namedBy, account, receivedAt: where.receivedAt });
  for (const mailbox of where.mailboxes) await addEntry(tx, mailbox, email, flags, stamp);
  return { kind: 'placed', email: email.id, thread: email.threadId, size: email.size };
}

import { command, query, type Stamp, type Write } from './engine/types.ts';
import { guarded, type StateMismatch, type StateStep } from './guarded.ts';
import type { Forbidden } from './approval-moves.ts';
import { isForApproval } from './approval-places.ts';
import { newBlob, NOTHING_FROM_OUTSIDE, overQuota } from './entry-commands.ts';
import { addBlob } from './blob.ts';
import { type FlagSet, storeKeywords } from './flags.ts';
import { agentsName, type Hand } from './hand.ts';
import { addEmail, addEntry } from './message.ts';
import type { WrittenMessage } from './message-writer.ts';
import { missingMailboxes, storedEmail } from './shown-entries.ts';
import { stateOf } from './type-state.ts';

/** A command touches one or two rows for each. */
export const MOST_MAILBOXES_PER_EMAIL = 200;

/** Whether the account has room for so many octets more; asked before they are written, and again as they are committed. */
export const hasRoom = query(
  'has-room',
  async (rx, input: { account: number; more: number }): Promise<boolean> =>
    !(await overQuota(rx, input.account, input.more)),
);

/** Where an email shall be, and what it shall carry. */
interface Place {
  mailboxes: readonly number[];
  flags: FlagSet;
  /** ms UTC. */
  receivedAt: number;
}

export type PlaceResult =
  | ({ kind: 'placed'; email: number; thread: number; size: number } & StateStep)
  | { kind: 'missing'; mailboxes: number[] }
  | { kind: 'over-quota' }
  | { kind: 'too-many-keywords' }
  | Forbidden
  | StateMismatch;

/**
 * Adds a message to an account, in one or more of its mailboxes. Always a new email; `by` is the agent that wrote it,
 * `hand` the password with which it was written.
 */
export const placeEmail = command(
  'place-email',
  async (
    tx,
    input: { account: number; ifState: number | null; by?: string | null; hand?: Hand | undefined } & Place &
      WrittenMessage,
    stamp,
  ): Promise<PlaceResult> => {
    const { account, index } = input;
    return guarded(tx, account, input.ifState, () =>
      place(tx, account, input, stamp, index.size, async () => ({
        blob: await addBlob(tx, newBlob(input)),
        index,
        trace: '',
        by: input.by ?? (await agentsName(tx, account, input.hand)),
      })),
    );
  },
);

export type CopyEmailResult = PlaceResult | { kind: 'not-found' };

/** Copies an email into another account, octet for octet. What is null is as on the original. RFC 8620 5.4. */
export const copyEmail = command(
  'copy-email',
  async (
    tx,
    input: {
      from: number;
      email: number;
      account: number;
      mailboxes: readonly number[];
      flags: FlagSet | null;
      receivedAt: number | null;
      /** State that the account copied from must have, if any. */
      ifFromState: number | null;
      ifState: number | null;
    },
    stamp,
  ): Promise<CopyEmailResult> => {
    const { from, account, ifFromState } = input;
    if (ifFromState !== null && (await stateOf(tx, from, 'Email')) !== ifFromState) return { kind: 'state-mismatch' };
    const original = await storedEmail(tx, from, input.email);
    if (original === undefined) return { kind: 'not-found' };
    const where = {
      mailboxes: input.mailboxes,
      flags: input.flags ?? original.flags,
      receivedAt: input.receivedAt ?? original.receivedAt,
    };
    return guarded(tx, account, input.ifState, () =>
      place(tx, account, where, stamp, original.size, () => Promise.resolve(original)),
    );
  },
);

type Message = Pick<Parameters<typeof addEmail>[1], 'blob' | 'index' | 'trace' | 'by'>;

async function place(
  tx: Write,
  account: number,
  where: Place,
  stamp: Stamp,
  size: number,
  message: () => Promise<Message>,
): Promise<PlaceResult | { kind: 'placed'; email: number; thread: number; size: number }> {
  const missing = await missingMailboxes(tx, account, where.mailboxes);
  if (missing.length > 0) return { kind: 'missing', mailboxes: missing };
  for (const mailbox of where.mailboxes) {
    if (await isForApproval(tx, account, mailbox)) return NOTHING_FROM_OUTSIDE;
  }
  if (await overQuota(tx, account, size)) return { kind: 'over-quota' };
  const flags = await storeKeywords(tx, account, where.flags);
  if (flags === undefined) return { kind: 'too-many-keywords' };
  const email = await addEmail(tx, { ...(await message()), account, receivedAt: where.receivedAt });
  for (const mailbox of where.mailboxes) await addEntry(tx, mailbox, email, flags, stamp);
  return { kind: 'placed', email: email.id, thread: email.threadId, size: email.size };
}

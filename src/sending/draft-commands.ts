import { changeEmails, destroyEmails } from '../../mail/store/email-change-commands.ts';
import { placeEmail } from '../../mail/store/email-commands.ts';
import { command, type Read } from '../../mail/store/engine/types.ts';
import { DRAFT, SEEN } from '../../mail/store/flags.ts';
import type { WrittenMessage } from '../../mail/store/message-writer.ts';
import { type Guard, rememberSent, sentBefore } from '../../mail/store/sent-before.ts';
import { isDraft } from './draft-queries.ts';

export type SavedDraft =
  | { kind: 'saved'; email: number }
  /** The same was written a moment ago: by who did not see the answer. */
  | { kind: 'there'; email: number }
  /** What it was to replace is not there any more as it was. */
  | { kind: 'changed' }
  | { kind: 'no-folder' }
  | { kind: 'over-quota' };

/** Whose drafts, and which agent writes; null: a person. */
interface By {
  account: number;
  by: string | null;
}

interface Saving {
  replaces: number | null;
  /** Of a new draft. */
  guard: Guard | null;
}

/** Puts a draft into the Drafts of an account, where people see and edit it, in the place of an older form of it. */
export const saveDraft = command(
  'save-draft',
  async (
    tx,
    { account, by, replaces, guard, ...message }: By & Saving & WrittenMessage,
    stamp,
  ): Promise<SavedDraft> => {
    const drafts = await folder(tx, account, 'drafts');
    if (drafts === undefined) return { kind: 'no-folder' };
    const there = await savedBefore(tx, account, guard, stamp.now);
    if (there !== undefined) return { kind: 'there', email: there };
    if (replaces !== null && !(await isDraft(tx, account, replaces))) return { kind: 'changed' };
    const where = { mailboxes: [drafts], flags: { bits: SEEN | DRAFT, keywords: [] }, receivedAt: stamp.now };
    const whose = replaces === null ? by : await madeBy(tx, replaces);
    const placed = await placeEmail.run(tx, { account, by: whose, ifState: null, ...where, ...message }, stamp);
    if (placed.kind === 'over-quota') return placed;
    if (placed.kind !== 'placed') throw new Error(`a draft was not placed: ${placed.kind}`);
    if (replaces !== null) await destroyEmails.run(tx, { account, by, emails: [replaces], ifState: null }, stamp);
    if (guard !== null) await rememberSent(tx, guard, String(placed.email), stamp);
    return { kind: 'saved', email: placed.email };
  },
);

/** One that anybody changed or removed meanwhile is not there: then another one is meant. */
async function savedBefore(rx: Read, account: number, guard: Guard | null, now: number): Promise<number | undefined> {
  const before = await sentBefore(rx, guard, now);
  const email = before?.kind === 'repeated' ? Number(before.trace) : 0;
  return (await isDraft(rx, account, email)) ? email : undefined;
}

/** What a person has begun stays a person's, whoever goes on with it: agents leave its conversation alone. */
async function madeBy(rx: Read, email: number): Promise<string | null> {
  const row = await rx.get<{ by: string | null }>('SELECT made_by AS "by" FROM email WHERE id = ?', email);
  return row?.by ?? null;
}

/** Moves a draft to the trash, where people find it. */
export const discardDraft = command(
  'discard-draft',
  async (tx, { account, by, email }: By & { email: number }, stamp): Promise<{ kind: 'discarded' | 'changed' }> => {
    if (!(await isDraft(tx, account, email))) return { kind: 'changed' };
    const trash = await folder(tx, account, 'trash');
    if (trash === undefined) await destroyEmails.run(tx, { account, by, emails: [email], ifState: null }, stamp);
    else {
      const mailboxes = { kind: 'replace', all: [trash] } as const;
      const changes = [{ email, keywords: null, mailboxes }];
      await changeEmails.run(tx, { account, by, changes, ifState: null }, stamp);
    }
    return { kind: 'discarded' };
  },
);

async function folder(rx: Read, account: number, role: string): Promise<number | undefined> {
  const row = await rx.get<{ id: number }>(
    'SELECT id FROM mailbox WHERE account_id = ? AND role = ? AND gone_at IS NULL',
    account,
    role,
  );
  return row?.id;
}

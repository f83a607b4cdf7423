import { markEditedEmail } from '../../mail/agents/taint/content.ts';
import { changeEmails, destroyEmails } from '../../mail/store/message/email-change-commands.ts';
import { storeEmail } from '../../mail/store/message/email-commands.ts';
import { command, type Read, query } from '../../mail/store/engine/types.ts';
import { DRAFT, SEEN } from '../../mail/store/mailbox/flags.ts';
import type { WrittenMessage } from '../../mail/store/blob/message-writer.ts';
import { type IdempotencyGuard, rememberSent, findEarlierSend } from '../../mail/store/queue/idempotency.ts';

export type SavedDraft =
  | { kind: 'saved'; email: number }
  /** The same draft was saved a moment ago: a repeated request. */
  | { kind: 'there'; email: number }
  /** The draft to replace was changed or removed. */
  | { kind: 'changed' }
  | { kind: 'no-folder' }
  | { kind: 'over-quota' };

/** Account of the drafts, and the writing agent; null: a person. */
interface DraftActor {
  account: number;
  by: string | null;
}

interface DraftTarget {
  replaces: number | null;
  /** Duplicate guard of a new draft. */
  guard: IdempotencyGuard | null;
}

/** Saves a draft in the Drafts folder of an account, replacing an older version. */
export const saveDraft = command(
  'save-draft',
  async (
    tx,
    { account, by, replaces, guard, ...message }: DraftActor & DraftTarget & WrittenMessage,
    stamp,
  ): Promise<SavedDraft> => {
    const drafts = await folder(tx, account, 'drafts');
    if (drafts === undefined) return { kind: 'no-folder' };
    const there = await findRepeated(tx, account, guard, stamp.now);
    if (there !== undefined) return { kind: 'there', email: there };
    if (replaces !== null && !(await isDraft(tx, account, replaces))) return { kind: 'changed' };
    const where = { mailboxes: [drafts], flags: { bits: SEEN | DRAFT, keywords: [] }, receivedAt: stamp.now };
    const whose = replaces === null ? by : await creatorOf(tx, replaces);
    const placed = await storeEmail.run(tx, { account, by: whose, ifState: null, ...where, ...message }, stamp);
    if (placed.kind === 'over-quota') return placed;
    if (placed.kind !== 'placed') throw new Error(`a draft was not placed: ${placed.kind}`);
    if (replaces !== null) await markEditedEmail(tx, { account, by, email: placed.email, replaces });
    if (replaces !== null) await destroyEmails.run(tx, { account, by, emails: [replaces], ifState: null }, stamp);
    if (guard !== null) await rememberSent(tx, guard, String(placed.email), stamp);
    return { kind: 'saved', email: placed.email };
  },
);

/** Finds the draft of a repeated request; undefined if it was changed or removed meanwhile. */
async function findRepeated(
  rx: Read,
  account: number,
  guard: IdempotencyGuard | null,
  now: number,
): Promise<number | undefined> {
  const before = await findEarlierSend(rx, guard, now);
  const email = before?.kind === 'repeated' ? Number(before.trace) : 0;
  return (await isDraft(rx, account, email)) ? email : undefined;
}

/** Returns the creator of a draft. A person's draft stays a person's, so agents leave its conversation alone. */
async function creatorOf(rx: Read, email: number): Promise<string | null> {
  const row = await rx.get<{ by: string | null }>('SELECT created_by AS "by" FROM email WHERE id = ?', email);
  return row?.by ?? null;
}

/** Moves a draft to the trash, where people find it. */
export const discardDraft = command(
  'discard-draft',
  async (
    tx,
    { account, by, email }: DraftActor & { email: number },
    stamp,
  ): Promise<{ kind: 'discarded' | 'changed' }> => {
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
    'SELECT id FROM mailbox WHERE account_id = ? AND role = ? AND deleted_at IS NULL',
    account,
    role,
  );
  return row?.id;
}

interface DraftVersion {
  id: number;
  thread: number;
  subject: string;
  to: string;
  refs: Uint8Array;
}

/** Mail programs replace an edited draft by a new one, before or after removing the old one, within this time. */
const REPLACE_WINDOW_MS = 10 * 60_000;
/** Newest drafts that are compared. */
const MAX_DRAFTS = 200;

/** True if an email of an account is in its Drafts folder. */
export async function isDraft(rx: Read, account: number | null, email: number): Promise<boolean> {
  const row = await rx.get(
    `SELECT 1 AS there FROM entry n JOIN mailbox m ON m.id = n.mailbox_id
     WHERE n.email_id = ? AND n.flags & 16 = 0 AND m.account_id = ? AND m.role = 'drafts' AND m.deleted_at IS NULL`,
    email,
    account,
  );
  return row !== undefined;
}

/**
 * Finds the current version of a draft: the email itself or its replacement; undefined if it was sent or removed, or
 * never was a draft. Messages are immutable, so editing a draft stores a new one. Most programs keep the Message-ID or
 * the thread; otherwise subject and recipients are compared.
 */
export const currentDraft = query(
  'draft-form',
  async (rx, { account, email }: { account: number; email: number }): Promise<number | undefined> => {
    if (await isDraft(rx, account, email)) return email;
    const old = await rx.get<DraftVersion & { at: number } & Record<string, number | string | Uint8Array>>(
      `SELECT e.id, e.thread_id AS thread, e.subj AS subject, e.to_k AS "to", m.refs, max(x.at) AS at
       FROM expunged x JOIN mailbox b ON b.id = x.mailbox_id JOIN email e ON e.id = x.email_id
         JOIN email_meta m ON m.email_id = e.id
       WHERE x.email_id = ? AND b.account_id = ? AND b.role = 'drafts' GROUP BY e.id, m.refs`,
      email,
      account,
    );
    if (old === undefined) return undefined;
    const later = await rx.all<DraftVersion & Record<string, number | string | Uint8Array>>(
      `SELECT e.id, e.thread_id AS thread, e.subj AS subject, e.to_k AS "to", m.refs
       FROM mailbox b JOIN entry n ON n.mailbox_id = b.id JOIN email e ON e.id = n.email_id
         JOIN email_meta m ON m.email_id = e.id
       WHERE b.account_id = ?1 AND b.role = 'drafts' AND b.deleted_at IS NULL AND n.flags & 16 = 0 AND e.id > ?2
         AND n.save_at >= ?3 ORDER BY n.uid DESC LIMIT ?4`,
      account,
      email,
      old.at - REPLACE_WINDOW_MS,
      MAX_DRAFTS,
    );
    return MATCHERS.map((matches) => later.find((one) => matches(one, old))).find((one) => one !== undefined)?.id;
  },
);

/** Matching rules, most reliable first. */
const MATCHERS: readonly ((one: DraftVersion, old: DraftVersion) => boolean)[] = [
  (one, old) => messageIdHash(one) !== 0n && messageIdHash(one) === messageIdHash(old),
  (one, old) => one.thread === old.thread,
  (one, old) => one.subject !== '' && one.subject === old.subject && one.to === old.to,
];

/** Hash of the Message-ID; 0 without one. */
function messageIdHash({ refs }: DraftVersion): bigint {
  return refs.byteLength < 8 ? 0n : Buffer.from(refs).readBigInt64LE(0);
}

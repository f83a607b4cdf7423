import { command, query, type Read, type Write } from './engine/types.ts';
import { DELETED, DRAFT, SEEN, type StoredFlags } from './flags.ts';
import { noteLessonOfSender } from './lesson-sender.ts';
import type { MailboxRole } from './mailbox.ts';

/** What an account says of a message: that it is junk, that it is not, or, without a word, that it was kept. */
export type Says = 'junk' | 'good' | 'kept';

/** What a mailbox is to a lesson; `rejects` holds what was refused. */
export type Place = MailboxRole | 'rejects' | null;

/** What mailboxes of an account are; those that it does not have are missing. */
export async function placesOf(
  rx: Read,
  account: number,
  mailboxes: readonly number[],
): Promise<Map<number, { place: Place; uidvalidity: number }>> {
  const rows = await rx.all<{ id: number; place: Place; uidvalidity: number }>(
    // The plus keeps the planner from looking at all mailboxes of the account.
    `SELECT m.id, coalesce(m.role, (SELECT 'rejects' FROM rejects_mailbox r WHERE r.account_id = m.account_id
       AND r.mailbox_id = m.id)) AS place, m.uidvalidity
     FROM mailbox m WHERE m.id IN (SELECT value FROM json_each(?)) AND +m.account_id = ? AND m.gone_at IS NULL`,
    JSON.stringify(mailboxes),
    account,
  );
  return new Map(rows.map(({ id, ...row }) => [id, row]));
}

/**
 * What it says of a message that it goes from one place to another. Out of Junk is good wherever it goes, but for the
 * trash: who tidies up says nothing. Out of the inbox to a place where mail is kept is good as well, if it was read.
 */
export function saidByMove(from: Place, to: Place, flags: number): Says | undefined {
  if (from === to || to === 'trash' || to === 'drafts' || to === 'sent') return undefined;
  if (to === 'junk') return 'junk';
  if (to === 'rejects') return undefined;
  if (from === 'junk' || from === 'rejects') return 'good';
  const filed = from === 'inbox' && (to === 'archive' || to === null);
  return filed && (flags & SEEN) !== 0 ? 'good' : undefined;
}

/** The same of a message that stands in several places, before and after. */
export function saidByPlaces(before: readonly Place[], after: readonly Place[], flags: number): Says | undefined {
  if (after.includes('junk')) return before.includes('junk') ? undefined : 'junk';
  const left = before.filter((place) => !after.includes(place));
  const said = left.flatMap((from) => after.map((to) => saidByMove(from, to, flags)));
  return said.find((one) => one !== undefined);
}

/** Keywords that say something of a message. RFC 8621 4.1.1. */
const TELLING = ['$junk', '$phishing', '$notjunk'];

/**
 * What it says that keywords of a message changed. In lower case. Programs take two steps to say the other thing, and in
 * between both kinds are there, which says nothing: so it counts as well that one kind went and left the other.
 */
export function saidByKeywords(before: readonly string[], now: readonly string[]): Says | undefined {
  const said = meantBy(now);
  if (said === undefined) return undefined;
  const isFresh = now.some((name) => TELLING.includes(name) && !before.includes(name));
  return isFresh || meantBy(before) !== said ? said : undefined;
}

/** What keywords say as they stand; both kinds at once, or none, say nothing. */
function meantBy(names: readonly string[]): 'junk' | 'good' | undefined {
  const isGood = names.includes('$notjunk');
  if (isGood === (names.includes('$junk') || names.includes('$phishing'))) return undefined;
  return isGood ? 'good' : 'junk';
}

/** Flags of one message, before and after. */
export interface FlagChange {
  email: number;
  before: StoredFlags;
  now: StoredFlags;
}

/** Notes what it says that messages got or lost these keywords, where they are among those that say something. */
export async function noteKeywords(
  tx: Write,
  account: number,
  given: readonly string[],
  changes: readonly FlagChange[],
): Promise<void> {
  if (!given.some((name) => TELLING.includes(name.toLowerCase()))) return;
  const slots = await tx.all<{ slot: number; lname: string }>(
    'SELECT slot, lname FROM keyword WHERE account_id = ? AND lname IN (SELECT value FROM json_each(?))',
    account,
    JSON.stringify(TELLING),
  );
  const names = ({ bits, kw }: StoredFlags): string[] => [
    ...slots.filter(({ slot }) => (bits & (1 << slot)) !== 0).map(({ lname }) => lname),
    ...kw,
  ];
  await noteSaid(
    tx,
    account,
    changes.map(({ email, before, now }) => ({ email, says: saidByKeywords(names(before), names(now)) })),
  );
}

/** Notes what was said of each message, if anything was. */
export async function noteSaid(
  tx: Write,
  account: number,
  said: readonly { email: number; says: Says | undefined }[],
): Promise<void> {
  for (const [says, some] of Map.groupBy(said, (one) => one.says)) {
    if (says !== undefined) {
      await noteLessons(
        tx,
        account,
        some.map(({ email }) => email),
        says,
      );
    }
  }
}

/** Writes down what was said of messages, in the commit in which it was said; a job learns it. */
export async function noteLessons(tx: Write, account: number, emails: readonly number[], says: Says): Promise<void> {
  if (emails.length === 0) return;
  await tx.run(
    `INSERT INTO lesson (account_id, email_id, says) SELECT ?1, value, ?2 FROM json_each(?3) WHERE true
     ON CONFLICT (account_id, email_id) DO UPDATE SET says = excluded.says WHERE excluded.says <> 'kept'`,
    account,
    says,
    JSON.stringify(emails),
  );
}

/** A lesson, and where its message is read from. */
export interface Lesson extends Record<string, number | string> {
  email: number;
  says: Says;
  blob: number;
  /** Octets of the blob. */
  size: number;
  headerLength: number;
  /** The part table, mail/message/parts.ts. */
  parts: string;
  /** 1: its author failed DMARC. */
  forged: number;
}

/**
 * Lessons of the first account behind `after` that has some, so that all come in turn. `gone` are about messages that are
 * not there any more.
 */
export const nextLessons = query(
  'next-lessons',
  async (
    rx,
    { after, limit }: { after: number; limit: number },
  ): Promise<{ account: number; lessons: Lesson[]; gone: number[] } | undefined> => {
    const next = await rx.get<{ account: number }>(
      'SELECT account_id AS account FROM lesson WHERE account_id > ? ORDER BY account_id LIMIT 1',
      after,
    );
    if (next === undefined) return undefined;
    const rows = await rx.all<{ email: number } & Record<string, number | string | null>>(
      `SELECT l.email_id AS email, l.says, e.blob_id AS blob, b.size, m.header_length AS headerLength, m.parts,
         coalesce(json_extract(j.trust, '$.auth.dmarc') = 'fail', 0) AS forged
       FROM lesson l LEFT JOIN email e ON e.id = l.email_id AND e.account_id = l.account_id
         LEFT JOIN email_meta m ON m.email_id = e.id LEFT JOIN blob b ON b.id = e.blob_id
         LEFT JOIN judged j ON j.email_id = e.id
       WHERE l.account_id = ? ORDER BY l.email_id LIMIT ? + 0`,
      next.account,
      limit,
    );
    const lessons = rows.filter((row) => row['blob'] !== null && row['parts'] !== null) as Lesson[];
    const there = new Set(lessons.map(({ email }) => email));
    return { ...next, lessons, gone: rows.map(({ email }) => email).filter((email) => !there.has(email)) };
  },
);

/**
 * Lessons that need no learning, or that are given up (`unread`: the next saying may go better); one that says something
 * else by now stays. `says` null: whatever it says.
 */
export const dropLessons = command(
  'drop-lessons',
  async (
    tx,
    input: { account: number; lessons: readonly { email: number; says: Says | null; unread?: true }[] },
    stamp,
  ): Promise<void> => {
    for (const { email, says, unread } of input.lessons) {
      const { changes } = await tx.run(
        'DELETE FROM lesson WHERE account_id = ?1 AND email_id = ?2 AND (?3 IS NULL OR says = ?3)',
        input.account,
        email,
        says,
      );
      if (changes === 0 || says === null || (await isLearned(tx, email, says))) continue;
      await noteLessonOfSender(tx, { account: input.account, email, says }, stamp);
      // Who marks a message and then moves it says it twice, and the second time may be taken up later.
      if (says !== 'kept' && unread !== true) await tx.run(HEARD, email, says);
    }
  },
);

const HEARD = 'INSERT INTO learned (email_id, says, weight) VALUES (?, ?, 0) ON CONFLICT DO NOTHING';

/** Then it counts already for who sent the message as well. */
async function isLearned(rx: Read, email: number, says: Says): Promise<boolean> {
  const known = await rx.get<{ says: Says }>('SELECT says FROM learned WHERE email_id = ?', email);
  return known !== undefined && (known.says === says || says === 'kept');
}

const DAY_MS = 86_400_000;
/** Read mail that lies in the inbox for so long was kept. */
const KEPT_AFTER_MS = 7 * DAY_MS;
/** An account is looked at so often. */
const LOOKED_EVERY_MS = DAY_MS;
const SLICE = 50;

/**
 * Takes up, for one account, read mail that has been left in the inbox for a week. Only accounts that have begun to teach
 * are looked at. Answers whether there may be more.
 */
export const noteKept = command('note-kept', async (tx, _: undefined, stamp): Promise<boolean> => {
  const until = stamp.now - KEPT_AFTER_MS;
  const memory = await tx.get<{ account_id: number; kept_until: number }>(
    'SELECT account_id, kept_until FROM word_memory WHERE kept_until < ? ORDER BY kept_until LIMIT 1',
    until - LOOKED_EVERY_MS,
  );
  if (memory === undefined) return false;
  const rows = await tx.all<{ email: number; at: number; flags: number }>(
    `SELECT n.email_id AS email, n.received_at AS at, n.flags FROM mailbox b JOIN entry n ON n.mailbox_id = b.id
     WHERE b.account_id = ? AND b.role = 'inbox' AND n.received_at > ? AND n.received_at <= ?
     ORDER BY n.received_at LIMIT ? + 0`,
    memory.account_id,
    memory.kept_until,
    until,
    SLICE,
  );
  const kept = rows.filter(({ flags }) => (flags & SEEN) !== 0 && (flags & (DRAFT | DELETED)) === 0);
  await noteLessons(
    tx,
    memory.account_id,
    kept.map(({ email }) => email),
    'kept',
  );
  const last = rows.length < SLICE ? until : (rows.at(-1)?.at ?? until);
  await tx.run('UPDATE word_memory SET kept_until = ? WHERE account_id = ?', last, memory.account_id);
  return true;
});

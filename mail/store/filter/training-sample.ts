import { command, query, type Read, type Write } from '../engine/types.ts';
import { DELETED, DRAFT, SEEN, type StoredFlags } from '../mailbox/flags.ts';
import { recordSenderSample } from './sender-sample.ts';
import type { MailboxRole } from '../mailbox/mailbox.ts';
import type { SampleCategory } from './sender-sample.ts';

/** Kind of a mailbox for training; `rejects` holds rejected mail. */
export type MailboxKind = MailboxRole | 'rejects' | null;

/** Kinds of mailboxes of an account; unknown ids are missing. */
export async function mailboxKinds(
  rx: Read,
  account: number,
  mailboxes: readonly number[],
): Promise<Map<number, { place: MailboxKind; uidvalidity: number }>> {
  const rows = await rx.all<{ id: number; place: MailboxKind; uidvalidity: number }>(
    // The plus prevents a scan of all mailboxes of the account.
    `SELECT m.id, coalesce(m.role, (SELECT 'rejects' FROM rejects_mailbox r WHERE r.account_id = m.account_id
       AND r.mailbox_id = m.id)) AS place, m.uidvalidity
     FROM mailbox m WHERE m.id IN (SELECT value FROM json_each(?)) AND +m.account_id = ? AND m.deleted_at IS NULL`,
    JSON.stringify(mailboxes),
    account,
  );
  return new Map(rows.map(({ id, ...row }) => [id, row]));
}

/**
 * Category that a move implies. Out of Junk is good, except to the trash, since deleting states nothing. Out of the
 * inbox to a mailbox where mail is stored is good if it was read.
 */
export function categoryOfMove(from: MailboxKind, to: MailboxKind, flags: number): SampleCategory | undefined {
  if (from === to || to === 'trash' || to === 'drafts' || to === 'sent') return undefined;
  if (to === 'junk') return 'junk';
  if (to === 'rejects') return undefined;
  if (from === 'junk' || from === 'rejects') return 'good';
  const filed = from === 'inbox' && (to === 'archive' || to === null);
  return filed && (flags & SEEN) !== 0 ? 'good' : undefined;
}

/** Category that a change of several mailboxes implies. */
export function categoryOfMailboxes(
  before: readonly MailboxKind[],
  after: readonly MailboxKind[],
  flags: number,
): SampleCategory | undefined {
  if (after.includes('junk')) return before.includes('junk') ? undefined : 'junk';
  const left = before.filter((place) => !after.includes(place));
  const said = left.flatMap((from) => after.map((to) => categoryOfMove(from, to, flags)));
  return said.find((one) => one !== undefined);
}

/** Keywords that classify a message. RFC 8621 4.1.1. */
const TRAINING_KEYWORDS = ['$junk', '$phishing', '$notjunk'];

/** Reports whether a keyword classifies messages. */
export function isTrainingKeyword(name: string): boolean {
  return TRAINING_KEYWORDS.includes(name.toLowerCase());
}

/**
 * Category that a change of keywords (lower case) implies. Clients change the classification in two steps with both
 * kinds present in between, which states nothing; so removing one kind while the other stays counts too.
 */
export function categoryOfKeywordChange(before: readonly string[], now: readonly string[]): SampleCategory | undefined {
  const said = categoryOfKeywords(now);
  if (said === undefined) return undefined;
  const isFresh = now.some((name) => TRAINING_KEYWORDS.includes(name) && !before.includes(name));
  return isFresh || categoryOfKeywords(before) !== said ? said : undefined;
}

/** Category of the present keywords; both kinds or none: undefined. */
function categoryOfKeywords(names: readonly string[]): 'junk' | 'good' | undefined {
  const isGood = names.includes('$notjunk');
  if (isGood === (names.includes('$junk') || names.includes('$phishing'))) return undefined;
  return isGood ? 'good' : 'junk';
}

/** Flags of one message before and after a change. */
export interface MessageFlagChange {
  email: number;
  before: StoredFlags;
  now: StoredFlags;
}

/** Records samples for messages whose classifying keywords changed. */
export async function recordKeywordSamples(
  tx: Write,
  account: number,
  given: readonly string[],
  changes: readonly MessageFlagChange[],
): Promise<void> {
  if (!given.some(isTrainingKeyword)) return;
  const slots = await tx.all<{ slot: number; lname: string }>(
    `SELECT slot, lname FROM keyword WHERE account_id = ? AND lname IN (SELECT value FROM json_each(?, '$'))`,
    account,
    JSON.stringify(TRAINING_KEYWORDS),
  );
  const names = ({ bits, kw }: StoredFlags): string[] => [
    ...slots.filter(({ slot }) => (bits & (1 << slot)) !== 0).map(({ lname }) => lname),
    ...kw,
  ];
  await recordFlagSamples(
    tx,
    account,
    changes.map(({ email, before, now }) => ({ email, says: categoryOfKeywordChange(names(before), names(now)) })),
  );
}

/** Records a sample for each message whose flags imply a category. */
export async function recordFlagSamples(
  tx: Write,
  account: number,
  said: readonly { email: number; says: SampleCategory | undefined }[],
): Promise<void> {
  for (const [says, some] of Map.groupBy(said, (one) => one.says)) {
    if (says !== undefined) {
      await recordTrainingSamples(
        tx,
        account,
        some.map(({ email }) => email),
        says,
      );
    }
  }
}

/** Records training samples in the commit of the user's action; a job trains them. */
export async function recordTrainingSamples(
  tx: Write,
  account: number,
  emails: readonly number[],
  says: SampleCategory,
): Promise<void> {
  if (emails.length === 0) return;
  await tx.run(
    `INSERT INTO training_sample (account_id, email_id, category) SELECT ?1, value, ?2 FROM json_each(?3) WHERE true
     ON CONFLICT (account_id, email_id) DO UPDATE SET category = excluded.category WHERE excluded.category <> 'kept'`,
    account,
    says,
    JSON.stringify(emails),
  );
}

/** A pending training sample, with the location of its message. */
export interface TrainingSample extends Record<string, number | string> {
  email: number;
  category: SampleCategory;
  blob: number;
  /** Octets of the blob. */
  size: number;
  headerLength: number;
  /** The table of MIME parts. */
  parts: string;
  /** 1: the From address failed DMARC. */
  forged: number;
}

/**
 * Training samples of the first account after `after` that has some, so that accounts take turns. `gone`: samples of
 * deleted messages.
 */
export const nextTrainingSamples = query(
  'next-training-samples',
  async (
    rx,
    { after, limit }: { after: number; limit: number },
  ): Promise<{ account: number; samples: TrainingSample[]; gone: number[] } | undefined> => {
    const next = await rx.get<{ account: number }>(
      'SELECT account_id AS account FROM training_sample WHERE account_id > ? ORDER BY account_id LIMIT 1',
      after,
    );
    if (next === undefined) return undefined;
    const rows = await rx.all<{ email: number } & Record<string, number | string | null>>(
      `SELECT l.email_id AS email, l.category, e.blob_id AS blob, b.size,
         ifnull(i.header_length, v.header_length) AS headerLength, ifnull(i.parts, v.parts) AS parts,
         iif(json_extract(j.trust, '$.auth.dmarc') = 'fail', 1, 0) AS forged
       FROM training_sample l LEFT JOIN email e ON e.id = l.email_id AND e.account_id = l.account_id
         LEFT JOIN message_index i ON i.blob_id = e.blob_id
         LEFT JOIN email_meta_v1 v ON i.blob_id IS NULL AND v.email_id = e.id LEFT JOIN blob b ON b.id = e.blob_id
         LEFT JOIN filter_result j ON j.email_id = e.id
       WHERE l.account_id = ? ORDER BY l.email_id LIMIT ? + 0`,
      next.account,
      limit,
    );
    const samples = rows.filter((row) => row['blob'] !== null && row['parts'] !== null) as TrainingSample[];
    const there = new Set(samples.map(({ email }) => email));
    return { ...next, samples, gone: rows.map(({ email }) => email).filter((email) => !there.has(email)) };
  },
);

/**
 * Deletes samples that need no training or cannot be read (`unread`: a later sample may be readable). A sample whose
 * category changed meanwhile stays. `says` null: any category.
 */
export const deleteTrainingSamples = command(
  'delete-training-samples',
  async (
    tx,
    input: { account: number; samples: readonly { email: number; says: SampleCategory | null; unread?: true }[] },
    stamp,
  ): Promise<void> => {
    for (const { email, says, unread } of input.samples) {
      const { changes } = await tx.run(
        'DELETE FROM training_sample WHERE account_id = ?1 AND email_id = ?2 AND (?3 IS NULL OR category = ?3)',
        input.account,
        email,
        says,
      );
      if (changes === 0 || says === null || (await isTrained(tx, email, says))) continue;
      await recordSenderSample(tx, { account: input.account, email, says }, stamp);
      // Clients that mark and then move a message record it twice, and the second one may be processed later.
      if (says !== 'kept' && unread !== true) await tx.run(INSERT_TRAINED, email, says);
    }
  },
);

const INSERT_TRAINED =
  'INSERT INTO trained_sample (email_id, category, weight) VALUES (?, ?, 0) ON CONFLICT DO NOTHING';

/** Reports whether the sample is already trained, hence counted in the sender's reputation. */
async function isTrained(rx: Read, email: number, says: SampleCategory): Promise<boolean> {
  const known = await rx.get<{ says: SampleCategory }>(
    'SELECT category AS says FROM trained_sample WHERE email_id = ?',
    email,
  );
  return known !== undefined && (known.says === says || says === 'kept');
}

const DAY_MS = 86_400_000;
/** Age at which read mail in the inbox counts as kept. */
const KEPT_AFTER_MS = 7 * DAY_MS;
/** Interval between checks of an account. */
const CHECK_INTERVAL_MS = DAY_MS;
const SLICE = 50;

/**
 * Records samples of one account for read mail that stayed in the inbox for a week. Only accounts with trained samples
 * are checked. Returns whether there may be more.
 */
export const recordKeptMail = command('record-kept', async (tx, _: undefined, stamp): Promise<boolean> => {
  const until = stamp.now - KEPT_AFTER_MS;
  const memory = await tx.get<{ account_id: number; sampled_until: number }>(
    'SELECT account_id, sampled_until FROM word_corpus WHERE sampled_until < ? ORDER BY sampled_until LIMIT 1',
    until - CHECK_INTERVAL_MS,
  );
  if (memory === undefined) return false;
  const rows = await tx.all<{ email: number; at: number; flags: number }>(
    `SELECT n.email_id AS email, n.received_at AS at, n.flags FROM mailbox b JOIN entry n ON n.mailbox_id = b.id
     WHERE b.account_id = ? AND b.role = 'inbox' AND n.received_at > ? AND n.received_at <= ?
     ORDER BY n.received_at LIMIT ? + 0`,
    memory.account_id,
    memory.sampled_until,
    until,
    SLICE,
  );
  const kept = rows.filter(({ flags }) => (flags & SEEN) !== 0 && (flags & (DRAFT | DELETED)) === 0);
  await recordTrainingSamples(
    tx,
    memory.account_id,
    kept.map(({ email }) => email),
    'kept',
  );
  const last = rows.length < SLICE ? until : (rows.at(-1)?.at ?? until);
  await tx.run('UPDATE word_corpus SET sampled_until = ? WHERE account_id = ?', last, memory.account_id);
  return true;
});

import type { MessageIndex } from '../../message/index-types.ts';
import { lookup, type Read } from '../engine/types.ts';
import { DELETED, type NamedFlags, kwList } from '../mailbox/flags.ts';

/** One email in one mailbox, as JMAP shows it: without \Deleted, in an existing mailbox. */
export interface VisibleEntry {
  email: number;
  mailbox: number;
  uid: number;
}

/** Visible entries of emails of an account; other accounts' emails are excluded. */
export async function visibleEntries(rx: Read, account: number, emails: readonly number[]): Promise<VisibleEntry[]> {
  return rx.all<VisibleEntry & Record<string, number>>(
    // CROSS JOIN prevents a scan of every message in the mailboxes.
    `SELECT n.email_id AS email, n.mailbox_id AS mailbox, n.uid FROM (SELECT DISTINCT value FROM json_each(?)) j
     CROSS JOIN entry n INDEXED BY entry_email ON n.email_id = j.value CROSS JOIN mailbox m ON m.id = n.mailbox_id
     WHERE n.flags & 16 = 0 AND m.account_id = ? AND m.deleted_at IS NULL ORDER BY n.mailbox_id`,
    JSON.stringify(emails),
    account,
  );
}

/** Visible mailboxes of an email, with its thread; none: not visible in this account. */
export const emailMailboxes = lookup(
  'email-mailboxes',
  (
    rx,
    { account, email }: { account: number; email: number },
  ): Promise<{ email: number; thread: number; mailbox: number }[]> =>
    rx.all<{ email: number; thread: number; mailbox: number }>(
      `SELECT e.id AS email, e.thread_id AS thread, n.mailbox_id AS mailbox FROM entry n
       JOIN mailbox m ON m.id = n.mailbox_id JOIN email e ON e.id = n.email_id
       WHERE n.email_id = ? AND n.flags & 16 = 0 AND m.account_id = ? AND m.deleted_at IS NULL ORDER BY n.mailbox_id`,
      email,
      account,
    ),
);

/** Those of the mailboxes that the account does not have. */
export async function missingMailboxes(rx: Read, account: number, mailboxes: readonly number[]): Promise<number[]> {
  const rows = await rx.all<{ id: number }>(
    `SELECT id FROM mailbox WHERE id IN (SELECT value FROM json_each(?)) AND account_id = ? AND deleted_at IS NULL`,
    JSON.stringify(mailboxes),
    account,
  );
  const there = new Set(rows.map((row) => row.id));
  return mailboxes.filter((mailbox) => !there.has(mailbox));
}

/** An email with its octets, index and flags, for a copy to another account. */
export interface StoredEmail {
  blob: number;
  trace: string;
  index: MessageIndex;
  /** Octets of trace and blob. */
  size: number;
  receivedAt: number;
  flags: NamedFlags;
}

interface Joined extends Record<string, number | string | Uint8Array | null> {
  blob_id: number;
  redacted_from: number | null;
  trace: string;
  size: number;
  received_at: number;
  sent_at: number;
  sent_day: number;
  attach: number;
  subj: string;
  from_k: string;
  to_k: string;
  cc_k: string;
  from_d: string;
  to_d: string;
  header_length: number;
  envelope: string;
  bodystructure: string;
  parts: string;
  subject: string;
  preview: string;
  refs: Uint8Array;
  flags: number;
  kw: string | null;
}

/** A visible email of the account, or undefined. A given entry of it is read also if it has \Deleted, as by IMAP. */
export async function storedEmail(
  rx: Read,
  account: number,
  email: number,
  entry?: { mailbox: number; uid: number },
): Promise<StoredEmail | undefined> {
  const shown = entry ?? (await visibleEntries(rx, account, [email]))[0];
  if (shown === undefined) return undefined;
  const row = await rx.get<Joined>(
    `SELECT e.blob_id, e.redacted_from, e.trace, e.size, e.received_at, e.sent_at, e.sent_day, e.attach, e.subj, e.from_k, e.to_k, e.cc_k,
       e.from_d, e.to_d, m.header_length, m.envelope, m.bodystructure, m.parts, m.subject, m.preview, m.refs, n.flags, n.kw
     FROM email e JOIN email_meta m ON m.email_id = e.id JOIN entry n ON n.email_id = e.id
     WHERE e.id = ? AND n.mailbox_id = ? AND n.uid = ?`,
    email,
    shown.mailbox,
    shown.uid,
  );
  if (row === undefined) return undefined;
  const { blob_id: blob, trace, size, received_at: receivedAt } = row;
  return { blob, trace, index: indexOf(row), size, receivedAt, flags: await namedFlags(rx, account, row) };
}

/** The index of a stored message, without values that are used only on arrival. */
function indexOf(row: Joined): MessageIndex {
  return {
    size: row.size - row.trace.length,
    headerLength: row.header_length,
    envelope: row.envelope,
    bodyStructure: row.bodystructure,
    parts: row.parts,
    preview: row.preview,
    subject: row.subject,
    baseSubject: row.subj,
    refs: hashes(row.refs),
    messageId: '',
    sentAt: row.sent_at,
    sentDay: row.sent_day,
    fromKey: row.from_k,
    toKey: row.to_k,
    ccKey: row.cc_k,
    fromDisplay: row.from_d,
    toDisplay: row.to_d,
    hasAttachment: row.attach === 1,
    received: 0,
    flattened: false,
    ...(row.redacted_from !== null && { secretLink: true }),
  };
}

function hashes(refs: Uint8Array): bigint[] {
  // Copied, since a blob may be unaligned for 64-bit numbers.
  return [...new BigInt64Array(Uint8Array.from(refs).buffer)];
}

/** Keywords by name, since slots are specific to an account. */
async function namedFlags(rx: Read, account: number, row: { flags: number; kw: string | null }): Promise<NamedFlags> {
  const slots = await rx.all<{ slot: number; name: string }>(
    'SELECT slot, name FROM keyword WHERE account_id = ?',
    account,
  );
  const names = slots.filter(({ slot }) => (row.flags & (1 << slot)) !== 0).map(({ name }) => name);
  return { bits: row.flags & (DELETED - 1), keywords: [...names, ...kwList(row.kw)] };
}

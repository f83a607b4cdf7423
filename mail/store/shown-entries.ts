import type { MessageIndex } from '../message/index-types.ts';
import { query, type Read } from './engine/types.ts';
import { DELETED, type FlagSet, kwList } from './flags.ts';

/** One email in one mailbox, as JMAP shows it: without \Deleted, in a mailbox that is there. */
export interface ShownEntry {
  email: number;
  mailbox: number;
  uid: number;
}

/** Where emails of an account are shown, mailbox by mailbox. Those of another account are not there. */
export async function shownEntries(rx: Read, account: number, emails: readonly number[]): Promise<ShownEntry[]> {
  return rx.all<ShownEntry & Record<string, number>>(
    // Left to itself the planner begins with the mailboxes and looks at every message in them.
    `SELECT n.email_id AS email, n.mailbox_id AS mailbox, n.uid FROM (SELECT DISTINCT value FROM json_each(?)) j
     CROSS JOIN entry n INDEXED BY entry_email ON n.email_id = j.value CROSS JOIN mailbox m ON m.id = n.mailbox_id
     WHERE n.flags & 16 = 0 AND m.account_id = ? AND m.gone_at IS NULL ORDER BY n.mailbox_id`,
    JSON.stringify(emails),
    account,
  );
}

/** Where an email is shown, with its thread; none: nowhere in this account. */
export const emailPlaces = query(
  'email-places',
  (
    rx,
    { account, email }: { account: number; email: number },
  ): Promise<{ email: number; thread: number; mailbox: number }[]> =>
    rx.all<{ email: number; thread: number; mailbox: number }>(
      `SELECT e.id AS email, e.thread_id AS thread, n.mailbox_id AS mailbox FROM entry n
       JOIN mailbox m ON m.id = n.mailbox_id JOIN email e ON e.id = n.email_id
       WHERE n.email_id = ? AND n.flags & 16 = 0 AND m.account_id = ? AND m.gone_at IS NULL ORDER BY n.mailbox_id`,
      email,
      account,
    ),
);

/** Those of the mailboxes that the account does not have. */
export async function missingMailboxes(rx: Read, account: number, mailboxes: readonly number[]): Promise<number[]> {
  const rows = await rx.all<{ id: number }>(
    `SELECT id FROM mailbox WHERE id IN (SELECT value FROM json_each(?)) AND account_id = ? AND gone_at IS NULL`,
    JSON.stringify(mailboxes),
    account,
  );
  const there = new Set(rows.map((row) => row.id));
  return mailboxes.filter((mailbox) => !there.has(mailbox));
}

/** An email as it is kept, to be put into another account: its octets, what they say, and what it carries. */
export interface StoredEmail {
  blob: number;
  trace: string;
  index: MessageIndex;
  /** Octets of trace and blob. */
  size: number;
  receivedAt: number;
  flags: FlagSet;
}

interface Joined extends Record<string, number | string | Uint8Array | null> {
  blob_id: number;
  veiled_from: number | null;
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

/** An email that is shown in the account, or undefined. */
export async function storedEmail(rx: Read, account: number, email: number): Promise<StoredEmail | undefined> {
  const [shown] = await shownEntries(rx, account, [email]);
  if (shown === undefined) return undefined;
  const row = await rx.get<Joined>(
    `SELECT e.blob_id, e.veiled_from, e.trace, e.size, e.received_at, e.sent_at, e.sent_day, e.attach, e.subj, e.from_k, e.to_k, e.cc_k,
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

/** The index of a message that was stored; what only its arrival was decided by is not kept. */
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
    ...(row.veiled_from !== null && { secretLink: true }),
  };
}

function hashes(refs: Uint8Array): bigint[] {
  // A buffer of its own: a blob may begin at an octet that no 64-bit number may begin at.
  return [...new BigInt64Array(Uint8Array.from(refs).buffer)];
}

/** Keywords by name: slots mean something inside one account only. */
async function namedFlags(rx: Read, account: number, row: { flags: number; kw: string | null }): Promise<FlagSet> {
  const slots = await rx.all<{ slot: number; name: string }>(
    'SELECT slot, name FROM keyword WHERE account_id = ?',
    account,
  );
  const names = slots.filter(({ slot }) => (row.flags & (1 << slot)) !== 0).map(({ name }) => name);
  return { bits: row.flags & (DELETED - 1), keywords: [...names, ...kwList(row.kw)] };
}

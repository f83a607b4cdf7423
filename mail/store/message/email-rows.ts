import { query, type Read } from '../engine/types.ts';
import { DELETED, kwList } from '../mailbox/flags.ts';
import { stateOf } from '../account/type-state.ts';

/** One visible message of an account for JMAP's Email. */
export interface EmailRow {
  id: number;
  threadId: number;
  /** Octets of trace and blob. */
  size: number;
  /** ms UTC. */
  receivedAt: number;
  hasAttachment: boolean;
  /** Header lines of this recipient before the blob; one character an octet. */
  trace: string;
  blob: number;
  /** Octet of the blob from which agents get redacted content; null: nothing is redacted. */
  redactedFrom: number | null;
  mailboxes: number[];
  /** Combined flags of all entries. */
  flags: number;
  /** Keywords without a slot, in lower case. */
  keywords: string[];
  listing?: EmailListing;
  structure?: EmailStructure;
}

/** Data of a line in a message list. */
export interface EmailListing {
  headerLength: number;
  /** Wire-ready ENVELOPE. */
  envelope: string;
  preview: string;
}

export interface EmailStructure {
  /** Wire-ready BODYSTRUCTURE. */
  bodyStructure: string;
  /** The table of MIME parts. */
  parts: string;
}

/** Maximum octets of ENVELOPE, structures and part tables of one lookup. */
const MAX_STRUCTURE_OCTETS = 8 * 1024 * 1024;

export interface EmailRows {
  /** Mod-sequence of the last change of any message. */
  state: number;
  /** Unordered. Without messages that are unknown, of other accounts, or \Deleted everywhere. */
  rows: EmailRow[];
  /** Keyword in lower case by its bit. */
  slots: ReadonlyMap<number, string>;
}

interface Fact extends Record<string, number | string | null> {
  id: number;
  thread_id: number;
  size: number;
  received_at: number;
  attach: number;
  trace: string;
  blob_id: number;
  redacted_from: number | null;
}

interface Entry extends Record<string, number | string | null> {
  email_id: number;
  mailbox_id: number;
  flags: number;
  kw: string | null;
}

/** Messages of one account by ids, in one snapshot with their state. Undefined: the data exceeds one lookup. */
export const emailRows = query(
  'email-rows',
  async (
    rx,
    input: {
      account: number;
      ids: readonly number[];
      listing: boolean;
      structure: boolean;
      /** The only mailboxes that the reader sees; undefined: all. */
      within?: readonly number[] | undefined;
    },
  ): Promise<EmailRows | undefined> => {
    const { account, listing, structure } = input;
    const ids = JSON.stringify(input.ids);
    if (listing && !(await fits(rx, ids, structure))) return undefined;
    const facts = await rx.all<Fact>(
      // The plus prevents a scan of all messages of the account.
      `SELECT id, thread_id, size, received_at, attach, trace, blob_id, redacted_from FROM email
       WHERE id IN (SELECT value FROM json_each(?)) AND +account_id = ?`,
      ids,
      account,
    );
    const entries = await shownEntries(rx, account, ids);
    const rows = withEntries(facts, input.within === undefined ? entries : entriesWithin(entries, input.within));
    if (listing) await addListing(rx, rows, ids);
    if (structure) await addStructure(rx, rows, ids);
    return { state: await stateOf(rx, account, 'Email'), rows: [...rows.values()], slots: await slotsOf(rx, account) };
  },
);

/** Reads only the lengths, which are at the head of a row. */
async function fits(rx: Read, ids: string, structure: boolean): Promise<boolean> {
  const sum = await rx.get<{ octets: number | null }>(structure ? STRUCTURE_OCTETS : ENVELOPE_OCTETS, ids);
  return (sum?.octets ?? 0) <= MAX_STRUCTURE_OCTETS;
}

// Not from the view email_meta: its columns are expressions, which read the texts.
const INDEXES = `FROM email e LEFT JOIN message_index i ON i.blob_id = e.blob_id
  LEFT JOIN email_meta_v1 v ON i.blob_id IS NULL AND v.email_id = e.id WHERE e.id IN (SELECT value FROM json_each(?))`;

const ENVELOPE_OCTETS = `SELECT sum(ifnull(octet_length(i.envelope), octet_length(v.envelope))) AS octets ${INDEXES}`;

const STRUCTURE_OCTETS = `SELECT sum(ifnull(octet_length(i.envelope) + octet_length(i.bodystructure) + octet_length(i.parts),
  octet_length(v.envelope) + octet_length(v.bodystructure) + octet_length(v.parts))) AS octets ${INDEXES}`;

/** Entries without \Deleted in existing mailboxes. */
function shownEntries(rx: Read, account: number, ids: string): Promise<Entry[]> {
  // CROSS JOIN prevents a scan of every message in the mailboxes.
  return rx.all<Entry>(
    `SELECT n.email_id, n.mailbox_id, n.flags, n.kw FROM entry n INDEXED BY entry_email
     CROSS JOIN mailbox b ON b.id = n.mailbox_id
     WHERE n.email_id IN (SELECT value FROM json_each(?)) AND n.flags & ? = 0 AND b.account_id = ? AND b.deleted_at IS NULL`,
    ids,
    DELETED,
    account,
  );
}

function entriesWithin(entries: readonly Entry[], mailboxes: readonly number[]): Entry[] {
  const seen = new Set(mailboxes);
  return entries.filter((entry) => seen.has(entry.mailbox_id));
}

function withEntries(facts: readonly Fact[], entries: readonly Entry[]): Map<number, EmailRow> {
  const rows = new Map(facts.map((fact) => [fact.id, toRow(fact)]));
  for (const { email_id, mailbox_id, flags, kw } of entries) {
    const row = rows.get(email_id);
    if (row === undefined) continue;
    row.mailboxes.push(mailbox_id);
    row.flags |= flags;
    row.keywords.push(...kwList(kw));
  }
  for (const [id, row] of rows) if (row.mailboxes.length === 0) rows.delete(id);
  return rows;
}

function toRow(fact: Fact): EmailRow {
  return {
    id: fact.id,
    threadId: fact.thread_id,
    size: fact.size,
    receivedAt: fact.received_at,
    hasAttachment: fact.attach === 1,
    trace: fact.trace,
    blob: fact.blob_id,
    redactedFrom: fact.redacted_from,
    mailboxes: [],
    flags: 0,
    keywords: [],
  };
}

async function addListing(rx: Read, rows: ReadonlyMap<number, EmailRow>, ids: string): Promise<void> {
  const found = await rx.all<{ email_id: number; header_length: number; envelope: string; preview: string }>(
    'SELECT email_id, header_length, envelope, preview FROM email_meta WHERE email_id IN (SELECT value FROM json_each(?))',
    ids,
  );
  for (const { email_id, header_length, envelope, preview } of found) {
    const row = rows.get(email_id);
    if (row !== undefined) row.listing = { headerLength: header_length, envelope, preview };
  }
}

async function addStructure(rx: Read, rows: ReadonlyMap<number, EmailRow>, ids: string): Promise<void> {
  const found = await rx.all<{ email_id: number; bodystructure: string; parts: string }>(
    'SELECT email_id, bodystructure, parts FROM email_meta WHERE email_id IN (SELECT value FROM json_each(?))',
    ids,
  );
  for (const { email_id, bodystructure, parts } of found) {
    const row = rows.get(email_id);
    if (row !== undefined) row.structure = { bodyStructure: bodystructure, parts };
  }
}

async function slotsOf(rx: Read, account: number): Promise<Map<number, string>> {
  const rows = await rx.all<{ slot: number; lname: string }>(
    'SELECT slot, lname FROM keyword WHERE account_id = ?',
    account,
  );
  return new Map(rows.map(({ slot, lname }) => [slot, lname]));
}

/**
 * Ids of all visible messages of an account; undefined if it has more than `most`, including hidden ones, which bounds
 * the scan.
 */
export const allEmailIds = query(
  'all-email-ids',
  async (rx, input: { account: number; most: number }): Promise<number[] | undefined> => {
    const { account, most } = input;
    const owner = await rx.get<{ used_count: number }>('SELECT used_count FROM account WHERE id = ?', account);
    if ((owner?.used_count ?? 0) > most) return undefined;
    const rows = await rx.all<{ id: number }>(
      `SELECT DISTINCT n.email_id AS id FROM mailbox b JOIN entry n ON n.mailbox_id = b.id
       WHERE b.account_id = ? AND b.deleted_at IS NULL AND n.flags & ? = 0 ORDER BY id`,
      account,
      DELETED,
    );
    return rows.map(({ id }) => id);
  },
);

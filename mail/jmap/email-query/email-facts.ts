import type { Read } from '../../store/engine/types.ts';

/** A visible email and its data, as far as it was read. */
export interface EmailFacts {
  readonly id: number;
  readonly thread: number;
  /** ms UTC. */
  readonly receivedAt: number;
  /** Bits of mail/store/mailbox/flags.ts; \Deleted is never among them. */
  readonly flags: number;
  placement?: EmailPlacement;
  row?: EmailRowFacts;
}

/** Mailboxes and keywords of an email. */
export interface EmailPlacement {
  mailboxes: number[];
  /** Keywords beyond the slots, space separated. */
  kw: string;
}

export interface EmailRowFacts {
  size: number;
  sentAt: number;
  attach: boolean;
  subject: string;
  from: string;
  to: string;
}

/** Maximum emails of one SQL statement. */
export const FACTS_PAGE = 500;

interface Entry extends Record<string, number | string | null> {
  email_id: number;
  mailbox_id: number;
  thread_id: number;
  received_at: number;
  flags: number;
  kw: string | null;
}

// An email is visible while an existing mailbox has it without \Deleted. CROSS JOIN fixes the join order: the planner
// would begin with the mailboxes, half a million lookups a page with a thousand of them.
const ENTRIES = `SELECT n.email_id, n.mailbox_id, n.thread_id, n.received_at, n.flags, n.kw
  FROM (SELECT DISTINCT value AS id FROM json_each(?)) e
    CROSS JOIN entry n INDEXED BY entry_email ON n.email_id = e.id CROSS JOIN mailbox m ON m.id = n.mailbox_id
  WHERE n.flags & 16 = 0 AND m.deleted_at IS NULL AND m.account_id = ?`;

/** The account of a query, and the only mailboxes in it that the reader sees; undefined: all. */
export interface ReaderScope {
  readonly rx: Read;
  readonly account: number;
  readonly within: ReadonlySet<number> | undefined;
}

/** Reads the visible emails among these ids, with their mailboxes. */
export async function readEmailFacts(
  { rx, account, within }: ReaderScope,
  ids: readonly number[],
): Promise<EmailFacts[]> {
  const found = new Map<number, EmailFacts & { placement: EmailPlacement }>();
  for (let at = 0; at < ids.length; at += FACTS_PAGE) {
    for (const entry of await rx.all<Entry>(ENTRIES, JSON.stringify(ids.slice(at, at + FACTS_PAGE)), account)) {
      if (within?.has(entry.mailbox_id) === false) continue;
      const known = found.get(entry.email_id);
      if (known === undefined) found.set(entry.email_id, toFacts(entry));
      else known.placement.mailboxes.push(entry.mailbox_id);
    }
  }
  return [...found.values()];
}

function toFacts(entry: Entry): EmailFacts & { placement: EmailPlacement } {
  return {
    id: entry.email_id,
    thread: entry.thread_id,
    receivedAt: entry.received_at,
    flags: entry.flags,
    placement: { mailboxes: [entry.mailbox_id], kw: entry.kw ?? '' },
  };
}

/** Reads missing placements. */
export async function readPlacements(scope: ReaderScope, among: readonly EmailFacts[]): Promise<void> {
  const without = among.filter(({ placement }) => placement === undefined);
  if (without.length === 0) return;
  const ids = without.map(({ id }) => id);
  const found = new Map((await readEmailFacts(scope, ids)).map(({ id, placement }) => [id, placement]));
  for (const facts of without) facts.placement = found.get(facts.id) ?? { mailboxes: [], kw: '' };
}

/** Reads missing email rows. */
export async function readEmailRowFacts(rx: Read, among: readonly EmailFacts[]): Promise<void> {
  const without = among.filter(({ row }) => row === undefined);
  for (let at = 0; at < without.length; at += FACTS_PAGE) {
    const page = new Map(without.slice(at, at + FACTS_PAGE).map((facts) => [facts.id, facts]));
    const rows = await rx.all<{
      id: number;
      size: number;
      sent_at: number;
      attach: number;
      subj: string;
      from_d: string;
      to_d: string;
    }>(
      `SELECT id, size, sent_at, attach, subj, from_d, to_d FROM email WHERE id IN (SELECT value FROM json_each(?))`,
      JSON.stringify([...page.keys()]),
    );
    for (const row of rows) {
      const facts = page.get(row.id);
      if (facts === undefined) continue;
      const { size, sent_at: sentAt, attach, subj: subject, from_d: from, to_d: to } = row;
      facts.row = { size, sentAt, attach: attach === 1, subject, from, to };
    }
  }
}

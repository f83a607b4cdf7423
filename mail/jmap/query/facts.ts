import type { Read } from '../../store/engine/types.ts';

/** An email that somebody can see, and what has been read of it so far. */
export interface Facts {
  readonly id: number;
  readonly thread: number;
  /** ms UTC. */
  readonly receivedAt: number;
  /** Bits of mail/store/flags.ts; \Deleted is never among them. */
  readonly flags: number;
  places?: Places;
  row?: RowFacts;
}

/** Where it stands. */
export interface Places {
  mailboxes: number[];
  /** Keywords beyond the slots, space separated. */
  kw: string;
}

export interface RowFacts {
  size: number;
  sentAt: number;
  attach: boolean;
  subject: string;
  from: string;
  to: string;
}

/** Emails of one statement. */
export const PAGE = 500;

interface Entry extends Record<string, number | string | null> {
  email_id: number;
  mailbox_id: number;
  thread_id: number;
  received_at: number;
  flags: number;
  kw: string | null;
}

// An email is there while it stands without \Deleted in a mailbox that is there.
const ENTRIES = `SELECT n.email_id, n.mailbox_id, n.thread_id, n.received_at, n.flags, n.kw
  FROM entry n INDEXED BY entry_email JOIN mailbox m ON m.id = n.mailbox_id
  WHERE n.email_id IN (SELECT value FROM json_each(?)) AND n.flags & 16 = 0 AND m.gone_at IS NULL AND m.account_id = ?`;

/** Those of these emails that the account has and somebody can see, with their places. */
export async function factsOf(rx: Read, account: number, ids: readonly number[]): Promise<Facts[]> {
  const found = new Map<number, Facts & { places: Places }>();
  for (let at = 0; at < ids.length; at += PAGE) {
    for (const entry of await rx.all<Entry>(ENTRIES, JSON.stringify(ids.slice(at, at + PAGE)), account)) {
      const known = found.get(entry.email_id);
      if (known === undefined) found.set(entry.email_id, toFacts(entry));
      else known.places.mailboxes.push(entry.mailbox_id);
    }
  }
  return [...found.values()];
}

function toFacts(entry: Entry): Facts & { places: Places } {
  return {
    id: entry.email_id,
    thread: entry.thread_id,
    receivedAt: entry.received_at,
    flags: entry.flags,
    places: { mailboxes: [entry.mailbox_id], kw: entry.kw ?? '' },
  };
}

/** Reads the places of those that lack them. */
export async function readPlaces(rx: Read, account: number, among: readonly Facts[]): Promise<void> {
  const without = among.filter(({ places }) => places === undefined);
  if (without.length === 0) return;
  const ids = without.map(({ id }) => id);
  const found = new Map((await factsOf(rx, account, ids)).map(({ id, places }) => [id, places]));
  for (const facts of without) facts.places = found.get(facts.id) ?? { mailboxes: [], kw: '' };
}

/** Reads the rows of those that lack them. */
export async function readRows(rx: Read, among: readonly Facts[]): Promise<void> {
  const without = among.filter(({ row }) => row === undefined);
  for (let at = 0; at < without.length; at += PAGE) {
    const page = new Map(without.slice(at, at + PAGE).map((facts) => [facts.id, facts]));
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

import { OF_ACCOUNT_2 } from '../search/account-span.ts';
import type { SharingLogin } from '../mailbox/acl.ts';
import {
  readableFolders,
  readSharedAccount,
  type SharedAccount,
  sharedEmailState,
  readSharedState,
  type SharedSince,
} from '../mailbox/shared-account.ts';
import { lookup, query, type Read } from '../engine/types.ts';
import { IN_THREAD } from './in-thread.ts';

/** Names the part of an account that is shared with a login. */
export interface SharedInput {
  login: SharingLogin;
  owner: number;
}

/** Tests if a login may read an email of another account: it is in a shared mailbox, without \Deleted. */
export async function isSharedEmail(rx: Read, account: SharedAccount, email: number): Promise<boolean> {
  const row = await rx.get(
    `SELECT 1 AS one FROM entry INDEXED BY entry_email WHERE email_id = ? AND flags & 16 = 0
       AND mailbox_id IN (SELECT value FROM json_each(?)) LIMIT 1`,
    email,
    JSON.stringify(readableFolders(account)),
  );
  return row !== undefined;
}

/** {@link isSharedEmail} as a query. */
export const mayReadSharedEmail = query(
  'may-read-shared-email',
  async (rx, { login, owner, email }: SharedInput & { email: number }): Promise<boolean> => {
    const account = await readSharedAccount(rx, login, owner);
    return account !== undefined && isSharedEmail(rx, account, email);
  },
);

/** Ids of the visible emails in these mailboxes; undefined if they have more than `most` messages. */
export const sharedEmailIds = lookup(
  'shared-email-ids',
  async (rx, input: { folders: readonly number[]; most: number }): Promise<number[] | undefined> => {
    const rows = await rx.all<{ id: number; flags: number }>(
      'SELECT n.email_id AS id, n.flags FROM json_each(?) j CROSS JOIN entry n ON n.mailbox_id = j.value LIMIT ?',
      JSON.stringify(input.folders),
      input.most + 1,
    );
    if (rows.length > input.most) return undefined;
    return [...new Set(rows.filter(({ flags }) => (flags & 16) === 0).map(({ id }) => id))].sort((a, b) => a - b);
  },
);

/** Emails of these threads that are visible in these mailboxes, oldest first. Cost: the emails of the threads. */
export const sharedThreadEmails = lookup(
  'shared-thread-emails',
  async (
    rx,
    { owner, folders, threads }: { owner: number; folders: readonly number[]; threads: readonly number[] },
  ): Promise<Map<number, number[]>> => {
    const rows = await rx.all<{ id: number; thread: number }>(
      `SELECT DISTINCT e.id, e.thread_id AS thread, e.received_at FROM json_each(?1) t
       CROSS JOIN email e ON ${IN_THREAD} CROSS JOIN entry n INDEXED BY entry_email ON n.email_id = e.id
       WHERE ${OF_ACCOUNT_2} AND n.flags & 16 = 0 AND n.mailbox_id IN (SELECT value FROM json_each(?3))
       ORDER BY e.received_at, e.id`,
      JSON.stringify(threads),
      owner,
      JSON.stringify(folders),
    );
    return new Map([...Map.groupBy(rows, ({ thread }) => thread)].map(([id, all]) => [id, all.map((one) => one.id)]));
  },
);

/** JMAP counters of one mailbox, by the emails that a login sees. */
export interface SharedCounts extends Record<string, number> {
  mailbox: number;
  emails: number;
  unread: number;
  threads: number;
  unreadThreads: number;
}

// RFC 8621 2: one unread email makes a thread unread in all mailboxes, but those in the trash are counted apart.
const COUNTS = `WITH shown AS MATERIALIZED (
    SELECT n.mailbox_id AS mailbox, n.thread_id AS thread, n.flags & 9 = 0 AS unread, m.role IS 'trash' AS trash
    FROM json_each(?1) j CROSS JOIN mailbox m ON m.id = j.value
      CROSS JOIN entry n INDEXED BY entry_date ON n.mailbox_id = m.id WHERE n.flags & 16 = 0),
  fresh AS MATERIALIZED (SELECT DISTINCT thread, trash FROM shown WHERE unread)
  SELECT s.mailbox, count(*) AS emails, sum(s.unread) AS unread, count(DISTINCT s.thread) AS threads,
    count(DISTINCT f.thread) AS unreadThreads
  FROM shown s LEFT JOIN fresh f ON f.thread = s.thread AND f.trash = s.trash GROUP BY s.mailbox`;

/** Counts the visible emails and threads of these mailboxes. Cost: their messages, so run it in a reader thread. */
export const countSharedEmails = lookup(
  'count-shared-emails',
  async (rx, { folders }: { folders: readonly number[] }): Promise<SharedCounts[]> =>
    folders.length === 0 ? [] : rx.all<SharedCounts>(COUNTS, JSON.stringify(folders)),
);

/** Changes that a login may know. `unknown`: the state is too old, or from before a change of rights. */
export type SharedChanges =
  | { kind: 'changes'; state: string; created: number[]; updated: number[]; destroyed: number[] }
  | { kind: 'unknown' }
  | { kind: 'too-many' };

interface Change extends Record<string, number | null> {
  email: number;
  thread: number | null;
}

interface Entry extends Record<string, number> {
  email: number;
  mailbox: number;
  uid: number;
}

/** Emails that changed in the readable mailboxes since a state, at most `limit`. RFC 8621 4.3. */
export const sharedEmailChanges = query(
  'shared-email-changes',
  async (rx, input: SharedInput & { since: string; limit: number }): Promise<SharedChanges> => {
    const found = await readChanges(rx, input);
    if (found.kind !== 'changed') return found;
    const { state, fates, limit } = { ...found, limit: input.limit };
    if (fates.size > limit) return { kind: 'too-many' };
    const of = (fate: Fate): number[] => [...fates].filter(([, one]) => one.fate === fate).map(([email]) => email);
    return { kind: 'changes', state, created: of('created'), updated: of('updated'), destroyed: of('destroyed') };
  },
);

/** Threads that gained or lost an email in the readable mailboxes since a state. RFC 8621 3.2. */
export const sharedThreadChanges = query(
  'shared-thread-changes',
  async (rx, input: SharedInput & { since: string; limit: number }): Promise<SharedChanges> => {
    const found = await readChanges(rx, input);
    if (found.kind !== 'changed') return found;
    const { state, fates, folders } = found;
    const moved = [...fates].filter(([, { fate }]) => fate !== 'updated');
    const threads = [...new Set(moved.map(([, { thread }]) => thread))];
    const members = await sharedThreadEmails.run(rx, { owner: input.owner, folders, threads });
    const fateOf = (thread: number): Fate => {
      const emails = members.get(thread);
      if (emails === undefined) return 'destroyed';
      return emails.every((email) => fates.get(email)?.fate === 'created') ? 'created' : 'updated';
    };
    if (threads.length > input.limit) return { kind: 'too-many' };
    const of = (fate: Fate): number[] => threads.filter((thread) => fateOf(thread) === fate);
    return { kind: 'changes', state, created: of('created'), updated: of('updated'), destroyed: of('destroyed') };
  },
);

type Fate = 'created' | 'updated' | 'destroyed';

interface Changed {
  kind: 'changed';
  state: string;
  folders: number[];
  fates: Map<number, { fate: Fate; thread: number }>;
}

/** Rows read of one call; beyond that a client fetches all again. */
const MAX_ROWS = 5_000;

async function readChanges(
  rx: Read,
  { login, owner, since: given }: SharedInput & { since: string },
): Promise<Changed | { kind: 'unknown' } | { kind: 'too-many' }> {
  const account = await readSharedAccount(rx, login, owner);
  const state = account && sharedEmailState(account);
  const since = state === undefined ? undefined : readSharedState(given, state);
  if (account === undefined || state === undefined || since === undefined) return { kind: 'unknown' };
  const folders = readableFolders(account);
  const changes = await changedEmails(rx, JSON.stringify(folders), since.modseq);
  if (changes === undefined) return { kind: 'unknown' };
  if (changes.size >= MAX_ROWS) return { kind: 'too-many' };
  const { shown, known } = await knownEmails(rx, folders, [...changes.keys()], since);
  const fates = [...changes].map(([email, thread]) => {
    const fate: Fate = !shown.has(email) ? 'destroyed' : known.has(email) ? 'updated' : 'created';
    return [email, { fate, thread }] as const;
  });
  return { kind: 'changed', state, folders, fates: new Map(fates) };
}

const CHANGED = `SELECT n.email_id AS email, n.thread_id AS thread FROM json_each(?1) j
  CROSS JOIN entry n INDEXED BY entry_changed
    ON n.mailbox_id = j.value AND n.modseq > ?2 AND n.modseq <> n.entered_modseq
  LIMIT ?3`;
// UIDs ascend with mod-sequences: newer than the last one that was there.
const ENTERED = `SELECT n.email_id AS email, n.thread_id AS thread FROM json_each(?1) j
  CROSS JOIN entry n ON n.mailbox_id = j.value AND n.uid > coalesce((SELECT o.uid FROM entry o
    WHERE o.mailbox_id = j.value AND o.entered_modseq <= ?2 ORDER BY o.uid DESC LIMIT 1), 0)
  WHERE n.modseq = n.entered_modseq LIMIT ?3`;
const LEFT = `SELECT x.email_id AS email, e.thread_id AS thread FROM json_each(?1) j
  CROSS JOIN expunged x INDEXED BY expunged_modseq ON x.mailbox_id = j.value AND x.modseq > ?2
  LEFT JOIN email e ON e.id = x.email_id LIMIT ?3`;
// Messages that were purged are no longer known by id.
const PURGED = `SELECT 1 AS one FROM json_each(?1) j CROSS JOIN vanished v
  ON v.mailbox_id = j.value AND v.modseq > ?2 LIMIT 1`;

/** Threads of the emails with a change in these mailboxes; undefined if the changes are no longer stored. */
async function changedEmails(rx: Read, folders: string, since: number): Promise<Map<number, number> | undefined> {
  if ((await rx.get(PURGED, folders, since)) !== undefined) return undefined;
  const rows = [
    ...(await rx.all<Change>(CHANGED, folders, since, MAX_ROWS)),
    ...(await rx.all<Change>(ENTERED, folders, since, MAX_ROWS)),
    ...(await rx.all<Change>(LEFT, folders, since, MAX_ROWS)),
  ];
  const threads = new Map<number, number>();
  for (const { email, thread } of rows) {
    if (thread === null) return undefined;
    threads.set(email, thread);
  }
  return threads;
}

const SHOWN = `SELECT n.email_id AS email, n.mailbox_id AS mailbox, n.uid FROM json_each(?1) j
  CROSS JOIN entry n INDEXED BY entry_email ON n.email_id = j.value
  WHERE n.flags & 16 = 0 AND n.mailbox_id IN (SELECT value FROM json_each(?2))`;
// A message whose \\Deleted was removed since then is new to the client.
const REVEALED = `SELECT id FROM email WHERE id IN (SELECT value FROM json_each(?1)) AND visibility_modseq > ?2`;
const NEWEST_UNCHANGED = 'SELECT uid FROM entry WHERE mailbox_id = ? AND modseq <= ? ORDER BY uid DESC LIMIT 1';

/** The emails among `emails` that are visible, and those of them that were in one of the mailboxes before. */
async function knownEmails(
  rx: Read,
  folders: readonly number[],
  emails: readonly number[],
  { modseq, uidNext }: SharedSince,
): Promise<{ shown: Set<number>; known: Set<number> }> {
  const ids = JSON.stringify(emails);
  const entries = await rx.all<Entry>(SHOWN, ids, JSON.stringify(folders));
  const firstNew = new Map(folders.map((folder, at) => [folder, uidNext[at]]));
  for (const [folder, uid] of firstNew) {
    // UIDs ascend: a message up to an unchanged one was there before. A newer one may have been; it counts as created.
    if (uid === undefined)
      firstNew.set(folder, ((await rx.get<{ uid: number }>(NEWEST_UNCHANGED, folder, modseq))?.uid ?? 0) + 1);
  }
  const revealed = new Set((await rx.all<{ id: number }>(REVEALED, ids, modseq)).map(({ id }) => id));
  const known = entries.filter(({ email, mailbox, uid }) => uid < (firstNew.get(mailbox) ?? 0) && !revealed.has(email));
  return { shown: new Set(entries.map(({ email }) => email)), known: new Set(known.map(({ email }) => email)) };
}

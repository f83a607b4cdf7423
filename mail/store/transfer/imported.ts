import type { MessageIndex } from '../../message/index-types.ts';
import { addBlob } from '../blob/blob.ts';
import { command, type Forbidden, type Read, type Stamp, type Write } from '../engine/types.ts';
import { newBlob, overQuota, RESERVED_MAILBOX } from '../mailbox/entry-commands.ts';
import { hasKeywords, type NamedFlags, storeKeywords } from '../mailbox/flags.ts';
import { addEntry } from '../message/entry.ts';
import { addEmail } from '../message/message.ts';

/** One message of a source, with the copy of its content that it becomes. */
export interface ImportInput {
  account: number;
  mailbox: number;
  flags: NamedFlags;
  /** The keywords may be words of the sender of the message. */
  sendersKeywords?: boolean | undefined;
  /** ms UTC. */
  receivedAt: number;
  data: Uint8Array | null;
  file: { file: string; size: number } | null;
  index: MessageIndex;
  /** First 16 octets of the SHA-256 of the octets. */
  hash: Uint8Array;
  /** Number of this pass over the source; later passes have greater ones. */
  pass: number;
  /** The message at another server; null: it is from a file. */
  remote: RemoteMessage | null;
}

/** A message of a folder at another server. */
export interface RemoteMessage {
  folder: number;
  uid: number;
  /** Its flags there, sorted. */
  flags: string;
}

export type ImportResult =
  | { kind: 'imported'; email: number }
  /** A former import or pass brought the same content: nothing was added. */
  | { kind: 'known' }
  | { kind: 'missing' }
  | { kind: 'over-quota' }
  | { kind: 'too-many-keywords' }
  | Forbidden;

interface Copy extends Record<string, number> {
  nth: number;
  email_id: number;
}

/**
 * Imports one message, unless a former pass brought this copy of its content. It is no delivery: no forward, no event of
 * a webhook and no vacation reply. Progress is recorded in the same commit, so that a kill neither loses nor doubles it.
 */
async function importOne(tx: Write, input: ImportInput, stamp: Stamp): Promise<ImportResult> {
  const refused = await refusalOf(tx, input);
  if (refused !== undefined) return refused;
  // Two jobs may pull one folder at the same time.
  if (input.remote !== null && (await isPulled(tx, input.remote))) return { kind: 'known' };
  const copy = await unclaimedCopy(tx, input);
  if (copy !== undefined && (input.remote !== null || (await isInMailbox(tx, copy.email_id)))) {
    await claim(tx, input, copy);
    return { kind: 'known' };
  }
  if (await overQuota(tx, input.account, input.index.size)) return { kind: 'over-quota' };
  const flags = await storeKeywords(tx, input.account, input.flags, { by: null });
  if (flags === undefined) return { kind: 'too-many-keywords' };
  if (input.sendersKeywords === true && hasKeywords(flags)) await tx.hooks.onSendersKeywords(tx, input.account);
  const email = await addImported(tx, input, flags, stamp);
  await claim(tx, input, { nth: copy?.nth ?? (await copies(tx, input)) + 1, email_id: email });
  return { kind: 'imported', email };
}

/** Messages of one commit. */
export const MAX_IMPORTED = 32;

/** Imports up to {@link MAX_IMPORTED} messages in their order, each as if it were alone. */
export const importMessages = command(
  'import-messages',
  async (tx, input: { messages: readonly ImportInput[] }, stamp): Promise<ImportResult[]> => {
    const results: ImportResult[] = [];
    for (const message of input.messages.slice(0, MAX_IMPORTED)) results.push(await importOne(tx, message, stamp));
    return results;
  },
);

async function refusalOf(tx: Write, { account, mailbox }: ImportInput): Promise<ImportResult | undefined> {
  const there = await tx.get(
    'SELECT 1 AS mine FROM mailbox WHERE id = ? AND account_id = ? AND deleted_at IS NULL',
    mailbox,
    account,
  );
  if (there === undefined) return { kind: 'missing' };
  return (await tx.hooks.isReserved(tx, account, mailbox)) ? RESERVED_MAILBOX : undefined;
}

/** The first copy of the content that this pass, or this folder of another server, has not named yet. */
function unclaimedCopy(rx: Read, { mailbox, hash, pass, remote }: ImportInput): Promise<Copy | undefined> {
  return remote === null
    ? rx.get<Copy>(
        `SELECT nth, email_id FROM imported_content WHERE mailbox_id = ? AND hash = ? AND pass <> ? ORDER BY nth LIMIT 1`,
        mailbox,
        hash,
        pass,
      )
    : rx.get<Copy>(
        `SELECT c.nth, c.email_id FROM imported_content c WHERE c.mailbox_id = ?1 AND c.hash = ?2
           AND NOT EXISTS (SELECT 1 FROM import_uid u WHERE u.folder_id = ?3 AND u.hash = ?2 AND u.nth = c.nth)
         ORDER BY c.nth LIMIT 1`,
        mailbox,
        hash,
        remote.folder,
      );
}

async function isPulled(rx: Read, { folder, uid }: RemoteMessage): Promise<boolean> {
  return (await rx.get('SELECT 1 AS yes FROM import_uid WHERE folder_id = ? AND uid = ?', folder, uid)) !== undefined;
}

async function copies(rx: Read, { mailbox, hash }: ImportInput): Promise<number> {
  const row = await rx.get<{ n: number | null }>(
    'SELECT max(nth) AS n FROM imported_content WHERE mailbox_id = ? AND hash = ?',
    mailbox,
    hash,
  );
  return row?.n ?? 0;
}

/** A message that a person deleted is imported again from a file, and not from another server. */
async function isInMailbox(rx: Read, email: number): Promise<boolean> {
  return (await rx.get('SELECT 1 AS yes FROM entry WHERE email_id = ? LIMIT 1', email)) !== undefined;
}

async function addImported(
  tx: Write,
  input: ImportInput,
  flags: Parameters<typeof addEntry>[3],
  stamp: Stamp,
): Promise<number> {
  const { account, mailbox, index, receivedAt } = input;
  const blob = await addBlob(tx, newBlob(input));
  const email = await addEmail(tx, { account, blob, index, trace: '', receivedAt });
  await tx.run('INSERT INTO imported_email (email_id) VALUES (?)', email.id);
  await addEntry(tx, mailbox, email, flags, stamp);
  return email.id;
}

async function claim(tx: Write, { mailbox, hash, pass, remote }: ImportInput, { nth, email_id: email }: Copy) {
  await tx.run(
    `INSERT INTO imported_content (mailbox_id, hash, nth, email_id, pass) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (mailbox_id, hash, nth) DO UPDATE SET email_id = excluded.email_id, pass = excluded.pass`,
    mailbox,
    hash,
    nth,
    email,
    pass,
  );
  if (remote === null) return;
  await tx.run(
    `INSERT INTO import_uid (folder_id, uid, hash, nth, email_id, flags) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (folder_id, uid) DO UPDATE SET hash = excluded.hash, nth = excluded.nth, email_id = excluded.email_id, flags = excluded.flags`,
    remote.folder,
    remote.uid,
    hash,
    nth,
    email,
    remote.flags,
  );
}

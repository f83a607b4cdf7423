import type { MessageIndex } from '../../message/index-types.ts';
import type { Write } from '../engine/types.ts';
import { IN_THREAD_1 } from './in-thread.ts';
import { ACCOUNT_SPAN } from '../search/account-span.ts';

/** Maximum emails of a thread, which bounds the cost of a change; the next one starts another thread. */
const MAX_THREAD_EMAILS = 500;

/** A message of an account, with or without entries. */
export interface Email {
  id: number;
  account: number;
  threadId: number;
  /** Octets of trace and blob. */
  size: number;
  receivedAt: number;
  /** It is the first of its thread, so no other email is affected. */
  alone?: boolean;
}

/**
 * Adds a message to an account. `trace`: header lines of this recipient before the blob; `by`: the agent that created
 * it.
 */
export async function addEmail(
  tx: Write,
  what: {
    account: number;
    blob: number;
    index: MessageIndex;
    trace: string;
    receivedAt: number;
    by?: string | null;
    /** The agent that chose its keywords; null: nobody, or it has none. */
    namedBy?: string | null;
    /** Row of the message that it is a copy of. */
    copyOf?: number;
  },
): Promise<Email> {
  const { account, blob, index, trace, receivedAt, by = null, namedBy = null } = what;
  const size = Buffer.byteLength(trace, 'latin1') + index.size;
  // Sent together, where a reply takes a round trip.
  const [{ modseq, email, thread }, related] = await Promise.all([
    tx.nextEmail(account, size),
    relatedHashes(tx, account, index),
  ]);
  const id = account * ACCOUNT_SPAN + email;
  const fresh = account * ACCOUNT_SPAN + thread;
  const threadId = await threadOf(tx, account, related, fresh);
  await tx.send(
    `INSERT INTO email (id, account_id, thread_id, blob_id, trace, size, received_at, sent_at, sent_day, attach, subj,
       from_k, to_k, cc_k, from_d, to_d, created_modseq, modseq, created_by, redacted_from)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    account,
    threadId,
    blob,
    trace,
    size,
    receivedAt,
    index.sentAt,
    index.sentDay,
    Number(index.hasAttachment),
    index.baseSubject,
    index.fromKey,
    index.toKey,
    index.ccKey,
    index.fromDisplay,
    index.toDisplay,
    modseq,
    modseq,
    by,
    index.secretLink === true ? index.headerLength : null,
  );
  await insertIndex(tx, blob, index);
  if (what.copyOf !== undefined) await copyImported(tx, what.copyOf, id);
  const copied = what.copyOf !== undefined && { copyOf: what.copyOf };
  await tx.hooks.onNewEmail(tx, { id, account, blob, by, namedBy, ...copied });
  return { id, account, threadId, size, receivedAt, alone: threadId === fresh };
}

/** Inserts the index of a blob; further copies of a message have the same one. */
function insertIndex(tx: Write, blob: number, index: MessageIndex): Promise<void> {
  return tx.send(
    `INSERT INTO message_index (blob_id, header_length, envelope, bodystructure, parts, subject, preview, refs)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    blob,
    index.headerLength,
    index.envelope,
    index.bodyStructure,
    index.parts,
    index.subject,
    index.preview,
    new Uint8Array(BigInt64Array.from(index.refs).buffer),
  );
}

/** Hashes of a message's id and of those that it references, with what the account knows of them. */
interface RelatedHashes {
  subject: number;
  hashes: readonly bigint[];
  known: readonly KnownHash[];
}

async function relatedHashes(tx: Write, account: number, { refs, baseSubject }: MessageIndex): Promise<RelatedHashes> {
  const hashes = [...new Set(refs)].filter((hash) => hash !== 0n);
  const subject = subjectHash(baseSubject);
  return { subject, hashes, known: await knownHashes(tx, account, hashes, subject) };
}

/**
 * The thread of a message: that of the nearest message that it references or that references it, with the same base
 * subject; else `fresh`. Threads are never merged, so thread ids never change.
 */
async function threadOf(tx: Write, account: number, related: RelatedHashes, fresh: number): Promise<number> {
  const { subject, hashes, known } = related;
  let thread = known.at(-1)?.thread_id ?? fresh;
  const positions = new Set(known.map((row) => row.at));
  const unknown = hashes.filter((_, at) => !positions.has(at));
  if (thread !== fresh && (await isFull(tx, thread))) {
    thread = fresh;
    const lead = `UPDATE msgid SET thread_id = ? WHERE account_id = ? AND h IN (SELECT value FROM json_each(?)) AND subj_h = ?`;
    await tx.send(lead, fresh, account, `[${hashes.join()}]`, subject);
  }
  const [one] = unknown;
  if (one !== undefined && unknown.length === 1) {
    const add = 'INSERT INTO msgid (account_id, h, subj_h, thread_id) VALUES (?, ?, ?, ?)';
    await tx.send(add, account, one, subject, thread);
  } else if (unknown.length > 1) {
    await tx.send(
      'INSERT INTO msgid (account_id, h, subj_h, thread_id) SELECT ?, value, ?, ? FROM json_each(?)',
      account,
      subject,
      thread,
      `[${unknown.join()}]`,
    );
  }
  return thread;
}

/** A hash by its position, since 64 bits do not fit into a number. */
interface KnownHash extends Record<string, number> {
  at: number;
  thread_id: number;
}

function knownHashes(
  tx: Write,
  account: number,
  hashes: readonly bigint[],
  subject: number,
): Promise<KnownHash[]> | KnownHash[] {
  const [first, second, ...more] = hashes;
  if (first === undefined) return [];
  // Most messages have one or two; opening json_each costs more than the search.
  if (more.length === 0) {
    return tx.all<KnownHash>(
      `SELECT 0 AS at, thread_id FROM msgid WHERE account_id = ?1 AND h = ?2 AND subj_h = ?4
       UNION ALL SELECT 1, thread_id FROM msgid WHERE account_id = ?1 AND h = ?3 AND subj_h = ?4`,
      account,
      first,
      second ?? null,
      subject,
    );
  }
  return tx.all<KnownHash>(
    `SELECT j.key AS at, i.thread_id FROM json_each(?) j CROSS JOIN msgid i
     WHERE i.account_id = ? AND i.h = j.value AND i.subj_h = ? ORDER BY j.key`,
    `[${hashes.join()}]`,
    account,
    subject,
  );
}

async function isFull(tx: Write, thread: number): Promise<boolean> {
  const last = `SELECT 1 AS full FROM email e WHERE ${IN_THREAD_1} LIMIT 1 OFFSET ?2`;
  return (await tx.get(last, thread, MAX_THREAD_EMAILS - 1)) !== undefined;
}

/** Hash of a base subject: FNV-1a over UTF-16 units. Detects different subjects, not attacks. */
export function subjectHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Clones an email with the same blob, for a copy into a mailbox that already has it. */
export async function cloneEmail(tx: Write, account: number, id: number): Promise<Email> {
  const whole = await tx.get<{ thread_id: number; size: number }>('SELECT thread_id, size FROM email WHERE id = ?', id);
  if (whole === undefined) throw new Error(`email ${id} of account ${account} does not exist`);
  const copy = await tx.nextEmail(account, whole.size);
  const newId = account * ACCOUNT_SPAN + copy.email;
  const alone = await isFull(tx, whole.thread_id);
  const threadId = alone ? account * ACCOUNT_SPAN + copy.thread : whole.thread_id;
  const row = await tx.get<{ size: number; received_at: number; blob_id: number }>(
    `INSERT INTO email (id, account_id, thread_id, blob_id, trace, size, received_at, sent_at, sent_day, attach, subj,
       from_k, to_k, cc_k, from_d, to_d, created_modseq, modseq, created_by, redacted_from)
     SELECT ?1, account_id, ?2, blob_id, trace, size, received_at, sent_at, sent_day, attach, subj,
       from_k, to_k, cc_k, from_d, to_d, ?3, ?3, created_by, redacted_from FROM email WHERE id = ?4 RETURNING size, received_at, blob_id`,
    newId,
    threadId,
    copy.modseq,
    id,
  );
  if (row === undefined) throw new Error(`email ${id} does not exist`);
  await tx.run(
    // Finds a row only if the original is older than the table of indexes.
    `INSERT INTO email_meta_v1 SELECT ?, header_length, envelope, bodystructure, parts, subject, preview, refs
     FROM email_meta_v1 WHERE email_id = ?`,
    newId,
    id,
  );
  await copyImported(tx, id, newId);
  await tx.hooks.onNewEmail(tx, { id: newId, account, blob: row.blob_id, by: null, namedBy: null, copyOf: id });
  return { id: newId, account, threadId, size: row.size, receivedAt: row.received_at, alone };
}

/** Records that a copy of an imported message was imported as well. */
async function copyImported(tx: Write, original: number, copy: number): Promise<void> {
  await tx.run(
    'INSERT INTO imported_email (email_id) SELECT ? WHERE EXISTS (SELECT 1 FROM imported_email WHERE email_id = ?)',
    copy,
    original,
  );
}

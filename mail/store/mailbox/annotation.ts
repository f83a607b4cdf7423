import { command, lookup, type Write } from '../engine/types.ts';

/** Largest value, in octets. */
export const MAX_ANNOTATION_OCTETS = 64 * 1024;
/** Entries of one account, on all mailboxes. */
const MAX_ANNOTATIONS = 1_000;
/** Octets of all names and values of one account. */
const MAX_TOTAL_OCTETS = 1024 * 1024;

/** One stored METADATA entry. RFC 5464 3. */
export interface Annotation {
  /** The mailbox; 0: the account as a whole. */
  mailbox: number;
  /** Entry in lower case, such as /private/comment. */
  name: string;
  value: Uint8Array;
}

/** Selects entries of a mailbox: /private/ of the reader, /shared/ of the owner. Mailbox 0: the account as a whole. */
interface AnnotationScope {
  mailbox: number;
  /** Account that reads. */
  reader: number;
  /** Account that owns the mailbox. */
  owner: number;
}

type AnnotationRow = { mailbox_id: number; name: string; value: Uint8Array };

/** All entries of a mailbox that a reader sees, at most {@link MAX_ANNOTATIONS} of each account. */
export const annotationsOf = lookup(
  'annotations-of',
  async (rx, { mailbox, reader, owner }: AnnotationScope): Promise<Annotation[]> => {
    const rows = await rx.all<AnnotationRow>(
      `SELECT mailbox_id, name, value FROM annotation WHERE mailbox_id = ?1 AND account_id = ?2 AND name LIKE '/private/%'
       UNION ALL
       SELECT mailbox_id, name, value FROM annotation WHERE mailbox_id = ?1 AND account_id = ?3 AND name LIKE '/shared/%'
       ORDER BY name`,
      mailbox,
      reader,
      owner,
    );
    return rows.map(annotationOf);
  },
);

/** The named entries on all mailboxes of an account, for LIST-METADATA. */
export const namedAnnotations = lookup(
  'named-annotations',
  async (rx, { account, names }: { account: number; names: readonly string[] }): Promise<Annotation[]> => {
    const rows = await rx.all<AnnotationRow>(
      `SELECT mailbox_id, name, value FROM annotation INDEXED BY annotation_account
       WHERE account_id = ? AND mailbox_id <> 0 AND name IN (SELECT value FROM json_each(?, '$'))`,
      account,
      JSON.stringify(names),
    );
    return rows.map(annotationOf);
  },
);

function annotationOf(row: AnnotationRow): Annotation {
  return { mailbox: row.mailbox_id, name: row.name, value: row.value };
}

/** A new value of an entry; null removes it. */
export interface AnnotationChange {
  name: string;
  value: Uint8Array | null;
}

export type AnnotateResult = 'done' | 'missing' | 'too-many' | 'too-large' | 'not-allowed';

/** Stores all changes, or none of them. RFC 5464 4.3. */
export const annotate = command(
  'annotate',
  async (tx, input: AnnotationScope & { changes: readonly AnnotationChange[] }): Promise<AnnotateResult> => {
    const { mailbox, reader, owner, changes } = input;
    if (mailbox !== 0 && !(await isMailboxOf(tx, owner, mailbox))) return 'missing';
    const stored = await tx.attempt(async () => {
      for (const change of changes) await setAnnotation(tx, mailbox, isShared(change.name) ? owner : reader, change);
      for (const account of new Set([reader, owner])) await checkLimits(tx, account);
    });
    if (stored.ok) return 'done';
    if (stored.error instanceof AnnotationLimit) return stored.error.limit;
    throw stored.error;
  },
);

/** Thrown to roll back a change that exceeds a limit. */
class AnnotationLimit extends Error {
  readonly limit: 'too-many' | 'too-large';
  constructor(limit: 'too-many' | 'too-large') {
    super(`annotations of the account: ${limit}`);
    this.limit = limit;
  }
}

function isShared(name: string): boolean {
  return name.startsWith('/shared/');
}

async function isMailboxOf(tx: Write, account: number, mailbox: number): Promise<boolean> {
  const sql = 'SELECT 1 AS there FROM mailbox WHERE id = ? AND account_id = ? AND deleted_at IS NULL';
  return (await tx.get(sql, mailbox, account)) !== undefined;
}

async function setAnnotation(tx: Write, mailbox: number, account: number, change: AnnotationChange): Promise<void> {
  if (change.value === null) {
    const sql = 'DELETE FROM annotation WHERE mailbox_id = ? AND account_id = ? AND name = ?';
    await tx.run(sql, mailbox, account, change.name);
    return;
  }
  await tx.run(
    `INSERT INTO annotation (mailbox_id, account_id, name, value) VALUES (?, ?, ?, ?)
     ON CONFLICT (mailbox_id, account_id, name) DO UPDATE SET value = excluded.value`,
    mailbox,
    account,
    change.name,
    change.value,
  );
}

async function checkLimits(tx: Write, account: number): Promise<void> {
  const row = await tx.get<{ n: number; octets: number }>(
    `SELECT count(*) AS n, coalesce(sum(length(name) + length(value)), 0) AS octets FROM annotation
     WHERE account_id = ?`,
    account,
  );
  if ((row?.n ?? 0) > MAX_ANNOTATIONS) throw new AnnotationLimit('too-many');
  if ((row?.octets ?? 0) > MAX_TOTAL_OCTETS) throw new AnnotationLimit('too-large');
}

/** Removes the entries of a mailbox that is deleted. */
export async function removeAnnotations(tx: Write, mailbox: number): Promise<void> {
  await tx.run('DELETE FROM annotation WHERE mailbox_id = ?', mailbox);
}

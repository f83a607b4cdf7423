import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { blobPath } from '../../mail/store/blob/blob.ts';
import { applyLoggedFlags } from '../../mail/store/mailbox/flag-log-copy.ts';
import { FOLDER_PATH } from '../../mail/store/check/damaged-messages.ts';

/** Bits of entry.flags: system flags below, slots of keywords above. */
const SYSTEM_FLAGS = 15;
const FIRST_SLOT = 5;
const LAST_SLOT = 30;

/** A message of a restored data directory, with its place. */
export interface RestoredMessage {
  /** Position, to go on after it. */
  mailbox: number;
  uid: number;
  folder: string;
  role: string | null;
  bits: number;
  keywords: string[];
  receivedAt: number;
  /** Octets of the message without and with the header lines of this recipient. */
  blob: Buffer;
  octets: Buffer;
}

interface EntryColumns {
  mailbox: number;
  role: string | null;
  uid: number;
  flags: number;
  kw: string | null;
  receivedAt: number;
  trace: string;
  file: string | null;
  data: Uint8Array | null;
}

const NEXT_ENTRIES = `SELECT n.mailbox_id AS mailbox, b.role, n.uid, n.flags, n.kw, e.received_at AS receivedAt, e.trace, c.file, c.data
  FROM mailbox b JOIN entry n ON n.mailbox_id = b.id JOIN email e ON e.id = n.email_id JOIN blob c ON c.id = e.blob_id
  WHERE b.account_id = ? AND b.deleted_at IS NULL AND (n.mailbox_id, n.uid) > (?, ?)
  ORDER BY n.mailbox_id, n.uid LIMIT ?`;

/** Reads one mailbox of a data directory that no server uses. */
export class RestoredMail implements Disposable {
  readonly #db: DatabaseSync;
  readonly #dataDir: string;
  readonly #account: number | undefined;
  readonly #keywords: ReadonlyMap<number, string>;

  constructor(dataDir: string, address: string) {
    this.#dataDir = dataDir;
    this.#db = new DatabaseSync(join(dataDir, 'mailstead.db'));
    applyLoggedFlags(this.#db);
    const account = this.#db.prepare('SELECT id FROM account WHERE lower(address) = lower(?)').get(address);
    this.#account = account === undefined ? undefined : Number(account['id']);
    const rows = this.#db.prepare('SELECT slot, name FROM keyword WHERE account_id = ?').all(this.#account ?? 0);
    this.#keywords = new Map(rows.map(({ slot, name }) => [Number(slot), String(name)]));
  }

  /** True if the snapshot has the mailbox. */
  get exists(): boolean {
    return this.#account !== undefined;
  }

  /** Names of the files with large messages of the mailbox. */
  files(): Set<string> {
    const rows = this.#db
      .prepare(
        'SELECT c.file FROM email e JOIN blob c ON c.id = e.blob_id WHERE e.id > ?1 * 4294967296 AND e.id < (?1 + 1) * 4294967296 AND c.file IS NOT NULL',
      )
      .all(this.#account ?? 0);
    return new Set(rows.map(({ file }) => String(file)));
  }

  /** The next messages after a position, by folder and UID. */
  after(mailbox: number, uid: number, limit: number): RestoredMessage[] {
    const rows = this.#db.prepare(NEXT_ENTRIES).all(this.#account ?? 0, mailbox, uid, limit);
    return rows.map((row) => this.#message(row as unknown as EntryColumns));
  }

  #message({ mailbox, role, uid, flags, kw, receivedAt, trace, file, data }: EntryColumns): RestoredMessage {
    const blob = file === null ? Buffer.from(data ?? []) : readFileSync(blobPath(join(this.#dataDir, 'blobs'), file));
    const path = this.#db.prepare(FOLDER_PATH).all(mailbox);
    return {
      mailbox,
      uid,
      folder: path.map(({ name }) => String(name)).join('/'),
      role,
      bits: flags & SYSTEM_FLAGS,
      keywords: [...this.#slots(flags), ...(kw === null ? [] : kw.split(' '))],
      receivedAt,
      blob,
      octets: Buffer.concat([Buffer.from(trace, 'latin1'), blob]),
    };
  }

  #slots(flags: number): string[] {
    const names: string[] = [];
    for (let slot = FIRST_SLOT; slot <= LAST_SLOT; slot++) {
      const name = (flags & (1 << slot)) === 0 ? undefined : this.#keywords.get(slot);
      if (name !== undefined) names.push(name);
    }
    return names;
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }
}

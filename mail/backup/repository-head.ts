import { hash, randomBytes } from 'node:crypto';
import { BackupProblem } from './backup-error.ts';
import { formatRecipient } from './backup-identity.ts';
import type { BackupKeys } from './backup-keys.ts';
import type { ObjectKeys } from './envelope.ts';
import { openByPassphrase, type PassphraseSlot, sealByPassphrase } from './passphrase-slot.ts';
import {
  createSlots,
  macOf,
  openByIndexKey,
  openSlots,
  type RecipientHead,
  type RecipientSlots,
} from './recipient-slots.ts';

/** First object of a target: which database its backups are of, and how they are encrypted. */
export interface RepositoryHead {
  /** 2: with recipients. */
  format: 1 | 2;
  id: string;
  /** Identity of the database; one target has the backups of one database. */
  database: string;
  createdAt: number;
  encryption: PassphraseSlot | RecipientSlots | null;
}

/** Creates a head, and the keys of its objects; no keys without a passphrase or recipient. */
export async function createHead(
  database: string,
  keys: BackupKeys,
  now: number,
): Promise<{ head: RepositoryHead; keys: ObjectKeys | undefined }> {
  const id = randomBytes(8).toString('hex');
  const head: RepositoryHead = { format: 1, id, database, createdAt: now, encryption: null };
  if (hasRecipients(keys)) return createForRecipients(head, keys);
  if (keys.passphrase === undefined) return { head, keys: undefined };
  const index = randomBytes(32);
  head.encryption = await sealByPassphrase(index, id, keys.passphrase);
  return { head, keys: { index } };
}

async function createForRecipients(
  { format: _, ...head }: RepositoryHead,
  keys: BackupKeys,
): Promise<{ head: RepositoryHead; keys: ObjectKeys | undefined }> {
  const index = indexKeyOf(head.id, keys);
  const encryption = await createSlots(head.id, keys, index);
  const signed = { format: 2 as const, ...head, encryption };
  encryption.mac = macOf(signed, index);
  return { head: signed, keys: openByIndexKey(signed, index) };
}

function indexKeyOf(id: string, { indexKey }: BackupKeys): Buffer {
  if (indexKey !== undefined) return indexKey(id);
  throw new BackupProblem(
    'The key file of the server cannot be read, and backups for a recipient need it. Set MAILSTEAD_KEY_FILE, and run the command as the user of the server.',
  );
}

const hasRecipients = ({ recipients = [] }: BackupKeys): boolean => recipients.length > 0;

function isForRecipients(head: RepositoryHead): head is RepositoryHead & RecipientHead {
  return head.encryption !== null && 'slots' in head.encryption;
}

/** Opens the keys of all objects. Throws {@link BackupProblem} for a passphrase or identity that is missing or wrong. */
export async function openHead(head: RepositoryHead, keys: BackupKeys): Promise<ObjectKeys | undefined> {
  if (isForRecipients(head)) return openSlots(head, keys);
  const encryption = head.encryption as PassphraseSlot | null;
  if (encryption === null) return undefined;
  if (keys.passphrase === undefined) {
    throw new BackupProblem(
      'The backup is encrypted. Set MAILSTEAD_BACKUP_PASSPHRASE or MAILSTEAD_BACKUP_PASSPHRASE_FILE.',
    );
  }
  return { index: await openByPassphrase(encryption, head.id, keys.passphrase) };
}

/** Opens the keys of manifests and maps: the key file of the server is enough for those. */
export async function openHeadForIndex(head: RepositoryHead, keys: BackupKeys): Promise<ObjectKeys | undefined> {
  const index = isForRecipients(head) ? keys.indexKey?.(head.id) : undefined;
  const opened = isForRecipients(head) && index !== undefined ? openByIndexKey(head, index) : undefined;
  return opened ?? openHead(head, keys);
}

/**
 * Opens the keys for a further backup. Throws {@link BackupProblem} if the settings ask for another encryption than the
 * target has: who can open the backups would then be another one than the operator believes.
 */
export async function openHeadForBackup(
  head: RepositoryHead,
  keys: BackupKeys,
  label: string,
): Promise<ObjectKeys | undefined> {
  if (isForRecipients(head)) return openForRecipients(head, keys, label);
  const has = head.encryption === null ? 'not encrypted' : 'encrypted by a passphrase only';
  if (hasRecipients(keys)) {
    throw new BackupProblem(
      `The backups in ${label} are ${has}, and a recipient is set. Use a new target, or unset MAILSTEAD_BACKUP_RECIPIENT.`,
    );
  }
  if (head.encryption === null && keys.passphrase !== undefined) {
    throw new BackupProblem(
      `The backups in ${label} are not encrypted, and a passphrase is set. Use a new target, or unset MAILSTEAD_BACKUP_PASSPHRASE.`,
    );
  }
  return openHead(head, keys);
}

async function openForRecipients(
  head: RepositoryHead & RecipientHead,
  keys: BackupKeys,
  label: string,
): Promise<ObjectKeys> {
  const { id, encryption } = head;
  const opened = openByIndexKey(head, indexKeyOf(id, keys));
  if (opened === undefined) {
    throw new BackupProblem(
      `The first object of ${label} was altered, or is not of this server. Use a new target, and find out who changed this one.`,
    );
  }
  const [stored, set] = [
    encryption.slots.map(({ recipient }) => recipient),
    (keys.recipients ?? []).map(formatRecipient),
  ];
  if (sortedSet(stored).join() !== sortedSet(set).join()) {
    throw new BackupProblem(
      `The backups in ${label} are encrypted for other recipients than MAILSTEAD_BACKUP_RECIPIENT has: ${stored.join(',')}. Set these, or use a new target.`,
    );
  }
  await checkPassphrase(head, keys, label);
  return opened;
}

function sortedSet(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort();
}

async function checkPassphrase(
  { id, encryption }: RecipientHead,
  { passphrase }: BackupKeys,
  label: string,
): Promise<void> {
  if (passphrase === undefined) return;
  if (encryption.passphrase === null) {
    throw new BackupProblem(
      `The backups in ${label} are encrypted for recipients only, and a passphrase is set. Use a new target, or unset MAILSTEAD_BACKUP_PASSPHRASE.`,
    );
  }
  await openByPassphrase(encryption.passphrase, id, passphrase);
}

/** A head as an object: JSON, then its SHA-256. It is not secret. */
export function writeHead(head: RepositoryHead): Buffer {
  const text = JSON.stringify(head);
  return Buffer.from(`${text}\n${hash('sha256', text, 'hex')}\n`);
}

export function readHead(octets: Buffer, label: string): RepositoryHead {
  const [text = '', sum, end, ...more] = octets.toString('utf8').split('\n');
  if (sum !== hash('sha256', text, 'hex') || end !== '' || more.length > 0) {
    throw new BackupProblem(`The first object of ${label} is damaged, or no backup. Use another copy of the backup.`);
  }
  const head = JSON.parse(text) as RepositoryHead;
  if (head.format === 1 || head.format === 2) return head;
  throw new BackupProblem(`${label} was written by a newer Mailstead. Use that version to read it.`);
}

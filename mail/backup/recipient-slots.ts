import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { BackupProblem } from './backup-error.ts';
import { formatRecipient } from './backup-identity.ts';
import type { BackupKeys } from './backup-keys.ts';
import type { ObjectKeys } from './envelope.ts';
import { type HpkeContext, openWith, sealTo } from './hpke.ts';
import { openByPassphrase, type PassphraseSlot, sealByPassphrase } from './passphrase-slot.ts';
import { publicKeyOf, X25519_OCTETS } from './x25519.ts';

/** Private key and index key. */
const SECRET_OCTETS = 2 * X25519_OCTETS;

/**
 * Keys of a repository with recipients. Packs are sealed to its public key. The secret, which is the private key and the
 * index key, is sealed to each recipient: the server forgets the private key, and derives the index key from its key file.
 */
export interface RecipientSlots {
  publicKey: string;
  slots: { recipient: string; key: string }[];
  passphrase: PassphraseSlot | null;
  /** HMAC of the head by the index key: the storage cannot put in another public key or recipient. */
  mac: string;
}

/** The head of a repository with recipients. */
export interface RecipientHead {
  id: string;
  encryption: RecipientSlots;
}

/** Makes the slots of a new repository; their `mac` is that of the head once it is signed. */
export async function createSlots(
  id: string,
  { recipients = [], passphrase }: BackupKeys,
  index: Buffer,
): Promise<RecipientSlots> {
  const privateKey = randomBytes(X25519_OCTETS);
  const secret = Buffer.concat([privateKey, index]);
  return {
    publicKey: publicKeyOf(privateKey).toString('base64'),
    slots: recipients.map((recipient) => ({
      recipient: formatRecipient(recipient),
      key: sealTo(recipient, contextOf(id), secret).toString('base64'),
    })),
    passphrase: passphrase === undefined ? null : await sealByPassphrase(secret, id, passphrase),
    mac: '',
  };
}

function contextOf(id: string): HpkeContext {
  return { info: Buffer.from('mailstead backup slot 1'), aad: Buffer.from(id) };
}

/** HMAC of a head without its own. */
export function macOf(head: RecipientHead, index: Buffer): string {
  const key = Buffer.from(hkdfSync('sha256', index, Buffer.alloc(0), 'mailstead backup head 1', 32));
  const text = JSON.stringify({ ...head, encryption: { ...head.encryption, mac: '' } });
  return createHmac('sha256', key).update(text).digest('base64');
}

/** Keys for backups and listings; undefined if this is not the index key, or the head was altered. */
export function openByIndexKey(head: RecipientHead, index: Buffer): ObjectKeys | undefined {
  const [found, expected] = [Buffer.from(head.encryption.mac), Buffer.from(macOf(head, index))];
  if (found.length !== expected.length || !timingSafeEqual(found, expected)) return undefined;
  const publicKey = Buffer.from(head.encryption.publicKey, 'base64');
  return { index, packs: { repository: head.id, publicKey, privateKey: undefined } };
}

/** Keys for restores. Throws {@link BackupProblem} if neither an identity nor the passphrase opens them. */
export async function openSlots(head: RecipientHead, keys: BackupKeys): Promise<ObjectKeys> {
  const { passphrase } = head.encryption;
  const secret =
    openByIdentities(head, keys) ??
    (passphrase !== null && keys.passphrase !== undefined
      ? await openByPassphrase(passphrase, head.id, keys.passphrase)
      : undefined);
  if (secret === undefined) throw new BackupProblem(missingKey(head.encryption, keys));
  if (secret.length !== SECRET_OCTETS) throw new BackupProblem(ALTERED);
  const [privateKey, index] = [secret.subarray(0, X25519_OCTETS), secret.subarray(X25519_OCTETS)];
  const opened = openByIndexKey(head, index);
  if (opened?.packs?.publicKey.equals(publicKeyOf(privateKey)) !== true) throw new BackupProblem(ALTERED);
  return { index, packs: { ...opened.packs, privateKey } };
}

const ALTERED = 'The first object of the backup was altered or is damaged. Use another copy of the backup.';

function openByIdentities({ id, encryption }: RecipientHead, { identities = [] }: BackupKeys): Buffer | undefined {
  for (const identity of identities) {
    const slot = encryption.slots.find(({ recipient }) => recipient === formatRecipient(publicKeyOf(identity)));
    if (slot === undefined) continue;
    const secret = openWith(identity, contextOf(id), Buffer.from(slot.key, 'base64'));
    if (secret === undefined) throw new BackupProblem(ALTERED);
    return secret;
  }
  return undefined;
}

function missingKey({ slots, passphrase }: RecipientSlots, { identities = [] }: BackupKeys): string {
  const recipients = slots.map(({ recipient }) => recipient).join(' and ');
  const other = passphrase === null ? '' : ', or the passphrase in MAILSTEAD_BACKUP_PASSPHRASE';
  const next = `Set MAILSTEAD_BACKUP_IDENTITY_FILE to the file with the identity of a recipient${other}.`;
  if (identities.length === 0) return `The backup is encrypted for ${recipients}, and no identity is set. ${next}`;
  const own = identities.map((one) => formatRecipient(publicKeyOf(one))).join(' and ');
  return `The identity is wrong for this backup: it is that of ${own}, and the backup is encrypted for ${recipients}. ${next}`;
}

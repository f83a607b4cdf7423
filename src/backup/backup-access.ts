import { readFileSync } from 'node:fs';
import type { BackupSettings } from '../../config/parse-backup.ts';
import { BackupProblem, reasonOf } from '../../mail/backup/backup-error.ts';
import { parseIdentityFile } from '../../mail/backup/backup-identity.ts';
import type { BackupKeys } from '../../mail/backup/backup-keys.ts';
import type { BackupTarget } from '../../mail/backup/backup-target.ts';
import { openTarget } from '../../mail/backup/open-target.ts';
import { openKeyFile } from '../../mail/store/blob/key-file.ts';
import { firstLine, secretKeyOf } from './open-message-bucket.ts';

/** True if backups are encrypted. */
export function isEncrypted({ passphrase, passphraseFile, recipients }: BackupSettings): boolean {
  return passphrase !== undefined || passphraseFile !== undefined || recipients.length > 0;
}

/** False: this server makes backups that it cannot read. */
export function canReadBackups(settings: BackupSettings): boolean {
  const { passphrase, passphraseFile, recipients, identity, identityFile } = settings;
  return (
    recipients.length === 0 || [passphrase, passphraseFile, identity, identityFile].some((one) => one !== undefined)
  );
}

/** Keys that make backups. An identity is not read: making a backup never needs it. */
export async function keysForBackup(settings: BackupSettings, keyFile: string): Promise<BackupKeys> {
  const { recipients } = settings;
  return { passphrase: passphraseOf(settings), recipients, indexKey: await indexKeyIn(keyFile) };
}

/** Keys that list and restore backups. `keyFile` need not exist. */
export async function keysForRestore(settings: BackupSettings, keyFile: string): Promise<BackupKeys> {
  return {
    passphrase: passphraseOf(settings),
    identities: identitiesOf(settings),
    indexKey: await indexKeyIn(keyFile),
  };
}

function passphraseOf({ passphrase, passphraseFile }: BackupSettings): string | undefined {
  return passphrase ?? (passphraseFile === undefined ? undefined : firstLine(passphraseFile, 'BACKUP_PASSPHRASE_FILE'));
}

async function indexKeyIn(keyFile: string): Promise<BackupKeys['indexKey']> {
  const box = await openKeyFile(keyFile, { create: false });
  return 'problem' in box ? undefined : (repository) => box.subkey(`backup index ${repository}`);
}

function identitiesOf({ identity, identityFile }: BackupSettings): Buffer[] {
  const own = identity === undefined ? [] : [identity];
  return identityFile === undefined ? own : [...own, ...readIdentities(identityFile)];
}

function readIdentities(path: string): Buffer[] {
  const found = parseIdentityFile(textOf(path));
  if (found !== undefined) return found;
  throw new BackupProblem(
    `The file ${path} of MAILSTEAD_BACKUP_IDENTITY_FILE has no identity, or a mistyped one. Set it to the file that mailstead backup keygen wrote.`,
  );
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new BackupProblem(`The file ${path} of MAILSTEAD_BACKUP_IDENTITY_FILE cannot be read: ${reasonOf(error)}.`);
  }
}

/** Opens a target with the keys of the settings. */
export function openBackupTarget(name: string, { s3 }: BackupSettings): BackupTarget {
  return openTarget(name, { ...s3, secretKey: secretKeyOf(s3, 'BACKUP') });
}

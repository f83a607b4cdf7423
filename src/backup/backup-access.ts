import type { BackupSettings } from '../../config/parse-backup.ts';
import type { BackupTarget } from '../../mail/backup/backup-target.ts';
import { openTarget } from '../../mail/backup/open-target.ts';
import { firstLine, secretKeyOf } from './open-message-bucket.ts';

/** The passphrase of backups; undefined: they are not encrypted. */
export function passphraseOf({ passphrase, passphraseFile }: BackupSettings): string | undefined {
  return passphrase ?? (passphraseFile === undefined ? undefined : firstLine(passphraseFile, 'BACKUP_PASSPHRASE_FILE'));
}

/** Opens a target with the keys of the settings. */
export function targetOf(name: string, { s3 }: BackupSettings): BackupTarget {
  return openTarget(name, { ...s3, secretKey: secretKeyOf(s3, 'BACKUP') });
}

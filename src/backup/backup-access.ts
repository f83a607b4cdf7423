import { readFileSync } from 'node:fs';
import type { BackupSettings } from '../../config/parse-backup.ts';
import { BackupProblem, reasonOf } from '../../mail/backup/backup-error.ts';
import type { BackupTarget } from '../../mail/backup/backup-target.ts';
import { openTarget } from '../../mail/backup/open-target.ts';

/** The passphrase of backups; undefined: they are not encrypted. */
export function passphraseOf({ passphrase, passphraseFile }: BackupSettings): string | undefined {
  return passphrase ?? (passphraseFile === undefined ? undefined : firstLine(passphraseFile, 'BACKUP_PASSPHRASE_FILE'));
}

/** Opens a target with the keys of the settings. */
export function targetOf(name: string, { s3 }: BackupSettings): BackupTarget {
  const { secretKey, secretKeyFile } = s3;
  const fromFile = secretKeyFile === undefined ? undefined : firstLine(secretKeyFile, 'BACKUP_S3_SECRET_KEY_FILE');
  return openTarget(name, { ...s3, secretKey: secretKey ?? fromFile });
}

function firstLine(path: string, setting: string): string {
  try {
    const [line = ''] = readFileSync(path, 'utf8').split(/\r?\n/, 1);
    if (line !== '') return line;
  } catch (error) {
    throw new BackupProblem(`The file ${path} of MAILSTEAD_${setting} cannot be read: ${reasonOf(error)}.`);
  }
  throw new BackupProblem(`The file ${path} of MAILSTEAD_${setting} is empty. Write the secret into its first line.`);
}

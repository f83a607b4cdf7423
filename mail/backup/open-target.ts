import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { bucketOptions, type S3Access } from '../store/bucket/bucket-options.ts';
import { BackupProblem } from './backup-error.ts';
import type { BackupTarget } from './backup-target.ts';
import { BackupDirectory } from './directory-target.ts';
import { BackupFile } from './file-target.ts';
import { S3Target } from './s3-target.ts';

/**
 * Opens a target by its name: `s3://bucket/prefix`, a directory, or a file. A path that does not exist yet is a file if
 * its name has a dot after its first character and no slash at its end.
 */
export function openTarget(name: string, s3: S3Access): BackupTarget {
  if (name.startsWith('s3://')) return openBucket(name, s3);
  if (/^[a-z][a-z0-9+.-]*:\/\//.test(name)) {
    throw new BackupProblem(`${name} is no target of backups. Name a directory, a file or s3://bucket/prefix.`);
  }
  const path = resolve(name);
  return isFile(name, path) ? new BackupFile(path) : new BackupDirectory(path);
}

function isFile(name: string, path: string): boolean {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts !== undefined) return facts.isFile();
  return !name.endsWith('/') && basename(path).includes('.', 1);
}

function openBucket(name: string, access: S3Access): BackupTarget {
  const options = bucketOptions(name, access, 'MAILSTEAD_BACKUP_S3');
  if ('problem' in options) throw new BackupProblem(options.problem);
  return new S3Target(options);
}

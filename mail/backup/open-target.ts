import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { BackupProblem } from './backup-error.ts';
import type { BackupTarget } from './backup-target.ts';
import { BackupDirectory } from './directory-target.ts';
import { BackupFile } from './file-target.ts';
import { S3Target } from './s3-target.ts';

/** Service and keys of `s3://` targets. */
export interface S3Access {
  endpoint: string | undefined;
  region: string;
  accessKey: string | undefined;
  secretKey: string | undefined;
}

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

function openBucket(name: string, { endpoint, region, accessKey, secretKey }: S3Access): BackupTarget {
  const [bucket = '', ...prefix] = name
    .slice('s3://'.length)
    .split('/')
    .filter((part) => part !== '');
  if (!/^[a-z0-9][a-z0-9.-]{1,62}$/.test(bucket)) {
    throw new BackupProblem(`"${bucket}" is no name of a bucket. Use s3://bucket/prefix.`);
  }
  if (accessKey === undefined || secretKey === undefined) {
    throw new BackupProblem('Set MAILSTEAD_BACKUP_S3_ACCESS_KEY and MAILSTEAD_BACKUP_S3_SECRET_KEY for s3:// targets.');
  }
  return new S3Target({
    endpoint: new URL(endpoint ?? `https://s3.${region}.amazonaws.com`),
    region,
    accessKey,
    secretKey,
    bucket,
    prefix: prefix.join('/'),
  });
}

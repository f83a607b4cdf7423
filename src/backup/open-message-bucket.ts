import { readFileSync } from 'node:fs';
import type { S3Settings } from '../../config/parse-s3.ts';
import type { Settings } from '../../config/settings.ts';
import { BackupProblem, reasonOf } from '../../mail/backup/backup-error.ts';
import { openKeyFile } from '../../mail/store/blob/key-file.ts';
import type { SecretBox } from '../../mail/store/blob/secrets.ts';
import { bucketOptions } from '../../mail/store/bucket/bucket-options.ts';
import { MessageBucket } from '../../mail/store/bucket/message-bucket.ts';
import { bucketOf } from '../../mail/store/bucket/remote-files.ts';
import { S3Client } from '../../mail/store/bucket/s3-client.ts';

/** A sender waits for its reply meanwhile: three attempts, then 451. */
const LIMITS = { attempts: 3, timeoutMs: 60_000 };

/** Opens the bucket of the settings; undefined: large messages are files. */
export function openMessageBucket(
  { bucket, s3 }: Settings['blobs'],
  secrets: SecretBox,
): MessageBucket | { problem: string } | undefined {
  if (bucket === undefined) return undefined;
  const options = bucketOptions(bucket, { ...s3, secretKey: secretKeyOf(s3, 'BLOBS') }, 'MAILSTEAD_BLOBS_S3');
  if ('problem' in options) return options;
  return new MessageBucket(new S3Client({ ...options, ...LIMITS }), secrets.subkey('large messages'));
}

/** The bucket that a data directory has messages in, for another process than its server. */
export async function bucketOfDirectory(
  dataDir: string,
  settings: Settings,
  keyFile: string,
): Promise<MessageBucket | undefined> {
  const used = bucketOf(dataDir);
  if (used === undefined) return undefined;
  if (settings.blobs.bucket === undefined) throw new BackupProblem(missingSetting(used.bucket));
  const box = await openKeyFile(keyFile, { create: false });
  if ('problem' in box) throw new BackupProblem(box.problem);
  const opened = openMessageBucket(settings.blobs, box);
  if (opened === undefined || 'problem' in opened) throw new BackupProblem(opened?.problem ?? '');
  return opened;
}

/** Sentence for a start without the setting. */
export function missingSetting(bucket: string): string {
  return `Large messages of this data directory are in ${bucket}, and MAILSTEAD_BLOBS is not set: set it and its keys. To go back to files, restore a backup to a new data directory.`;
}

/** The secret key of a bucket, also from its file. `group`: the settings that it belongs to. */
export function secretKeyOf({ secretKey, secretKeyFile }: S3Settings, group: 'BACKUP' | 'BLOBS'): string | undefined {
  return secretKeyFile === undefined
    ? secretKey
    : (secretKey ?? firstLine(secretKeyFile, `${group}_S3_SECRET_KEY_FILE`));
}

/** First line of a file that a setting names. */
export function firstLine(path: string, setting: string): string {
  try {
    const [line = ''] = readFileSync(path, 'utf8').split(/\r?\n/, 1);
    if (line !== '') return line;
  } catch (error) {
    throw new BackupProblem(`The file ${path} of MAILSTEAD_${setting} cannot be read: ${reasonOf(error)}.`);
  }
  throw new BackupProblem(`The file ${path} of MAILSTEAD_${setting} is empty. Write the secret into its first line.`);
}

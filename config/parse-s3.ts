import type { Parse } from './parse.ts';

/** Service and keys of a bucket. */
export interface S3Settings {
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly accessKey: string | undefined;
  readonly secretKey: string | undefined;
  readonly secretKeyFile: string | undefined;
}

/** Where large messages are. */
export interface BlobSettings {
  /** `s3://bucket/prefix`. Undefined: files in the data directory. */
  readonly bucket: string | undefined;
  /** Mebibytes of messages of the bucket that are cached on the disk. */
  readonly cacheMb: number;
  readonly s3: S3Settings;
}

/** `s3://bucket/prefix`, as is. */
export const bucketUrl: Parse<string> = (text) =>
  /^s3:\/\/[a-z0-9][a-z0-9.-]{1,62}(?:\/[\w.\-/ ]{0,200})?$/.test(text)
    ? { ok: true, value: text }
    : { ok: false, expected: 's3://bucket/prefix' };

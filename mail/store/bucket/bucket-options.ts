import type { S3Options } from './s3-client.ts';

/** Service and keys of a bucket. */
export interface S3Access {
  endpoint: string | undefined;
  region: string;
  accessKey: string | undefined;
  secretKey: string | undefined;
}

/** Options of `s3://bucket/prefix`, or what is wrong. `settings`: begin of the names of its settings. */
export function bucketOptions(
  name: string,
  { endpoint, region, accessKey, secretKey }: S3Access,
  settings: string,
): S3Options | { problem: string } {
  const [bucket = '', ...prefix] = name
    .slice('s3://'.length)
    .split('/')
    .filter((part) => part !== '');
  if (!/^[a-z0-9][a-z0-9.-]{1,62}$/.test(bucket)) {
    return { problem: `"${bucket}" is no name of a bucket. Use s3://bucket/prefix.` };
  }
  if (accessKey === undefined || secretKey === undefined) {
    return { problem: `Set ${settings}_ACCESS_KEY and ${settings}_SECRET_KEY for ${name}.` };
  }
  const url = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`);
  return { endpoint: url, region, accessKey, secretKey, bucket, prefix: prefix.join('/') };
}

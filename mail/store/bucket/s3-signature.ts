import { createHmac, hash } from 'node:crypto';

/** Access to a bucket. */
export interface S3Credentials {
  accessKey: string;
  secretKey: string;
  region: string;
}

export interface S3Request {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  url: URL;
  /** SHA-256 of the body, in hex. */
  bodyHash: string;
}

/**
 * Headers that sign a request (AWS Signature Version 4). The hash of the body is signed too, so that a bucket refuses
 * octets that were changed on their way.
 */
export function signedHeaders(
  { method, url, bodyHash }: S3Request,
  keys: S3Credentials,
  now: Date,
  service = 's3',
): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, '');
  const day = time.slice(0, 8);
  const headers: [string, string][] = [
    ['host', url.host],
    ['x-amz-content-sha256', bodyHash],
    ['x-amz-date', time],
  ];
  const names = headers.map(([name]) => name).join(';');
  const lines = headers.map(([name, value]) => `${name}:${value}\n`).join('');
  const request = [method, pathOf(url), queryOf(url), lines, names, bodyHash].join('\n');
  const scope = `${day}/${keys.region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, hash('sha256', request, 'hex')].join('\n');
  const key = [day, keys.region, service, 'aws4_request'].reduce<Buffer | string>(
    (previous, part) => createHmac('sha256', previous).update(part).digest(),
    `AWS4${keys.secretKey}`,
  );
  const signature = createHmac('sha256', key).update(text).digest('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${keys.accessKey}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { 'x-amz-content-sha256': bodyHash, 'x-amz-date': time, authorization };
}

/** Percent-encodes as AWS does: all but letters, digits and -._~ */
export function encodePart(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Path of the request; S3 does not encode it a second time. */
function pathOf(url: URL): string {
  return url.pathname === '' ? '/' : url.pathname;
}

function queryOf(url: URL): string {
  const pairs = [...url.searchParams].map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`);
  return pairs.sort().join('&');
}

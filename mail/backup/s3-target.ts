import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { BackupProblem, reasonOf } from './backup-error.ts';
import type { BackupTarget, StoredObject } from './backup-target.ts';
import { encodePart, type S3Credentials, type S3Request, signedHeaders } from './s3-signature.ts';

const ATTEMPTS = 6;
const FIRST_PAUSE_MS = 200;
/** One request with an object of some megabytes on a slow line. */
const TIMEOUT_MS = 120_000;
/** A pack has 8 MiB; the map of a large snapshot may have more. */
const MAX_ANSWER = 1024 * 1024 * 1024;
/** A listing is far smaller. */
const MAX_LISTING = 16 * 1024 * 1024;

export interface S3Options extends S3Credentials {
  /** Base URL of the service, without the bucket. */
  endpoint: URL;
  bucket: string;
  /** Without slashes at its ends; may be empty. */
  prefix: string;
  /** Pause before the second attempt; doubled for each further one. */
  pauseMs?: number;
}

interface S3Answer {
  status: number;
  body: Buffer;
}

/** Backups in a bucket of any service with the S3 protocol, addressed by path. */
export class S3Target implements BackupTarget {
  readonly label: string;
  readonly #options: S3Options;

  constructor(options: S3Options) {
    this.#options = options;
    this.label = `s3://${[options.bucket, options.prefix].filter((part) => part !== '').join('/')}`;
  }

  async put(name: string, octets: Buffer): Promise<void> {
    await this.#request('PUT', this.#url(name), octets);
  }

  async get(name: string): Promise<Buffer | undefined> {
    const { status, body } = await this.#request('GET', this.#url(name));
    return status === 404 ? undefined : body;
  }

  async list(prefix: string): Promise<StoredObject[]> {
    const found: StoredObject[] = [];
    const root = this.#key('');
    for (let token: string | undefined, more = true; more;) {
      const url = this.#url();
      url.searchParams.set('list-type', '2');
      url.searchParams.set('prefix', `${root}${prefix}`);
      if (token !== undefined) url.searchParams.set('continuation-token', token);
      const page = listingOf((await this.#request('GET', url)).body);
      found.push(...page.objects.map(({ name, size }) => ({ name: name.slice(root.length), size })));
      token = page.next;
      more = token !== undefined;
    }
    return found;
  }

  async remove(name: string): Promise<void> {
    await this.#request('DELETE', this.#url(name));
  }

  commit(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #key(name: string): string {
    const { prefix } = this.#options;
    return prefix === '' ? name : `${prefix}/${name}`;
  }

  #url(name?: string): URL {
    const { endpoint, bucket } = this.#options;
    const path = [bucket, ...(name === undefined ? [] : this.#key(name).split('/'))].map(encodePart).join('/');
    return new URL(`${endpoint.pathname === '/' ? endpoint.origin : endpoint.href}/${path}`);
  }

  /** Repeats what may succeed later: a lost connection, 429 and 5xx. */
  async #request(method: S3Request['method'], url: URL, body: Buffer = Buffer.alloc(0)): Promise<S3Answer> {
    let reason = '';
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) await delay((this.#options.pauseMs ?? FIRST_PAUSE_MS) * 2 ** (attempt - 1));
      const answer = await this.#once({ method, url, body }).catch((error: unknown) => reasonOf(error));
      if (typeof answer === 'string') reason = answer;
      else if (answer.status < 300 || (answer.status === 404 && !url.searchParams.has('list-type'))) return answer;
      else if (answer.status !== 429 && answer.status < 500) throw this.#refused(answer);
      else reason = `HTTP ${answer.status}`;
    }
    throw new BackupProblem(
      `${this.label} did not answer ${ATTEMPTS} times: ${reason}. Check MAILSTEAD_BACKUP_S3_ENDPOINT and the service, then run the backup again.`,
    );
  }

  #once(request: S3Request): Promise<S3Answer> {
    const { method, url, body } = request;
    const headers = { ...signedHeaders(request, this.#options, new Date()), 'content-length': body.length };
    const send = url.protocol === 'http:' ? httpRequest : httpsRequest;
    return new Promise((resolve, reject) => {
      const outgoing = send(url, { method, headers, signal: AbortSignal.timeout(TIMEOUT_MS) }, (response) => {
        readBody(response).then((octets) => resolve({ status: response.statusCode ?? 0, body: octets }), reject);
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  #refused({ status, body }: S3Answer): BackupProblem {
    const code = /<Code>([A-Za-z]{1,60})<\/Code>/.exec(body.subarray(0, 4096).toString())?.[1] ?? 'no reason';
    return new BackupProblem(
      `${this.label} refused the request: HTTP ${status}, ${code}. Check the bucket, MAILSTEAD_BACKUP_S3_ACCESS_KEY and its permissions to list, get, put and delete.`,
    );
  }
}

/** Body of an answer, up to the largest object. Rejects if it ends early. */
async function readBody(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_ANSWER) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reads one page of a listing: keys, sizes, and the token of the next page. */
export function listingOf(body: Buffer): { objects: StoredObject[]; next: string | undefined } {
  if (body.length > MAX_LISTING) throw new BackupProblem('The bucket sent a listing that is too long.');
  const text = body.toString('utf8');
  const objects = text
    .split('<Contents>')
    .slice(1)
    .map((one) => ({ name: unescapeXml(textIn(one, 'Key') ?? ''), size: Number(textIn(one, 'Size')) }));
  const next = textIn(text, 'NextContinuationToken');
  return { objects, next: next === undefined ? undefined : unescapeXml(next) };
}

function textIn(text: string, tag: string): string | undefined {
  const start = text.indexOf(`<${tag}>`);
  if (start < 0) return undefined;
  const from = start + tag.length + 2;
  const end = text.indexOf('<', from);
  return end < 0 ? undefined : text.slice(from, end);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replace(/&(\w{2,4});/g, (whole, name: string) => ENTITIES[name] ?? whole);
}

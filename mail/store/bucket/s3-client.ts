import { hash } from 'node:crypto';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { encodePart, type S3Credentials, type S3Request, signedHeaders } from './s3-signature.ts';

const ATTEMPTS = 6;
const FIRST_PAUSE_MS = 200;
/** One request with an object of some megabytes on a slow line. */
const TIMEOUT_MS = 120_000;
/** Octets of an error that are read for its code. */
const MAX_ERROR = 4096;

export interface S3Options extends S3Credentials {
  /** Base URL of the service, without the bucket. */
  endpoint: URL;
  bucket: string;
  /** Without slashes at its ends; may be empty. */
  prefix: string;
  /** Pause before the second attempt; doubled for each further one. */
  pauseMs?: number;
  /** Attempts of a request; default 6. */
  attempts?: number;
  timeoutMs?: number;
}

/** A body that is read again for each attempt. */
export interface S3Stream {
  size: number;
  /** In hex. */
  sha256: string;
  open(): Readable;
}

/** A request that failed: the service does not answer, or refuses it. */
export class S3Failure extends Error {
  override readonly name = 'S3Failure';
  readonly kind: 'unavailable' | 'refused';

  constructor(kind: S3Failure['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Receives the body of an answer. A rejection counts as a lost connection. */
export type S3Receiver<T> = (response: IncomingMessage) => Promise<T>;

/** Requests to a bucket of any service with the S3 protocol, addressed by path. */
export class S3Client {
  readonly label: string;
  readonly #options: S3Options;

  constructor(options: S3Options) {
    this.#options = options;
    this.label = `s3://${[options.bucket, options.prefix].filter((part) => part !== '').join('/')}`;
  }

  /** Key of a name, below the prefix. */
  key(name: string): string {
    const { prefix } = this.#options;
    return prefix === '' ? name : `${prefix}/${name}`;
  }

  /** URL of an object; of the bucket without a name. */
  url(name?: string): URL {
    const { endpoint, bucket } = this.#options;
    const path = [bucket, ...(name === undefined ? [] : this.key(name).split('/'))].map(encodePart).join('/');
    return new URL(`${endpoint.pathname === '/' ? endpoint.origin : endpoint.href}/${path}`);
  }

  /**
   * Sends a request, and repeats what may succeed later: a lost connection, 429 and 5xx. Undefined: 404 for an object.
   * Throws {@link S3Failure}.
   */
  async send<T>(
    method: S3Request['method'],
    url: URL,
    body: Buffer | S3Stream,
    receive: S3Receiver<T>,
  ): Promise<{ value: T } | undefined> {
    const { attempts = ATTEMPTS, pauseMs = FIRST_PAUSE_MS } = this.#options;
    let reason = '';
    for (let attempt = 0; attempt < attempts; attempt++) {
      if (attempt > 0) await delay(pauseMs * 2 ** (attempt - 1));
      const answer = await this.#once(method, url, body, receive).catch((error: unknown) => textOf(error));
      if (typeof answer === 'string') reason = answer;
      else if ('value' in answer) return answer;
      else if (answer.status === 404 && !url.searchParams.has('list-type')) return undefined;
      else if (answer.status !== 429 && answer.status < 500)
        throw new S3Failure('refused', `HTTP ${answer.status}, ${answer.code}`);
      else reason = `HTTP ${answer.status}`;
    }
    throw new S3Failure('unavailable', `did not answer ${attempts} times: ${reason}`);
  }

  async #once<T>(
    method: S3Request['method'],
    url: URL,
    body: Buffer | S3Stream,
    receive: S3Receiver<T>,
  ): Promise<{ value: T } | { status: number; code: string }> {
    const isBuffer = Buffer.isBuffer(body);
    const bodyHash = isBuffer ? hash('sha256', body, 'hex') : body.sha256;
    const headers = {
      ...signedHeaders({ method, url, bodyHash }, this.#options, new Date()),
      'content-length': isBuffer ? body.length : body.size,
    };
    const signal = AbortSignal.timeout(this.#options.timeoutMs ?? TIMEOUT_MS);
    const response = await exchange(method, url, headers, isBuffer ? body : body.open(), signal);
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return { value: await receive(response) };
    return { status, code: errorCodeIn(await readError(response)) };
  }
}

/** Sends the body and returns the answer, whose body is still to be read. */
function exchange(
  method: string,
  url: URL,
  headers: Record<string, string | number>,
  body: Buffer | Readable,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const send = url.protocol === 'http:' ? httpRequest : httpsRequest;
  return new Promise((resolve, reject) => {
    const outgoing = send(url, { method, headers, signal }, resolve);
    outgoing.on('error', reject);
    if (Buffer.isBuffer(body)) outgoing.end(body);
    // A service may answer, and close, before it has read all.
    else pipeline(body, outgoing).catch(reject);
  });
}

async function readError(response: IncomingMessage): Promise<Buffer> {
  const octets: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_ERROR) octets.push(chunk);
    else if (size > 64 * MAX_ERROR) break;
  }
  return Buffer.concat(octets);
}

function errorCodeIn(body: Buffer): string {
  return /<Code>([A-Za-z]{1,60})<\/Code>/.exec(body.toString())?.[1] ?? 'no reason';
}

/** Receives a body of up to `most` octets. */
export function receiveBody(most: number): S3Receiver<Buffer> {
  return async (response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > most) throw new Error('the answer is too long');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  };
}

function textOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message === '' ? (code ?? 'no reason') : message;
}

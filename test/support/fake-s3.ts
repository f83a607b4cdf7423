import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { signedHeaders } from '../../mail/store/bucket/s3-signature.ts';

/** Kinds of trouble that a bucket makes with one request. */
export const S3_FAULTS = ['503', 'reset', 'cut', 'lost', 'late-reset'] as const;
export type S3Fault = (typeof S3_FAULTS)[number];

const KEYS = { accessKey: 'AKIATEST', secretKey: 'secret/of+the=test', region: 'us-east-1' };
const MAX_KEYS = 7;

/** A bucket in memory that checks signatures and makes trouble on request. Lists a few keys a page. */
export class FakeS3 implements AsyncDisposable {
  readonly objects = new Map<string, Buffer>();
  /** Time of each upload. */
  readonly uploaded = new Map<string, Date>();
  /** Requests wait for it. */
  hold: Promise<void> | undefined;
  /** Requests so far. */
  requests = 0;
  /** Fault of the request with this number, counted from 1. */
  fault: { request: number; kind: S3Fault } | undefined;
  /** Fault of any other request. */
  trouble: () => S3Fault | undefined = () => undefined;
  /** Always answers 503. */
  down = false;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<FakeS3> {
    const fakes: FakeS3[] = [];
    const server = createServer((request, response) => {
      // A client that was killed in the middle of a request has no answer.
      fakes[0]?.answer(request, response).catch(() => response.destroy());
    });
    const fake = new FakeS3(server);
    fakes.push(fake);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return fake;
  }

  /** Options of a target in the bucket. */
  get options() {
    const { port } = this.#server.address() as AddressInfo;
    const endpoint = new URL(`http://127.0.0.1:${port}`);
    return { ...KEYS, endpoint, bucket: 'mail-backups', prefix: 'box one', pauseMs: 1 };
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const number = ++this.requests;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    await this.hold;
    const kind = this.fault?.request === number ? this.fault.kind : this.trouble();
    if (this.down || kind === '503') return void response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
    if (kind === 'reset') return void request.socket.destroy();
    const { status, octets } = this.#perform(request, body, kind === 'lost');
    if (kind === 'late-reset') return void request.socket.destroy();
    response.writeHead(status, { 'content-length': octets.length });
    if (request.method === 'HEAD') return void response.end();
    if (kind !== 'cut') return void response.end(octets);
    response.write(octets.subarray(0, octets.length >> 1), () => request.socket.destroy());
    if (octets.length < 2) request.socket.destroy();
  }

  /** `lost`: says that it stored an object, and does not have it. */
  #perform(request: IncomingMessage, body: Buffer, lost: boolean): { status: number; octets: Buffer } {
    const url = new URL(request.url ?? '', `http://${request.headers.host}`);
    const refusal = this.#refusal(request, url, body);
    if (refusal !== undefined) return { status: 403, octets: Buffer.from(`<Error><Code>${refusal}</Code></Error>`) };
    const key = decodeURIComponent(url.pathname.replace(/^\/mail-backups\/?/, ''));
    if (request.method === 'PUT') {
      if (!lost) this.objects.set(key, body);
      this.uploaded.set(key, new Date());
      return { status: 200, octets: Buffer.alloc(0) };
    }
    if (request.method === 'DELETE') {
      this.objects.delete(key);
      return { status: 204, octets: Buffer.alloc(0) };
    }
    if (url.searchParams.get('list-type') === '2') return { status: 200, octets: this.#list(url) };
    const object = this.objects.get(key);
    return object === undefined ? { status: 404, octets: Buffer.alloc(0) } : { status: 200, octets: object };
  }

  #refusal({ method, headers }: IncomingMessage, url: URL, body: Buffer): string | undefined {
    const [, time = ''] = /^(\d{8}T\d{6}Z)$/.exec(String(headers['x-amz-date'])) ?? [];
    const date = time.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, '$1-$2-$3T$4:$5:$6Z');
    const bodyHash = createHash('sha256').update(body).digest('hex');
    const expected = signedHeaders({ method: method as 'GET', url, bodyHash }, KEYS, new Date(date));
    if (bodyHash !== headers['x-amz-content-sha256']) return 'BadDigest';
    return expected['authorization'] === headers.authorization ? undefined : 'SignatureDoesNotMatch';
  }

  #list(url: URL): Buffer {
    const prefix = url.searchParams.get('prefix') ?? '';
    const after = url.searchParams.get('continuation-token') ?? '';
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    const page = keys.slice(0, MAX_KEYS);
    const contents = page.map(
      (key) =>
        `<Contents><Key>${key}</Key><Size>${this.objects.get(key)?.length}</Size><LastModified>${this.uploaded.get(key)?.toISOString()}</LastModified></Contents>`,
    );
    const next = keys.length > page.length ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
    return Buffer.from(`<?xml version="1.0"?><ListBucketResult>${contents.join('')}${next}</ListBucketResult>`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

import { Agent as PlainAgent, type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { responseTo } from '../../mail/limits/http-response.ts';

const MAX_RESPONSE_OCTETS = 64 * 1024;
const MAX_EXCERPT_CHARACTERS = 500;
/** Idle connections per receiver, and their timeout. */
const MAX_IDLE_CONNECTIONS = 10;
const IDLE_TIMEOUT_MS = 5_000;

export interface PostResult {
  /** HTTP; null: no answer. */
  status: number | null;
  /** Reason of the failure; null: success. */
  problem: string | null;
  /** Begin of the response body. */
  response: string;
}

export interface PostRequest {
  url: URL;
  /** The checked address: the name is not looked up again. */
  ip: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Sends HTTP requests to receivers. Reuses idle connections, only to the same address. */
export class Poster implements Disposable {
  readonly #plain = new PlainAgent({ keepAlive: true, maxFreeSockets: MAX_IDLE_CONNECTIONS, timeout: IDLE_TIMEOUT_MS });
  readonly #tls = new TlsAgent({ keepAlive: true, maxFreeSockets: MAX_IDLE_CONNECTIONS, timeout: IDLE_TIMEOUT_MS });

  /**
   * Sends one request. Does not follow redirects or decompress; reads up to 64 KiB of the response. The status alone
   * decides: a 200 with an endless body is a success. Never rejects.
   */
  async post(posting: PostRequest, late: AbortSignal): Promise<PostResult> {
    try {
      const answer = await this.#request(posting, late);
      const response = await excerpt(answer);
      const status = answer.statusCode ?? 0;
      if (status >= 200 && status < 300) return { status, problem: null, response };
      const problem =
        status >= 300 && status < 400 ? 'redirects are not followed' : 'the receiver returned an error status';
      return { status, problem, response };
    } catch (error) {
      const problem = late.aborted ? 'no response within 10 seconds' : (error as Error).message.slice(0, 200);
      return { status: null, problem, response: '' };
    }
  }

  [Symbol.dispose](): void {
    this.#plain.destroy();
    this.#tls.destroy();
  }

  async #request(posting: PostRequest, late: AbortSignal): Promise<IncomingMessage> {
    for (let retries = MAX_IDLE_CONNECTIONS; ; retries--) {
      const attempt = this.#send(posting, late);
      try {
        return await attempt.answer;
      } catch (error) {
        // The receiver closed the idle connection while we wrote: retry on another one.
        if (!attempt.request.reusedSocket || late.aborted || retries === 0) throw error;
      }
    }
  }

  #send({ url, ip, headers, body }: PostRequest, signal: AbortSignal) {
    const tls = url.protocol === 'https:';
    const request: ClientRequest = (tls ? tlsRequest : plainRequest)({
      method: 'POST',
      // The checked address, so that no lookup follows; the certificate is checked against the Host field.
      host: ip,
      port: url.port === '' ? (tls ? 443 : 80) : Number(url.port),
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host, 'content-length': String(body.byteLength) },
      agent: tls ? this.#tls : this.#plain,
      signal,
    });
    const answer = responseTo(request);
    request.end(body);
    return { request, answer };
  }
}

/** Reads up to the limit and closes the connection on more. */
async function excerpt(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      if (chunks.length < 8) chunks.push(chunk.subarray(0, 4 * MAX_EXCERPT_CHARACTERS));
      size += chunk.length;
      if (size > MAX_RESPONSE_OCTETS) break;
    }
  } catch {
    // The status decides; the body is informational.
  }
  return sanitized(Buffer.concat(chunks).toString('utf8')).slice(0, MAX_EXCERPT_CHARACTERS);
}

/** Replaces control characters: one line, safe for logs and pages. */
export function sanitized(text: string): string {
  return text.toWellFormed().replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ');
}

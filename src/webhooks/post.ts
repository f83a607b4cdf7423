import { Agent as PlainAgent, type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';

const LARGEST_ANSWER = 64 * 1024;
const EXCERPT = 500;
/** Connections that rest, of one receiver, and for how long. */
const RESTING = 10;
const REST_MS = 5_000;

export interface Posted {
  /** HTTP; null: no answer. */
  status: number | null;
  /** Why it does not count; null: it does. */
  problem: string | null;
  /** How the answer begins. */
  response: string;
}

export interface Posting {
  url: URL;
  /** Was judged just before: the name is not looked up again. */
  ip: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Posts to receivers. Connections that ended well rest a little and are used again, for the same address only. */
export class Poster implements Disposable {
  readonly #plain = new PlainAgent({ keepAlive: true, maxFreeSockets: RESTING, timeout: REST_MS });
  readonly #tls = new TlsAgent({ keepAlive: true, maxFreeSockets: RESTING, timeout: REST_MS });

  /**
   * Redirects are not followed, compressed answers are not undone, an answer is read up to 64 KiB. The status decides:
   * who says 200 and then talks on without an end has taken it. Never rejects.
   */
  async post(posting: Posting, late: AbortSignal): Promise<Posted> {
    try {
      const answer = await this.#ask(posting, late);
      const response = await excerpt(answer);
      const status = answer.statusCode ?? 0;
      if (status >= 200 && status < 300) return { status, problem: null, response };
      const problem = status >= 300 && status < 400 ? 'redirects are not followed' : 'the receiver refused it';
      return { status, problem, response };
    } catch (error) {
      const problem = late.aborted ? 'no answer within 10 seconds' : (error as Error).message.slice(0, 200);
      return { status: null, problem, response: '' };
    }
  }

  [Symbol.dispose](): void {
    this.#plain.destroy();
    this.#tls.destroy();
  }

  async #ask(posting: Posting, late: AbortSignal): Promise<IncomingMessage> {
    for (let left = RESTING; ; left--) {
      const asked = this.#send(posting, late);
      try {
        return await asked.answer;
      } catch (error) {
        // It rested too long for the receiver, which closed it while we wrote: that is no answer to this request.
        if (!asked.request.reusedSocket || late.aborted || left === 0) throw error;
      }
    }
  }

  #send({ url, ip, headers, body }: Posting, signal: AbortSignal) {
    const tls = url.protocol === 'https:';
    const request: ClientRequest = (tls ? tlsRequest : plainRequest)({
      method: 'POST',
      // The address and not the name, so that nothing is looked up; the certificate is checked against the Host field.
      host: ip,
      port: url.port === '' ? (tls ? 443 : 80) : Number(url.port),
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host, 'content-length': String(body.byteLength) },
      agent: tls ? this.#tls : this.#plain,
      signal,
    });
    const { promise: answer, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    request.on('response', resolve).on('error', reject);
    request.end(body);
    return { request, answer };
  }
}

/** Reads so much and hangs up on the rest. */
async function excerpt(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      if (chunks.length < 8) chunks.push(chunk.subarray(0, 4 * EXCERPT));
      size += chunk.length;
      if (size > LARGEST_ANSWER) break;
    }
  } catch {
    // The status was read; how the answer went on is only for people.
  }
  return sanitized(Buffer.concat(chunks).toString('utf8')).slice(0, EXCERPT);
}

/** One line that can stand in a log or a page. */
export function sanitized(text: string): string {
  return text.toWellFormed().replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ');
}

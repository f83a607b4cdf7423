import { type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isIPv6 } from 'node:net';

const LONGEST_MS = 10_000;
const LARGEST_ANSWER = 64 * 1024;
const EXCERPT = 500;

export interface Posted {
  /** HTTP; null: no answer. */
  status: number | null;
  /** Why it does not count; null: it does. */
  problem: string | null;
  /** How the answer begins. */
  response: string;
}

/**
 * Posts to a URL at exactly this address, which was judged just before: the name is not looked up again. Redirects are
 * not followed, an answer is read up to 64 KiB, and all is over after 10 s. Never rejects.
 */
export async function post(url: URL, ip: string, headers: Record<string, string>, body: Buffer): Promise<Posted> {
  const late = AbortSignal.timeout(LONGEST_MS);
  try {
    const answer = await ask(url, ip, headers, body, late);
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

function ask(
  url: URL,
  ip: string,
  headers: Record<string, string>,
  body: Buffer,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const pinned: LookupFunction = (_name, options, done) => {
    const family = isIPv6(ip) ? 6 : 4;
    if (options.all === true) done(null, [{ address: ip, family }]);
    else done(null, ip, family);
  };
  const send = url.protocol === 'https:' ? tlsRequest : plainRequest;
  return new Promise((resolve, reject) => {
    const request: ClientRequest = send(
      url,
      {
        method: 'POST',
        headers: { ...headers, 'content-length': String(body.length) },
        lookup: pinned,
        // A connection of its own each time: none is kept to a receiver that misbehaved, or moved.
        agent: false,
        signal,
      },
      resolve,
    );
    request.on('error', reject);
    request.end(body);
  });
}

/** Reads so much and hangs up on the rest. Compressed answers are not undone. */
async function excerpt(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LARGEST_ANSWER) throw new Error('the answer is larger than 64 KiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .slice(0, EXCERPT)
    .replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ');
}

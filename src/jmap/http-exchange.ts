import type { MemoryReservation } from '../../mail/limits/memory-budget.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '../../mail/guard/network.ts';
import type { JmapSession } from '../../mail/jmap/core/method.ts';
import type { RequestError } from '../../mail/jmap/core/errors.ts';
import { type JmapAuthentication, authenticateJmap } from './authenticate.ts';
import type { AppContext } from '../core/app-context.ts';
import type { Readable } from 'node:stream';

/** CORS for any origin: every request needs a credential that the page itself has, and cookies are not used. */
export const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS',
  'access-control-allow-headers': 'authorization, content-type, range, last-event-id',
  'access-control-expose-headers': 'content-range, retry-after',
  'access-control-max-age': '86400',
} as const;

/** Problem details, RFC 7807. `type` is a URN of RFC 8620 3.6.1, or about:blank. */
export function sendProblemDetails(
  reply: FastifyReply,
  status: number,
  detail: string,
  type = 'about:blank',
): FastifyReply {
  return reply.code(status).type('application/problem+json').send(JSON.stringify({ type, status, detail }));
}

/** Refuses a request for which no memory is left now. */
export function busy(reply: FastifyReply): FastifyReply {
  return sendProblemDetails(
    reply.header('retry-after', '5'),
    503,
    'The server has no memory left for this request. Try again later.',
  );
}

/** Opens the memory of one request and its response: its organization and its network share the budget with others. */
export function openMemory({ memory }: AppContext, session: JmapSession, ip: string): MemoryReservation {
  return memory.open([session.memoryHolder ?? session.credential, networkOf(ip)]);
}

/** Sends a request-level error. */
export function refuseRequest(reply: FastifyReply, error: RequestError): FastifyReply {
  return reply.code(400).type('application/problem+json').send(JSON.stringify(error.toProblem()));
}

/** Sends an authentication error. Omits WWW-Authenticate for pages, so that the browser shows no login dialog. */
export function refuseCaller(
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: Extract<JmapAuthentication, { kind: 'refused' }>,
): FastifyReply {
  if (refusal.status === 401 && request.headers['sec-fetch-site'] === undefined) {
    void reply.header('www-authenticate', 'Basic realm="Mailstead", charset="UTF-8", Bearer realm="Mailstead"');
  }
  if (refusal.retryAfter !== undefined) void reply.header('retry-after', String(refusal.retryAfter));
  return sendProblemDetails(reply, refusal.status, `${refusal.why[0]?.toUpperCase() ?? ''}${refusal.why.slice(1)}.`);
}

export type JmapCaller = Extract<JmapAuthentication, { kind: 'in' }>;

/** Handler of an authenticated request. */
type JmapHandler = (caller: JmapCaller, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Wraps a handler with authentication. */
export function withCaller(context: AppContext, handle: JmapHandler) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const found = await authenticateJmap(context, request);
    return found.kind === 'in' ? handle(found, request, reply) : refuseCaller(request, reply, found);
  };
}

/**
 * Releases what a request holds when it is over and its connection is closed. A client that leaves would otherwise begin the
 * next request while this one still runs.
 */
export function holdUntilClosed(reply: FastifyReply, held: readonly Disposable[]): Disposable {
  let [isOver, isClosed] = [false, reply.raw.closed];
  const release = (): void => {
    if (isOver && isClosed) for (const one of held) one[Symbol.dispose]();
  };
  reply.raw.once('close', () => {
    isClosed = true;
    release();
  });
  return {
    [Symbol.dispose](): void {
      isOver = true;
      release();
    },
  };
}

/** Origin of the client's request; the session's URLs use it. */
export function originOf({ protocol, host }: FastifyRequest): string {
  return `${protocol}://${host}`;
}

/** Maximum octets drained of a too large body: a client still writing when the connection closes never reads the error. */
const MAX_DRAINED_BYTES = 100_000_000;

/** Idle timeout of the socket while a body is transferred; HTTP resets it with the next request. */
export const SILENCE_MS = 30_000;

/** Checks for a client that disconnected during its body: not a server error. */
export function isCutOff(error: Error & { code?: string }): boolean {
  return error.code === 'ECONNRESET' || error.code === 'ERR_STREAM_PREMATURE_CLOSE';
}

/** Reads the whole body; undefined if it is larger than `most` octets, `busy` if `memory` does not suffice now. */
export async function readBody(
  body: Readable,
  most: number,
  memory: MemoryReservation,
): Promise<Buffer | 'busy' | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size <= most && !memory.tryGrow(piece.length)) return 'busy';
    if (size > most) pieces.length = 0;
    else pieces.push(piece);
    if (size > most + MAX_DRAINED_BYTES) break;
  }
  return size > most ? undefined : Buffer.concat(pieces, size);
}

/** Passes `most` + 1 octets of a body, so that the reader detects a larger one; drains the rest. */
export async function* upTo(body: AsyncIterable<Buffer>, most: number): AsyncIterable<Buffer> {
  let size = 0;
  for await (const piece of body) {
    const before = size;
    size += piece.length;
    if (before <= most) yield piece.subarray(0, Math.min(piece.length, most + 1 - before));
    if (size > most + MAX_DRAINED_BYTES) return;
  }
}

import type { AppContext } from '../core/app-context.ts';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { openReadableBlob, mayReadSource } from '../../mail/jmap/blob/blobs.ts';
import { blobRef } from '../../mail/jmap/core/ids.ts';
import { withSharedAccounts } from '../../mail/jmap/core/shared-accounts.ts';
import { mediaType } from '../../mail/jmap/core/media-type.ts';
import type { JmapContext, JmapSession } from '../../mail/jmap/core/method.ts';
import type { KeyedSemaphore } from '../../mail/limits/keyed-semaphore.ts';
import { holdUntilClosed, sendProblemDetails, withCaller, SILENCE_MS } from './http-exchange.ts';

/** Immutable caching, since blobs never change; a sandbox CSP, since mail content must not run on the portal's origin. */
const HEADERS = {
  'cache-control': 'private, immutable, max-age=31536000',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
  'accept-ranges': 'bytes',
} as const;

/** Maximum concurrent downloads per credential; each has a chunk in memory. */
export const MAX_DOWNLOADS = 32;

/** `GET /jmap/download/{accountId}/{blobId}/{name}?accept={type}`. RFC 8620 6.2. */
export function downloadRoutes(
  context: AppContext,
  jmap: JmapContext,
  downloads: KeyedSemaphore<'credential'>,
  app: FastifyInstance,
): void {
  app.get(
    // A wildcard: names may exceed the length limit of route parameters.
    '/jmap/download/:accountId/:blobId/*',
    withCaller(context, async (caller, request, reply) => {
      const session = await withSharedAccounts(context.store, caller.session);
      const permit = downloads.tryAcquire(session);
      if (permit === undefined)
        return sendProblemDetails(reply, 429, `At most ${MAX_DOWNLOADS} concurrent downloads are allowed.`);
      using _held = holdUntilClosed(reply, [permit]);
      request.raw.socket.setTimeout(SILENCE_MS);
      return await download(jmap, session, request, reply);
    }),
  );
}

async function download(
  jmap: JmapContext,
  session: JmapSession,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { accountId, blobId, '*': name } = request.params as Record<'accountId' | 'blobId' | '*', string>;
  const account = session.accounts.get(accountId)?.account;
  const ref = account === undefined ? undefined : blobRef(account, blobId);
  if (account !== undefined && ref?.kind === 'message' && !mayReadSource({ session }, account))
    return sendProblemDetails(reply, 403, NO_SOURCE);
  const blob =
    account === undefined || ref === undefined
      ? undefined
      : await openReadableBlob({ context: jmap, session }, account, ref);
  if (blob === undefined) return sendProblemDetails(reply, 404, 'No such blob in this account.');
  const { accept } = request.query as { accept?: unknown };
  void reply.headers(HEADERS).header('content-disposition', attachment(name)).type(contentType(accept, blob.type));
  const range = readRange(request.headers.range, blob.size);
  if (range === 'unsatisfiable') {
    return sendProblemDetails(
      reply.header('content-range', `bytes */${blob.size}`),
      416,
      'The range starts after the end.',
    );
  }
  if (range !== undefined) {
    void reply.code(206).header('content-range', `bytes ${range.start}-${range.end - 1}/${blob.size}`);
  }
  const { start, end } = range ?? { start: 0, end: blob.size };
  void reply.header('content-length', end - start);
  // For HEAD the framework would read the whole stream and discard it.
  if (request.method === 'HEAD') return reply.send(Readable.from([]));
  const octets = blob.stream(start, end);
  return reply.send(Readable.from(session.wrapDownload?.(octets) ?? octets));
}

const NO_SOURCE = 'Downloading a whole message needs the action "manage". Use Email/get and download its parts.';

/** Content-Disposition with an ASCII fallback and the full name. RFC 6266 4, RFC 8187. */
function attachment(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_').slice(0, 200);
  const real = encodeURIComponent(name.slice(0, 200).toWellFormed()).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${real}`;
}

/** The requested type if valid, else the stored type. */
function contentType(requested: unknown, stored: string): string {
  return (
    mediaType(typeof requested === 'string' && requested !== '' ? requested : stored) ?? 'application/octet-stream'
  );
}

/**
 * Parses a single byte range; `end` is exclusive. Undefined sends the whole resource: for no range, several ranges or an
 * invalid header. RFC 9110 14.1.2.
 */
export function readRange(
  header: string | undefined,
  size: number,
): { start: number; end: number } | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const start = Math.max(0, size - Number(last));
    return Number(last) === 0 || size === 0 ? 'unsatisfiable' : { start, end: size };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size : Math.min(size, Number(last) + 1) };
}

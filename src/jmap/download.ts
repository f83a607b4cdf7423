import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { openShown, seesSource } from '../../mail/jmap/blobs.ts';
import { blobRef } from '../../mail/jmap/ids.ts';
import { mediaType } from '../../mail/jmap/media-type.ts';
import type { JmapDesk, JmapSession } from '../../mail/jmap/method.ts';
import type { World } from '../operations/world.ts';
import { problem } from './answers.ts';
import type { AtOnce } from './at-once.ts';
import { SILENCE_MS } from './body.ts';
import { readRange } from './range.ts';
import { withCaller } from './with-caller.ts';

/** A blob never changes. What a stranger sent must not run where the portal lives. */
const HEADERS = {
  'cache-control': 'private, immutable, max-age=31536000',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
  'accept-ranges': 'bytes',
} as const;

/** Of one credential: each has a piece of its blob in memory. */
export const MOST_DOWNLOADS = 32;

/** `GET /jmap/download/{accountId}/{blobId}/{name}?accept={type}`. RFC 8620 6.2. */
export function downloadRoutes(world: World, desk: JmapDesk, atOnce: AtOnce, app: FastifyInstance): void {
  app.get(
    // Names are longer than parameters of a route may be.
    '/jmap/download/:accountId/:blobId/*',
    withCaller(world, async ({ session }, request, reply) => {
      const place = atOnce.enter(session.credential);
      if (place === undefined) return problem(reply, 429, `At most ${MOST_DOWNLOADS} downloads at once.`);
      reply.raw.once('close', () => place[Symbol.dispose]());
      request.raw.socket.setTimeout(SILENCE_MS);
      return download(desk, session, request, reply);
    }),
  );
}

async function download(
  desk: JmapDesk,
  session: JmapSession,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { accountId, blobId, '*': name } = request.params as Record<'accountId' | 'blobId' | '*', string>;
  const account = session.accounts.get(accountId)?.account;
  const ref = account === undefined ? undefined : blobRef(account, blobId);
  if (account !== undefined && ref?.kind === 'message' && !seesSource({ session }, account))
    return problem(reply, 403, NO_SOURCE);
  const blob =
    account === undefined || ref === undefined ? undefined : await openShown({ desk, session }, account, ref);
  if (blob === undefined) return problem(reply, 404, 'There is no such blob in this account.');
  const { accept } = request.query as { accept?: unknown };
  void reply.headers(HEADERS).header('content-disposition', attachment(name)).type(contentType(accept, blob.type));
  const range = readRange(request.headers.range, blob.size);
  if (range === 'unsatisfiable') {
    return problem(reply.header('content-range', `bytes */${blob.size}`), 416, 'The range lies behind the end.');
  }
  if (range !== undefined) {
    void reply.code(206).header('content-range', `bytes ${range.start}-${range.end - 1}/${blob.size}`);
  }
  const { start, end } = range ?? { start: 0, end: blob.size };
  void reply.header('content-length', end - start);
  // Of HEAD the framework would read the stream to its end and throw it away.
  if (request.method === 'HEAD') return reply.send(Readable.from([]));
  const octets = blob.stream(start, end);
  return reply.send(Readable.from(session.downloads?.(octets) ?? octets));
}

const NO_SOURCE =
  'The octets of a whole message need the action "manage": ask Email/get for what it says, and download its parts.';

/** RFC 6266 4 with RFC 8187: a plain name for old programs, the real one for others. */
function attachment(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_').slice(0, 200);
  const real = encodeURIComponent(name.slice(0, 200).toWellFormed()).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${real}`;
}

/** What the client asks for, else what is known. */
function contentType(asked: unknown, known: string): string {
  return mediaType(typeof asked === 'string' && asked !== '' ? asked : known) ?? 'application/octet-stream';
}

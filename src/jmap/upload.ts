import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestError } from '../../mail/jmap/errors.ts';
import { blobId } from '../../mail/jmap/ids.ts';
import type { JmapDesk, JmapSession } from '../../mail/jmap/method.ts';
import { mediaType } from '../../mail/jmap/media-type.ts';
import { keepBlob } from '../../mail/jmap/uploads.ts';
import { StoreBusy } from '../../mail/store/engine/types.ts';
import type { World } from '../operations/world.ts';
import { problem, refuseRequest } from './answers.ts';
import type { AtOnce } from './at-once.ts';
import { isCutOff, SILENCE_MS, upTo } from './body.ts';
import { withCaller } from './with-caller.ts';

/** `POST /jmap/upload/{accountId}`: the octets as they come. RFC 8620 6.1. */
export function uploadRoutes(world: World, desk: JmapDesk, atOnce: AtOnce, app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    if (error instanceof RequestError) return refuseRequest(reply, error);
    if (error instanceof StoreBusy) return problem(reply, 503, `Nothing was kept: ${error.message}. Try again later.`);
    if (isCutOff(error)) return problem(reply, 400, 'The body ended early.');
    throw error;
  });
  app.post(
    '/jmap/upload/:accountId',
    { bodyLimit: Number.MAX_SAFE_INTEGER },
    withCaller(world, ({ session }, request, reply) => upload(desk, session, atOnce, request, reply)),
  );
}

async function upload(
  desk: JmapDesk,
  session: JmapSession,
  atOnce: AtOnce,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { accountId } = request.params as { accountId: string };
  const access = session.accounts.get(accountId);
  if (access === undefined) return problem(reply, 404, 'There is no such account for this login.');
  if (access.readOnly) return problem(reply, 403, 'This login may read the account and change nothing.');
  const { maxConcurrentUpload, maxSizeUpload } = desk.limits;
  using place = atOnce.enter(session.credential);
  if (place === undefined) {
    throw new RequestError('limit', `At most ${maxConcurrentUpload} uploads at once.`, 'maxConcurrentUpload');
  }
  const type = mediaType((request.headers['content-type'] ?? '').trim()) ?? 'application/octet-stream';
  const body = (request.body ?? request.raw) as Readable;
  const kept = await keepBlob(
    desk,
    { account: access.account, type },
    upTo(patient(body, request), maxSizeUpload),
    maxSizeUpload,
  );
  switch (kept.kind) {
    case 'too-large':
      return refuseRequest(reply.header('connection', 'close'), tooLarge(desk));
    case 'too-many':
      return problem(reply, 429, 'The account holds 1,000 uploads or 500 MB already: use them, or wait a day.');
    case 'uploaded': {
      const answer = { accountId, blobId: blobId({ kind: 'upload', upload: kept.upload }), type, size: kept.size };
      return reply.code(201).type('application/json').send(JSON.stringify(answer));
    }
  }
}

/** Ends the upload of who falls silent. */
async function* patient(body: Readable, { raw }: FastifyRequest): AsyncIterable<Buffer> {
  raw.socket.setTimeout(SILENCE_MS);
  try {
    for await (const piece of body) yield piece as Buffer;
  } finally {
    raw.socket.setTimeout(0);
  }
}

function tooLarge({ limits }: JmapDesk): RequestError {
  return new RequestError('limit', `An upload has at most ${limits.maxSizeUpload} octets.`, 'maxSizeUpload');
}

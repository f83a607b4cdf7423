import type { AppContext } from '../core/app-context.ts';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestError } from '../../mail/jmap/core/errors.ts';
import { blobId } from '../../mail/jmap/core/ids.ts';
import type { JmapContext, JmapSession } from '../../mail/jmap/core/method.ts';
import { mediaType } from '../../mail/jmap/core/media-type.ts';
import { uploadWords } from '../../mail/jmap/blob/blobs.ts';
import { storeUploadStream } from '../../mail/jmap/blob/blob-upload.ts';
import type { KeyedSemaphore } from '../../mail/limits/keyed-semaphore.ts';
import { StoreBusy } from '../../mail/store/engine/types.ts';
import { sendProblemDetails, refuseRequest, withCaller, isCutOff, SILENCE_MS, upTo } from './http-exchange.ts';

/** `POST /jmap/upload/{accountId}`. Streams the body into the store. RFC 8620 6.1. */
export function jmapUploadRoutes(
  context: AppContext,
  jmap: JmapContext,
  uploads: KeyedSemaphore<'credential'>,
  app: FastifyInstance,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    if (error instanceof RequestError) return refuseRequest(reply, error);
    if (error instanceof StoreBusy)
      return sendProblemDetails(reply, 503, `Nothing was stored: ${error.message}. Try again later.`);
    if (isCutOff(error)) return sendProblemDetails(reply, 400, 'The body ended early.');
    throw error;
  });
  app.post(
    '/jmap/upload/:accountId',
    { bodyLimit: Number.MAX_SAFE_INTEGER },
    withCaller(context, ({ session }, request, reply) => upload(jmap, session, uploads, request, reply)),
  );
}

async function upload(
  jmap: JmapContext,
  session: JmapSession,
  uploads: KeyedSemaphore<'credential'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { accountId } = request.params as { accountId: string };
  const access = session.accounts.get(accountId);
  if (access === undefined) return sendProblemDetails(reply, 404, 'This login has no such account.');
  if (access.readOnly) return sendProblemDetails(reply, 403, 'This login has read-only access to the account.');
  const { maxConcurrentUpload, maxSizeUpload } = jmap.limits;
  using permit = uploads.tryAcquire(session);
  if (permit === undefined) {
    throw new RequestError(
      'limit',
      `At most ${maxConcurrentUpload} concurrent uploads are allowed.`,
      'maxConcurrentUpload',
    );
  }
  const type = mediaType((request.headers['content-type'] ?? '').trim()) ?? 'application/octet-stream';
  const body = (request.body ?? request.raw) as Readable;
  const kept = await storeUploadStream(
    jmap,
    { account: access.account, type },
    upTo(patient(body, request), maxSizeUpload),
    maxSizeUpload,
  );
  switch (kept.kind) {
    case 'too-large':
      return refuseRequest(reply.header('connection', 'close'), tooLarge(jmap));
    case 'too-many':
      return sendProblemDetails(reply, 429, 'The account has reached 1,000 uploads or 500 MB. Use them or wait a day.');
    case 'uploaded': {
      // Before anybody knows its id.
      await session.onWords?.({ account: access.account, kinds: [uploadWords(kept.upload)], written: true });
      const answer = { accountId, blobId: blobId({ kind: 'upload', upload: kept.upload }), type, size: kept.size };
      return reply.code(201).type('application/json').send(JSON.stringify(answer));
    }
  }
}

/** Applies the idle timeout to an upload. */
async function* patient(body: Readable, { raw }: FastifyRequest): AsyncIterable<Buffer> {
  raw.socket.setTimeout(SILENCE_MS);
  try {
    for await (const piece of body) yield piece as Buffer;
  } finally {
    raw.socket.setTimeout(0);
  }
}

function tooLarge({ limits }: JmapContext): RequestError {
  return new RequestError('limit', `An upload can have at most ${limits.maxSizeUpload} octets.`, 'maxSizeUpload');
}

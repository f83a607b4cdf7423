import { busy } from './http-exchange.ts';
import type { AppContext } from '../core/app-context.ts';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { RequestError } from '../../mail/jmap/core/errors.ts';
import { jsonPieces } from '../../mail/jmap/core/json-pieces.ts';
import { readIJson } from '../../mail/jmap/core/json.ts';
import type { JmapContext } from '../../mail/jmap/core/method.ts';
import { readRequest } from '../../mail/jmap/core/request.ts';
import { runJmapRequest } from './request-loader.ts';
import type { RequestSlots } from './request-slots.ts';
import {
  holdUntilClosed,
  openMemory,
  sendProblemDetails,
  refuseRequest,
  withCaller,
  isCutOff,
  readBody,
  SILENCE_MS,
} from './http-exchange.ts';

/** Octets of a request and its response, above which the response is serialized as the client reads. */
const MAX_UNSTREAMED = 256 * 1024;

export interface ApiContext {
  context: AppContext;
  jmap: JmapContext;
  requests: RequestSlots;
  /** Capabilities that `using` may name. */
  known: ReadonlySet<string>;
}

/** `POST /jmap/api`. Reads the body as octets: I-JSON is stricter than JSON.parse. */
export function apiRoute({ context, jmap, requests, known }: ApiContext, app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (_request, payload, done) => done(null, payload));
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    if (error instanceof RequestError) return refuseRequest(reply, error);
    if (error.statusCode === 415) {
      return refuseRequest(reply, new RequestError('notJSON', 'Send JSON: Content-Type: application/json.'));
    }
    if ((error.statusCode ?? 500) < 500) return sendProblemDetails(reply, error.statusCode ?? 400, error.message);
    if (isCutOff(error)) return sendProblemDetails(reply, 400, 'The body ended early.');
    throw error;
  });
  app.post(
    '/jmap/api',
    { bodyLimit: Number.MAX_SAFE_INTEGER },
    withCaller(context, async ({ session }, request, reply) => {
      const permit = await requests.take(session);
      if (permit === undefined) throw requests.refusal();
      const memory = openMemory(context, session, request.ip);
      // Held until the response is sent, too: a client that does not read would fill the memory.
      using _held = holdUntilClosed(reply, [permit, memory]);
      const { socket } = request.raw;
      const most = jmap.limits.maxSizeRequest;
      socket.setTimeout(SILENCE_MS);
      const body = await readBody((request.body ?? request.raw) as Readable, most, memory);
      if (body === 'busy') return busy(reply);
      if (body === undefined)
        throw new RequestError('limit', `A request can have at most ${most} octets.`, 'maxSizeRequest');
      socket.setTimeout(0);
      const read = readRequest(readIJson(body), known, jmap.limits);
      const answer = await runJmapRequest(jmap, session, read, memory, () => reply.raw.closed);
      socket.setTimeout(SILENCE_MS);
      const isLong = memory.octets > MAX_UNSTREAMED;
      return reply.type('application/json').send(isLong ? Readable.from(jsonPieces(answer)) : JSON.stringify(answer));
    }),
  );
}

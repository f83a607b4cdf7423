import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { RequestError } from '../../mail/jmap/errors.ts';
import { readJson } from '../../mail/jmap/json.ts';
import type { JmapDesk } from '../../mail/jmap/method.ts';
import { readRequest } from '../../mail/jmap/request.ts';
import type { World } from '../operations/world.ts';
import { answerRequest } from './answer-request.ts';
import { problem, refuseRequest } from './answers.ts';
import type { AtOnce } from './at-once.ts';
import { isCutOff, readBody, SILENCE_MS } from './body.ts';
import { withCaller } from './with-caller.ts';

export interface ApiDesk {
  world: World;
  desk: JmapDesk;
  atOnce: AtOnce;
  /** Capabilities that `using` may name. */
  known: ReadonlySet<string>;
}

/** `POST /jmap/api`: the body as octets, since I-JSON asks more than JSON.parse. */
export function apiRoute({ world, desk, atOnce, known }: ApiDesk, app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (_request, payload, done) => done(null, payload));
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    if (error instanceof RequestError) return refuseRequest(reply, error);
    if (error.statusCode === 415) {
      return refuseRequest(reply, new RequestError('notJSON', 'Send JSON: Content-Type: application/json.'));
    }
    if ((error.statusCode ?? 500) < 500) return problem(reply, error.statusCode ?? 400, error.message);
    if (isCutOff(error)) return problem(reply, 400, 'The body ended early.');
    throw error;
  });
  app.post(
    '/jmap/api',
    { bodyLimit: Number.MAX_SAFE_INTEGER },
    withCaller(world, async ({ session }, request, reply) => {
      const place = atOnce.enter(session.credential);
      if (place === undefined) {
        const most = `At most ${desk.limits.maxConcurrentRequests} requests at once: wait for one to end.`;
        throw new RequestError('limit', most, 'maxConcurrentRequests');
      }
      // Until the answer has left: who asks for much and reads nothing fills the memory with it.
      reply.raw.once('close', () => place[Symbol.dispose]());
      const { socket } = request.raw;
      const most = desk.limits.maxSizeRequest;
      socket.setTimeout(SILENCE_MS);
      const body = await readBody((request.body ?? request.raw) as Readable, most);
      if (body === undefined)
        throw new RequestError('limit', `A request has at most ${most} octets.`, 'maxSizeRequest');
      socket.setTimeout(0);
      const answer = await answerRequest(desk, session, readRequest(readJson(body), known, desk.limits));
      socket.setTimeout(SILENCE_MS);
      return reply.type('application/json').send(JSON.stringify(answer));
    }),
  );
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { JmapDesk, JmapSession } from '../../mail/jmap/method.ts';
import { sessionObject } from '../../mail/jmap/session-object.ts';
import type { World } from '../operations/world.ts';
import { CORS } from './answers.ts';
import { apiRoute } from './api.ts';
import { jmapDesk } from './desk.ts';
import { downloadRoutes } from './download.ts';
import { uploadRoutes } from './upload.ts';
import { withCaller } from './with-caller.ts';

/** The JMAP door. RFC 8620. */
export function jmapRoutes(world: World): (app: FastifyInstance) => void {
  const desk = jmapDesk(world);
  return (app) => {
    app.addHook('onSend', async (_request, reply) => {
      void reply.headers(CORS);
    });
    app.options('/.well-known/jmap', preflight);
    app.options('/jmap/*', preflight);
    const session = withCaller(world, (caller, request, reply) => sendSession(desk, caller.session, request, reply));
    app.get('/.well-known/jmap', session);
    app.get('/jmap/session', session);
    void app.register(async (inner) => apiRoute(world, desk, inner));
    void app.register(async (inner) => uploadRoutes(world, desk, inner));
    void app.register(async (inner) => downloadRoutes(world, desk, inner));
  };
}

const preflight = (_request: FastifyRequest, reply: FastifyReply): FastifyReply => reply.code(204).send();

/** The origin that the client came to: the session's URLs work from where it is. */
export function originOf({ protocol, host }: FastifyRequest): string {
  return `${protocol}://${host}`;
}

async function sendSession(
  desk: JmapDesk,
  session: JmapSession,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return reply
    .header('cache-control', 'no-cache, no-store, must-revalidate')
    .type('application/json')
    .send(JSON.stringify(sessionObject(desk, session, originOf(request))));
}

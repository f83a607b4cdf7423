import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { JmapDesk, JmapSession } from '../../mail/jmap/method.ts';
import { StateWatch } from '../../mail/jmap/push/watch.ts';
import { sessionObject } from '../../mail/jmap/session-object.ts';
import type { World } from '../operations/world.ts';
import { judgeWebhookUrl } from '../sending/webhook-url.ts';
import { Poster } from '../webhooks/post.ts';
import { credentialHolds } from './alive.ts';
import { CORS } from './answers.ts';
import { AtOnce } from './at-once.ts';
import { apiRoute } from './api.ts';
import { Crowd } from './crowd.ts';
import { jmapDesk } from './desk.ts';
import { downloadRoutes, MOST_DOWNLOADS } from './download.ts';
import { eventSourceRoute } from './event-source.ts';
import { Pusher } from './pusher.ts';
import { uploadRoutes } from './upload.ts';
import { Vapid } from './vapid.ts';
import { webSocketRoute } from './web-socket.ts';
import { withCaller } from './with-caller.ts';

/** Connections that wait for changes, of one credential. */
const MOST_OPEN = 100;
/** Each may have a request of the largest size half sent. */
const MOST_SOCKETS = 16;

/** The JMAP door. RFC 8620. */
export function jmapRoutes(world: World): (app: FastifyInstance) => void {
  const watch = new StateWatch(world.store, world.log);
  const pusher = pusherOf(world, watch);
  const desk = jmapDesk(world, pusher);
  const known = new Set(Object.keys(sessionObject(desk, NOBODY, '')['capabilities'] as object));
  // Shared by all listeners: two ports are no second helping.
  const shared = {
    world,
    desk,
    known,
    watch,
    crowd: new Crowd(MOST_SOCKETS),
    atOnce: new AtOnce(desk.limits.maxConcurrentRequests),
  };
  const uploads = new AtOnce(desk.limits.maxConcurrentUpload);
  const downloads = new AtOnce(MOST_DOWNLOADS);
  const crowd = new Crowd(MOST_OPEN);
  return (app) => {
    app.addHook('onSend', async (_request, reply) => {
      void reply.headers(CORS);
    });
    app.addHook('onClose', async () => {
      pusher[Symbol.dispose]();
      watch[Symbol.dispose]();
    });
    app.options('/.well-known/jmap', preflight);
    app.options('/jmap/*', preflight);
    const session = withCaller(world, (caller, request, reply) => sendSession(desk, caller.session, request, reply));
    app.get('/.well-known/jmap', session);
    app.get('/jmap/session', session);
    eventSourceRoute(world, shared.watch, crowd, app);
    void app.register(async (inner) => apiRoute(shared, inner));
    void app.register(async (inner) => uploadRoutes(world, desk, uploads, inner));
    void app.register(async (inner) => downloadRoutes(world, desk, downloads, inner));
    webSocketRoute(shared, app);
  };
}

function pusherOf(world: World, watch: StateWatch): Pusher {
  const { settings, lookNow, metrics, secrets } = world;
  return new Pusher({
    ...world,
    watch,
    vapid: new Vapid(secrets, `mailto:postmaster@${settings.hostname}`),
    poster: new Poster(),
    judge: (url) => judgeWebhookUrl(url, settings.allowPrivateNetworks, lookNow),
    holds: (credential) => credentialHolds(world, credential),
    meter: metrics,
  });
}

const NOBODY: JmapSession = { username: '', accounts: new Map(), credential: '' };

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

import type { AppContext } from '../core/app-context.ts';
import { checkWebhookUrl } from '../webhooks/url-check.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { JmapContext, JmapSession, PushContext } from '../../mail/jmap/core/method.ts';
import { StateWatch } from '../../mail/jmap/push/state-watch.ts';
import { sessionObject } from '../../mail/jmap/core/session-object.ts';
import { withSharedAccounts } from '../../mail/jmap/core/shared-accounts.ts';
import { KeyedSemaphore } from '../../mail/limits/keyed-semaphore.ts';
import { Poster } from '../webhooks/post.ts';
import { WEB_MAIL_PREFIX } from './authenticate.ts';
import { CORS, originOf, sendProblemDetails, withCaller } from './http-exchange.ts';
import { isOwnPage } from '../http/own-page.ts';
import { apiRoute } from './api-route.ts';
import { ConnectionCap } from './session-end.ts';
import { downloadRoutes, MAX_DOWNLOADS } from './download-route.ts';
import { type FirstReadsOf, firstRoute } from './first-route.ts';
import { eventSourceRoute } from './event-source-route.ts';
import { Pusher, Vapid } from './push-sender.ts';
import { RequestSlots } from './request-slots.ts';
import { jmapUploadRoutes } from './upload-route.ts';
import { webSocketRoute } from './web-socket-route.ts';
import { JMAP_LIMITS } from '../../mail/jmap/core/capabilities.ts';
import { DigestReplies } from '../digest/digest-replies.ts';
import { submissionContext } from '../sending/submission-context.ts';
import { lookup } from '../../mail/store/engine/types.ts';
import { rowId } from '../core/ids.ts';
import { findToken } from '../tokens/commands.ts';

/** Maximum event streams per credential. */
const MAX_STREAMS = 100;
/** Maximum WebSockets per credential; each may buffer a request of maximum size. */
const MAX_SOCKETS = 16;

/** Routes of the JMAP endpoint. RFC 8620. `firstReads`: what the page of web mail reads first. */
export function jmapRoutes(context: AppContext, firstReads: FirstReadsOf): (app: FastifyInstance) => void {
  const watch = new StateWatch(context.store, context.log);
  const pusher = pusherOf(context, watch);
  const jmap = createJmapContext(context, pusher);
  const known = new Set(Object.keys(sessionObject(jmap, EMPTY_SESSION, '')['capabilities'] as object));
  // Shared by all listeners, so that limits apply across ports.
  const shared = {
    context,
    jmap,
    known,
    watch,
    sockets: new ConnectionCap(MAX_SOCKETS),
    requests: new RequestSlots(jmap.limits.maxConcurrentRequests),
  };
  const uploads = new KeyedSemaphore({ credential: jmap.limits.maxConcurrentUpload });
  const downloads = new KeyedSemaphore({ credential: MAX_DOWNLOADS });
  const streams = new ConnectionCap(MAX_STREAMS);
  const session = withCaller(context, async (caller, request, reply) =>
    sendSession(jmap, await withSharedAccounts(context.store, caller.session), request, reply),
  );
  const routes = (app: FastifyInstance): void => {
    app.get('/jmap/session', session);
    eventSourceRoute(context, shared.watch, streams, app);
    void app.register(async (inner) => apiRoute(shared, inner));
    void app.register(async (inner) => jmapUploadRoutes(context, jmap, uploads, inner));
    void app.register(async (inner) => downloadRoutes(context, jmap, downloads, inner));
  };
  return (app) => {
    app.addHook('onClose', async () => {
      pusher[Symbol.dispose]();
      watch[Symbol.dispose]();
    });
    void app.register(async (inner) => {
      inner.addHook('onSend', (_request, reply, _payload, done) => {
        void reply.headers(CORS);
        done();
      });
      inner.options('/.well-known/jmap', preflight);
      inner.options('/jmap/*', preflight);
      inner.get('/.well-known/jmap', session);
      routes(inner);
      webSocketRoute(shared, inner);
    });
    const pageRoutes = (inner: FastifyInstance): void => {
      routes(inner);
      firstRoute(shared, firstReads, inner);
    };
    void app.register(async (inner) => ownPagesOnly(context, inner, pageRoutes), {
      prefix: WEB_MAIL_PREFIX.slice(0, -1),
    });
  };
}

/** The same routes for web mail, whose cookie the browser adds to requests of any page: only its own pages may use them. */
function ownPagesOnly(context: AppContext, app: FastifyInstance, routes: (app: FastifyInstance) => void): void {
  app.addHook('onRequest', async (request, reply) =>
    isOwnPage(context, request)
      ? undefined
      : sendProblemDetails(
          reply,
          403,
          'Only pages of web mail may use this address. Programs use /jmap with a credential.',
        ),
  );
  routes(app);
}

function pusherOf(context: AppContext, watch: StateWatch): Pusher {
  const { settings, lookNow, metrics, secrets } = context;
  return new Pusher({
    ...context,
    watch,
    vapid: new Vapid(secrets, `mailto:postmaster@${settings.hostname}`),
    poster: new Poster(),
    checkUrl: (url) => checkWebhookUrl(url, settings.allowPrivateNetworks, lookNow),
    isCredentialValid: (credential) => isCredentialValid(context, credential),
    meter: metrics,
  });
}

const EMPTY_SESSION: JmapSession = { username: '', accounts: new Map(), credential: '' };

const preflight = (_request: FastifyRequest, reply: FastifyReply): FastifyReply => reply.code(204).send();

async function sendSession(
  jmap: JmapContext,
  session: JmapSession,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return reply
    .header('cache-control', 'no-cache, no-store, must-revalidate')
    .type('application/json')
    .send(JSON.stringify(sessionObject(jmap, session, originOf(request))));
}

/** Creates the dependencies of the JMAP methods. */
function createJmapContext(context: AppContext, push: PushContext): JmapContext {
  const { settings, log, queueChanged } = context;
  return {
    ...submissionContext(context),
    limits: JMAP_LIMITS,
    maxMessageBytes: settings.maxMessageBytes,
    push,
    log,
    noticeReplies: new DigestReplies({ ...context, queued: queueChanged }),
  };
}

const passwordHolds = lookup(
  'password-holds',
  (rx, input: { id: number; now: number }): Promise<{ account: number } | undefined> =>
    rx.get<{ account: number }>(
      'SELECT account_id AS account FROM credential WHERE id = ? AND (expires_at IS NULL OR expires_at > ?)',
      input.id,
      input.now,
    ),
);

/** Checks that a session's credential, as in {@link authenticateJmap}, is still valid. */
export async function isCredentialValid(
  { store, clock, agents }: Pick<AppContext, 'store' | 'clock' | 'agents'>,
  credential: string,
): Promise<boolean> {
  const password = /^pwd-(\d{1,15})$/.exec(credential)?.[1];
  if (password !== undefined) {
    const credential = Number(password);
    const found = await store.read(passwordHolds, { id: credential, now: clock() });
    return found !== undefined && (await agents.barredLogin({ ...found, credential })) === undefined;
  }
  const id = rowId('token', credential);
  const token = id === undefined ? undefined : await store.read(findToken, { id });
  if (token === undefined || token.mode === 'frozen') return false;
  return token.expiresAt === null || token.expiresAt > clock();
}

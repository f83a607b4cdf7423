import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findMailbox } from '../../mail/store/mailbox/mailbox.ts';
import { jmapId } from '../../mail/store/object-id.ts';
import type { AppContext } from '../core/app-context.ts';
import { isOwnPage } from '../http/own-page.ts';
import { findMailSession } from '../webmail-sessions/commands.ts';
import { pageHeaders } from '../portal/page-headers.ts';
import { html } from '../portal/html.ts';
import { narrowPage } from '../portal/layout.ts';
import { translatorOf } from '../portal/translator.ts';
import { PAGE_TEXTS } from './page-texts.ts';
import { agentRoutes } from './agent-routes.ts';
import { webAssets } from './asset.ts';
import { sendFrame, sendParser, sendPdfViewer, sendShell } from './documents.ts';
import { imageRoute } from './image-proxy.ts';
import { ICON, MANIFEST, serviceWorker } from './installable.ts';
import { followLanguageLink, languageOf, languageRoute } from '../http/language.ts';
import { openFromPortal } from './member-sign-in.ts';
import { senderRoutes } from './sender-routes.ts';
import { shareRoutes } from './share-routes.ts';
import { redirectTo, sessionOf, showSignIn, signInToMail, signOutOfMail } from './sign-in.ts';

import { unsubscribeRoute } from './unsubscribe-routes.ts';
import { snoozeRoutes } from './snooze-routes.ts';

const MAX_FORM_BYTES = 16 * 1024;

/** Web mail at /mail: its documents and files. What it reads and writes goes over /mail/jmap, see src/jmap/routes.ts. */
export function webMailRoutes(context: AppContext): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    await app.register(cookie);
    app.removeAllContentTypeParsers();
    await app.register(formbody, { bodyLimit: MAX_FORM_BYTES });
    app.addHook('onRequest', async (request, reply) => refuseForeignForm(context, request, reply));
    app.addHook('onRequest', followLanguageLink);
    app.get('/mail', (request, reply) => showMail(context, request, reply));
    app.get('/mail/', async (_request, reply) => redirectTo(reply, '/mail'));
    app.get('/mail/sign-in', async (request, reply) => showSignIn(request, reply));
    app.post('/mail/sign-in', (request, reply) => signInToMail(context, request, reply));
    app.post('/mail/open', (request, reply) => openFromPortal(context, request, reply));
    app.post('/mail/sign-out', (request, reply) => signOutOfMail(context, request, reply));
    app.get('/mail/frame', async (request, reply) => sendFrame(request, reply));
    app.get('/mail/pdf', async (request, reply) => sendPdfViewer(request, reply, webAssets()));
    app.get('/mail/parser', async (_request, reply) => sendParser(reply));
    assetRoutes(app);
    imageRoute(context, app);
    agentRoutes(context, app);
    senderRoutes(context, app);
    shareRoutes(context, app);
    snoozeRoutes(context, app);
    unsubscribeRoute(context, app);
    languageRoute(app);
  };
}

/** Checks a form before its body is read: its origin, and the rate of requests of its address. */
function refuseForeignForm(
  context: AppContext,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | undefined {
  if (request.method !== 'POST') return undefined;
  const wait = context.limits.take(request.ip, undefined, context.clock());
  if (isOwnPage(context, request) && wait === 0) return undefined;
  if (wait > 0) void reply.header('retry-after', String(wait));
  const t = translatorOf(request);
  const text = wait > 0 ? t('error.flooded', { wait: t.wait(wait) }) : t('error.foreign-form');
  const title = t('error.no-changes');
  const body = html`<h1>${title}</h1>
    <p>${text}</p>
    <p><a class="button" href="/mail">${PAGE_TEXTS[t.language].openMail}</a></p>`;
  pageHeaders(reply);
  return reply.code(wait > 0 ? 429 : 403).send(narrowPage({ request, title, body }));
}

async function showMail(context: AppContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const hash = sessionOf(request);
  const now = context.clock();
  const session = hash === undefined ? undefined : await context.store.read(findMailSession, { hash, now });
  if (session === undefined) return redirectTo(reply, '/mail/sign-in');
  const inbox = await context.store.read(findMailbox, { account: session.login.account, name: 'INBOX' });
  return sendShell(request, reply, webAssets(), inbox && jmapId('mailbox', inbox.id));
}

function assetRoutes(app: FastifyInstance): void {
  app.get('/mail/assets/:hash/*', async (request, reply) => {
    const { hash, '*': path } = request.params as { hash: string; '*': string };
    const assets = webAssets();
    const file = assets.base === `/mail/assets/${hash}/` ? assets.files.get(path) : undefined;
    if (file === undefined) return reply.callNotFound();
    const packed = /\bgzip\b/.test(request.headers['accept-encoding']?.toString() ?? '');
    if (packed) void reply.header('content-encoding', 'gzip');
    // The frame for PDF documents has no origin; everyone may read these files anyway.
    void reply.header('access-control-allow-origin', '*');
    void reply.header('cache-control', 'public, max-age=31536000, immutable').header('vary', 'accept-encoding');
    return reply.type(file.type).send(packed ? file.gzipped : file.octets);
  });
  const small = (path: string, type: string, text: (request: FastifyRequest) => string): void => {
    const headers = {
      'cache-control': 'no-cache',
      // The worker's own folder is /mail/, and its pages begin at /mail.
      'service-worker-allowed': '/mail',
      // The policy of its script is that of the worker, which fills its cache from this server.
      'content-security-policy': "default-src 'none'; connect-src 'self'; frame-ancestors 'none'",
      vary: 'accept-language, cookie',
    };
    app.get(path, async (request, reply) => reply.headers(headers).type(type).send(text(request)));
  };
  small('/mail/manifest.webmanifest', 'application/manifest+json', () => MANIFEST);
  small('/mail/icon.svg', 'image/svg+xml', () => ICON);
  small('/mail/service-worker.js', 'text/javascript; charset=utf-8', (request) =>
    serviceWorker(webAssets(), languageOf(request)),
  );
}

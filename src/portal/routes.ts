import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import type { FastifyError, FastifyInstance } from 'fastify';
import type { AppContext } from '../core/app-context.ts';
import { SignIn } from '../people/sign-in.ts';
import { OpenIdProvider } from '../single-sign-on/openid-provider.ts';
import { accountRoutes } from './account-pages.ts';
import { approveRoutes } from './approve-pages.ts';
import { appRoutes } from './app-pages.ts';
import { assetRoutes } from './layout.ts';
import { addressExportRoutes } from './address-export.ts';
import { billingRoutes, frontPage } from './front-page.ts';
import { claimRoutes } from './claim-pages.ts';
import { claimRoute } from './claim-api.ts';
import { consentRoutes } from './consent-pages.ts';
import { type PageExchange, type PortalDeps, sendMessagePage } from './page-exchange.ts';
import { deviceRoutes } from './device-pages.ts';
import { finderRoutes } from './finder-routes.ts';
import { forwardRoutes } from './forward-pages.ts';
import { followLanguageLink } from '../http/language.ts';
import { isOwnPage } from '../http/own-page.ts';
import { inviteRoutes } from './invite-pages.ts';
import { organizationRoutes } from './organization-routes.ts';
import { logStreamRoutes } from './log-stream.ts';
import { outboxRoutes } from './approval-api.ts';
import { passkeyRoutes } from './passkey-pages.ts';
import { proofRoutes } from './proof-pages.ts';
import { resetRoutes } from './reset-pages.ts';
import { securityRoutes } from './security-pages.ts';
import { signInRoutes } from './sign-in-pages.ts';
import { singleSignOnRoutes } from './single-sign-on-pages.ts';
import { stepRoutes } from './step-pages.ts';
import { translatorOf } from './translator.ts';

const ROUTES = [
  approveRoutes,
  proofRoutes,
  signInRoutes,
  stepRoutes,
  passkeyRoutes,
  singleSignOnRoutes,
  securityRoutes,
  claimRoutes,
  inviteRoutes,
  resetRoutes,
  accountRoutes,
  appRoutes,
  billingRoutes,
  consentRoutes,
  deviceRoutes,
  forwardRoutes,
  outboxRoutes,
  finderRoutes,
  addressExportRoutes,
  logStreamRoutes,
  organizationRoutes,
];

const MAX_FORM_BYTES = 64 * 1024;

/** Routes of the web portal, and `POST /api/auth/claim`. */
export function portalRoutes(context: AppContext): (app: FastifyInstance) => Promise<void> {
  // Shared by all listeners, so that login throttling counts across them.
  const deps: PortalDeps = { context, people: new SignIn(context), provider: providerOf(context) };
  return async (app) => {
    await app.register(cookie);
    await app.register(async (inner) => claimRoute(context, deps.people)(inner));
    await app.register(async (inner) => pages(deps, inner));
  };
}

function providerOf({ settings, resolver, clock }: AppContext): OpenIdProvider | undefined {
  const { singleSignOn, allowPrivateNetworks: allowed } = settings;
  return singleSignOn && new OpenIdProvider(singleSignOn, { resolver, allowed }, clock);
}

async function pages(deps: PortalDeps, app: FastifyInstance): Promise<void> {
  app.removeAllContentTypeParsers();
  await app.register(formbody, { bodyLimit: MAX_FORM_BYTES });
  app.setErrorHandler((error: FastifyError, request, reply) => failed({ ...deps, request, reply }, error));
  // CSRF check before the body is read.
  app.addHook('onRequest', async (request, reply) => {
    const exchange = { ...deps, request, reply };
    if (request.method !== 'POST') return undefined;
    if (!isOwnPage(deps.context, request)) return foreignForm(exchange);
    const wait = deps.context.limits.take(request.ip, undefined, deps.context.clock());
    return wait > 0 ? flooded(exchange, wait) : undefined;
  });
  app.addHook('onRequest', followLanguageLink);
  assetRoutes(app);
  app.get('/', (request, reply) => frontPage({ ...deps, request, reply }));
  for (const routes of ROUTES) routes(deps)(app);
}

/** Answers a form that was not accepted. */
function refuseForm(exchange: PageExchange, title: string, text: string, status: number) {
  return sendMessagePage(
    exchange,
    { title, text, href: '/', link: translatorOf(exchange.request)('button.home') },
    status,
  );
}

function foreignForm(exchange: PageExchange) {
  const t = translatorOf(exchange.request);
  return refuseForm(exchange, t('error.no-changes'), t('error.foreign-form'), 403);
}

function flooded(exchange: PageExchange, wait: number) {
  void exchange.reply.header('retry-after', String(wait));
  const t = translatorOf(exchange.request);
  return refuseForm(exchange, t('error.too-many'), t('error.flooded', { wait: t.wait(wait) }), 429);
}

function failed(exchange: PageExchange, error: FastifyError) {
  const status = error.statusCode ?? 500;
  const t = translatorOf(exchange.request);
  if (status < 500) {
    const text = status === 413 ? t('error.large-form') : t('error.no-form');
    return refuseForm(exchange, t('error.no-changes'), text, status);
  }
  exchange.context.log.error({ err: error }, 'failed to render page');
  return refuseForm(exchange, t('error.internal'), t('error.internal-text'), 500);
}

import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import type { FastifyError, FastifyInstance } from 'fastify';
import type { World } from '../operations/world.ts';
import { PeopleDesk } from '../people/desk.ts';
import { accountRoutes } from './account-pages.ts';
import { approveRoutes } from './approve-pages.ts';
import { appRoutes } from './app-pages.ts';
import { assetRoutes } from './assets.ts';
import { billingRoutes } from './billing-page.ts';
import { claimRoutes } from './claim-pages.ts';
import { claimRoute } from './claim-route.ts';
import { consentRoutes } from './consent-pages.ts';
import { type Asked, type Door, sendNotice } from './door.ts';
import { forwardRoutes } from './forward-pages.ts';
import { frontPage } from './front-page.ts';
import { isOwnForm } from './guard.ts';
import { inviteRoutes } from './invite-pages.ts';
import { organizationRoutes } from './organization-routes.ts';
import { outboxRoutes } from './outbox-routes.ts';
import { proofRoutes } from './proof-pages.ts';
import { resetRoutes } from './reset-pages.ts';
import { signInRoutes } from './sign-in-pages.ts';

const ROUTES = [
  approveRoutes,
  proofRoutes,
  signInRoutes,
  claimRoutes,
  inviteRoutes,
  resetRoutes,
  accountRoutes,
  appRoutes,
  billingRoutes,
  consentRoutes,
  forwardRoutes,
  outboxRoutes,
  organizationRoutes,
];

const LARGEST_FORM = 64 * 1024;

/** Everything for people in browsers, and the one route by which a program claims for them. */
export function portalRoutes(world: World): (app: FastifyInstance) => Promise<void> {
  // One for all listeners, or each would give a guesser another try.
  const door: Door = { world, desk: new PeopleDesk(world) };
  return async (app) => {
    await app.register(cookie);
    await app.register(async (inner) => claimRoute(world, door.desk)(inner));
    await app.register(async (inner) => pages(door, inner));
  };
}

async function pages(door: Door, app: FastifyInstance): Promise<void> {
  app.removeAllContentTypeParsers();
  await app.register(formbody, { bodyLimit: LARGEST_FORM });
  app.setErrorHandler((error: FastifyError, request, reply) => failed({ ...door, request, reply }, error));
  // Before the body is read: what another site sends is not even looked at.
  app.addHook('onRequest', async (request, reply) => {
    const asked = { ...door, request, reply };
    if (request.method !== 'POST') return undefined;
    if (!isOwnForm(door.world, request)) return foreignForm(asked);
    const wait = door.world.limits.take(request.ip, undefined, door.world.clock());
    return wait > 0 ? flooded(asked, wait) : undefined;
  });
  assetRoutes(app);
  app.get('/', (request, reply) => frontPage({ ...door, request, reply }));
  for (const routes of ROUTES) routes(door)(app);
}

const BACK = { href: '/', link: 'To the front page' };

function foreignForm(asked: Asked) {
  const text = 'The form was sent from a page of another site, or by a browser that does not say where it comes from.';
  return sendNotice(asked, { title: 'Nothing was done', text, ...BACK }, 403);
}

function flooded(asked: Asked, wait: number) {
  void asked.reply.header('retry-after', String(wait));
  const text = `Too many requests came from your network. Try again in ${wait} seconds.`;
  return sendNotice(asked, { title: 'Too many requests', text, ...BACK }, 429);
}

function failed(asked: Asked, error: FastifyError) {
  const status = error.statusCode ?? 500;
  if (status < 500) {
    const text =
      status === 413 ? 'The form was larger than any of ours.' : 'The browser sent something else than a form.';
    return sendNotice(asked, { title: 'Nothing was done', text, ...BACK }, status);
  }
  asked.world.log.error({ err: error }, 'a page failed');
  const text = 'Something went wrong here; it was logged. Try again in a moment.';
  return sendNotice(asked, { title: 'This did not work', text, ...BACK }, 500);
}

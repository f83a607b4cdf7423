import type { FastifyInstance, FastifyReply } from 'fastify';
import { proveAddress } from '../people/password-commands.ts';
import { formToken, hashOf, isFormToken } from '../people/secrets.ts';
import { type PageExchange, type PortalDeps, redirect, sendPage, sendNotice, visitorOf } from './page-exchange.ts';
import { hidden } from './forms.ts';
import { Fields } from './form-fields.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';
import { linkToken, sendLinkError } from './link-errors.ts';

/** `/auth/prove`: the page behind an address verification link; needs a sign-in with that address. */
export function proofRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/auth/prove', (request, reply) => show({ ...deps, request, reply }));
    app.post('/auth/prove', (request, reply) => prove({ ...deps, request, reply }));
  };
}

async function show(exchange: PageExchange): Promise<FastifyReply> {
  const visitor = await visitorOf(exchange);
  if (visitor === undefined) return signInFirst(exchange);
  const body = html`<h1>Verify your address</h1>
    <p>This confirms that you receive mail at <strong>${visitor.person.email}</strong>.</p>
    <form class="plain" method="post" action="/auth/prove">
      ${hidden('form', formToken(visitor.secret))} ${hidden('token', linkToken(exchange))}
      <button>Verify address</button>
    </form>`;
  return sendPage(exchange, narrowPage({ title: 'Verify your address', body, fromLink: true }), 200, true);
}

function signInFirst(exchange: PageExchange): FastifyReply {
  return sendNotice(exchange, {
    title: 'Sign in first',
    text: 'Sign in on this browser, then open the link in the email again. It is still valid.',
    href: '/login',
    link: 'Sign in',
  });
}

async function prove(exchange: PageExchange): Promise<FastifyReply> {
  const visitor = await visitorOf(exchange);
  const fields = new Fields(exchange.request.body);
  if (visitor === undefined || !isFormToken(fields.text('form'), visitor.secret)) return signInFirst(exchange);
  const hash = hashOf(fields.text('token'));
  if (hash === undefined) return sendLinkError(exchange, 'missing');
  const done = await exchange.context.store.write(proveAddress, { hash, user: visitor.person.id });
  switch (done.kind) {
    case 'proven':
      return redirect(exchange, '/account?done=proven');
    case 'somebody-else':
      return somebodyElse(exchange);
    case 'missing':
    case 'used':
    case 'expired':
      return sendLinkError(exchange, done.kind);
  }
}

function somebodyElse(exchange: PageExchange): FastifyReply {
  const text = 'The link belongs to another account. Sign in with that account. The link is still valid.';
  return sendNotice(exchange, { title: 'Wrong account', text, href: '/account', link: 'Your account' }, 403);
}

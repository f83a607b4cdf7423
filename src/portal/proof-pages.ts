import type { FastifyInstance, FastifyReply } from 'fastify';
import { proveAddress } from '../people/password-commands.ts';
import { formToken, hashOf, isFormToken } from '../people/secrets.ts';
import { type PageExchange, type PortalDeps, redirect, sendPage, sendMessagePage, visitorOf } from './page-exchange.ts';
import { hidden } from './forms.ts';
import { Fields } from './form-fields.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';
import { linkToken, sendLinkError } from './link-errors.ts';
import { translatorOf } from './translator.ts';

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
  const t = translatorOf(exchange.request);
  const title = t('claim.verify-title');
  const address = html`<strong>${visitor.person.email}</strong>`;
  const body = html`<h1>${title}</h1>
    <p>${t.rich('proof.about', { address })}</p>
    <form class="plain" method="post" action="/auth/prove">
      ${hidden('form', formToken(visitor.secret))} ${hidden('token', linkToken(exchange))}
      <button>${t('claim.verify')}</button>
    </form>`;
  return sendPage(exchange, narrowPage({ request: exchange.request, title, body, fromLink: true }), 200, true);
}

function signInFirst(exchange: PageExchange): FastifyReply {
  const t = translatorOf(exchange.request);
  const notice = { title: t('proof.sign-in'), text: t('proof.sign-in-text'), href: '/login' };
  return sendMessagePage(exchange, { ...notice, link: t('button.sign-in') });
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
  const t = translatorOf(exchange.request);
  const notice = { title: t('proof.wrong-account'), text: t('proof.wrong-account-text'), href: '/account' };
  return sendMessagePage(exchange, { ...notice, link: t('account.title') }, 403);
}

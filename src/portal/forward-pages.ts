import { plainName } from '../notices/owners.ts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { hashOf } from '../people/secrets.ts';
import { pendingForward, confirmForward, type InvalidConfirmation } from '../sending/confirmation-commands.ts';
import { type PageExchange, type PortalDeps, sendPage, sendMessagePage } from './page-exchange.ts';
import { hidden } from './forms.ts';
import { Fields } from './form-fields.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';
import { linkToken } from './link-errors.ts';
import { translatorOf } from './translator.ts';

/** `/forward/confirm`: the page behind the confirmation link for a forward's destination. GET does not use it up. */
export function forwardRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/forward/confirm', (request, reply) => show({ ...deps, request, reply }));
    app.post('/forward/confirm', (request, reply) => confirm({ ...deps, request, reply }));
  };
}

async function show(exchange: PageExchange): Promise<FastifyReply> {
  const { store, clock } = exchange.context;
  const token = linkToken(exchange);
  const hash = hashOf(token);
  const found = hash === undefined ? undefined : await store.read(pendingForward, { hash, now: clock() });
  if (found?.kind !== 'asked') return invalidLink(exchange, found?.kind ?? 'missing');
  const { request } = exchange;
  const t = translatorOf(request);
  const title = t('forward.confirm');
  const values = {
    organization: html`<strong>${plainName(found.name)}</strong>`,
    source: html`<strong>${found.source}</strong>`,
    destination: html`<strong>${found.destination}</strong>`,
  };
  const body = html`<h1>${title}</h1>
    <p>${t.rich('forward.about', values)}</p>
    <form class="plain" method="post" action="/forward/confirm">
      ${hidden('token', token)}
      <button>${title}</button>
    </form>
    <p class="small soft">${t('forward.decline')}</p>`;
  return sendPage(exchange, narrowPage({ request, title, body, fromLink: true }), 200, true);
}

async function confirm(exchange: PageExchange): Promise<FastifyReply> {
  const hash = hashOf(new Fields(exchange.request.body).text('token'));
  if (hash === undefined) return invalidLink(exchange, 'missing');
  const done = await exchange.context.store.write(confirmForward, { hash, ip: exchange.request.ip });
  if (done.kind !== 'confirmed') return invalidLink(exchange, done.kind);
  const t = translatorOf(exchange.request);
  const text = t('forward.done-text', { source: done.source, destination: done.destination });
  return sendMessagePage(exchange, { title: t('forward.done'), text, href: '/', link: t('button.home') });
}

function invalidLink(exchange: PageExchange, why: InvalidConfirmation['kind']): FastifyReply {
  const t = translatorOf(exchange.request);
  const notice = { title: t('link.missing'), text: t(`forward.${why}`), href: '/', link: t('button.home') };
  return sendMessagePage(exchange, notice, why === 'missing' ? 404 : 410);
}

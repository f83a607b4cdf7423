import type { FastifyReply, FastifyInstance } from 'fastify';
import { publicId } from '../core/ids.ts';
import { type PageExchange, redirect, sendMessagePage, sendPage, visitorOf, type PortalDeps } from './page-exchange.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';
import { translatorOf } from './translator.ts';

const EXAMPLE = 'create_account_and_claim_link {"ownerEmail": "you@example.com", "organizationName": "Acme"}';

/** `/`: redirects visitors to their organization; shows others what this server is. */
export async function frontPage(exchange: PageExchange): Promise<FastifyReply> {
  const visitor = await visitorOf(exchange);
  if (visitor !== undefined) {
    const [first] = visitor.memberships.filter((one) => !one.frozen);
    return redirect(exchange, first === undefined ? '/account' : `/o/${publicId('organization', first.organization)}`);
  }
  const { settings } = exchange.context;
  const base = exchange.context.baseUrl();
  const { request } = exchange;
  const t = translatorOf(request);
  const monitoring = {
    help: html`<code>bin/mailstead --help</code>`,
    health: html`<a href="/healthz">${t('front.health')}</a>`,
    readiness: html`<a href="/readyz">${t('front.readiness')}</a>`,
    metrics: html`<a href="/metrics">${t('front.metrics')}</a>`,
  };
  const body = html`<h1>${settings.live ? settings.hostname : t('front.local')}</h1>
    <p>${t('front.about')}</p>
    <p>
      <a class="button" href="/mail">${t('front.mail')}</a> <a class="button" href="/login">${t('front.portal')}</a>
    </p>
    <section>
      <h2>${t('layout.for-agents')}</h2>
      <p class="soft">${t.rich('front.endpoint', { url: html`<code>${base}/mcp</code>` })}</p>
      <pre class="copy fold">${EXAMPLE}</pre>
      <p class="small soft">${t('front.claim')}</p>
    </section>
    <section>
      <h2>${t('front.operators')}</h2>
      <p class="soft">${t.rich('front.monitoring', monitoring)}</p>
    </section>`;
  return sendPage(exchange, narrowPage({ request, title: t('front.title'), body, wide: true }));
}

/** `/billing`: target of set_payment_method if MAILSTEAD_BILLING_SETUP_URL is unset. */
export function billingRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/billing', async (request, reply) => {
      const t = translatorOf(request);
      const notice = { title: t('billing.title'), text: t('billing.text'), href: '/', link: t('button.continue') };
      return sendMessagePage({ ...deps, request, reply }, notice);
    });
  };
}

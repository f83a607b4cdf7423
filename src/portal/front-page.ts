import type { FastifyReply, FastifyInstance } from 'fastify';
import { publicId } from '../core/ids.ts';
import { type PageExchange, redirect, sendPage, visitorOf, type PortalDeps } from './page-exchange.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';

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
  const body = html`<h1>${settings.live ? settings.hostname : 'A mail server on this machine'}</h1>
    <p>
      Mailstead receives, stores, serves and sends mail for its domains: IMAP and SMTP for mail programs, HTTP for
      programs, MCP for agents.
    </p>
    <p><a class="button" href="/mail">Open your mail</a> <a class="button" href="/login">Sign in to the portal</a></p>
    <section>
      <h2>For agents</h2>
      <p class="soft">The endpoint is <code>${base}/mcp</code>. One call creates an organization and a token:</p>
      <pre class="copy fold">${EXAMPLE}</pre>
      <p class="small soft">Its owner receives a claim link by email.</p>
    </section>
    <section>
      <h2>For operators</h2>
      <p class="soft">
        <code>bin/mailstead --help</code> on the server. Monitoring: <a href="/healthz">health</a>,
        <a href="/readyz">readiness</a>, <a href="/metrics">metrics</a>.
      </p>
    </section>`;
  return sendPage(exchange, narrowPage({ title: 'Mail server', body, wide: true }));
}

/** `/billing`: target of set_payment_method if MAILSTEAD_BILLING_SETUP_URL is unset. */
export function billingRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/billing', async (request, reply) => {
      const body = html`<h1>No payment required</h1>
        <p>This mail server requires no payment, and no payment method can be added.</p>
        <p><a class="button" href="/">Continue</a></p>`;
      return sendPage({ ...deps, request, reply }, narrowPage({ title: 'No payment required', body }));
    });
  };
}

import type { FastifyReply } from 'fastify';
import { publicId } from '../ids.ts';
import { type Asked, go, send, visitorOf } from './door.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';

const EXAMPLE = 'create_account_and_claim_link {"ownerEmail": "you@example.com", "organizationName": "Acme"}';

/** `/`: where one belongs, or for strangers what this is. */
export async function frontPage(asked: Asked): Promise<FastifyReply> {
  const visitor = await visitorOf(asked);
  if (visitor !== undefined) {
    const [first] = visitor.memberships.filter((one) => !one.frozen);
    return go(asked, first === undefined ? '/account' : `/o/${publicId('organization', first.organization)}`);
  }
  const { settings } = asked.world;
  const base = asked.world.baseUrl();
  const body = html`<h1>${settings.live ? settings.hostname : 'A mail server on this machine'}</h1>
    <p>
      Mailstead receives, stores, serves and sends mail for the domains that it hosts. Mail programs reach it by IMAP
      and SMTP, programs over HTTP, and agents over MCP.
    </p>
    <p><a class="button" href="/login">Sign in</a></p>
    <section>
      <h2>For agents</h2>
      <p class="soft">The endpoint is <code>${base}/mcp</code>. One call makes an organization and a token:</p>
      <pre class="copy fold">${EXAMPLE}</pre>
      <p class="small soft">Its owner gets a claim link by mail and takes it over here.</p>
    </section>
    <section>
      <h2>For whoever runs it</h2>
      <p class="soft">
        <code>bin/mailstead --help</code> on the machine itself. Monitoring: <a href="/healthz">health</a>,
        <a href="/readyz">readiness</a>, <a href="/metrics">metrics</a>.
      </p>
    </section>`;
  return send(asked, narrowPage({ title: 'Mail server', body, wide: true }));
}

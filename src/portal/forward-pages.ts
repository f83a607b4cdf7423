import { plainName } from '../notices/owners.ts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { hashOf } from '../people/secrets.ts';
import { pendingForward, confirmForward, type InvalidConfirmation } from '../sending/confirmation-commands.ts';
import { type PageExchange, type PortalDeps, sendPage, sendNotice } from './page-exchange.ts';
import { hidden } from './forms.ts';
import { Fields } from './form-fields.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';
import { linkToken } from './link-errors.ts';

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
  const body = html`<h1>Confirm forwarding</h1>
    <p>
      The organization <strong>${plainName(found.name)}</strong> wants to forward all mail for
      <strong>${found.source}</strong> to <strong>${found.destination}</strong>.
    </p>
    <form class="plain" method="post" action="/forward/confirm">
      ${hidden('token', token)}
      <button>Confirm forwarding</button>
    </form>
    <p class="small soft">To decline, close this page. Nothing is forwarded without confirmation.</p>`;
  return sendPage(exchange, narrowPage({ title: 'Confirm forwarding', body, fromLink: true }), 200, true);
}

async function confirm(exchange: PageExchange): Promise<FastifyReply> {
  const hash = hashOf(new Fields(exchange.request.body).text('token'));
  if (hash === undefined) return invalidLink(exchange, 'missing');
  const done = await exchange.context.store.write(confirmForward, { hash, ip: exchange.request.ip });
  if (done.kind !== 'confirmed') return invalidLink(exchange, done.kind);
  const text = `Mail for ${done.source} is now forwarded to ${done.destination}.`;
  return sendNotice(exchange, { title: 'Forwarding confirmed', text, href: '/', link: 'Home' });
}

const LINK_ERRORS: Readonly<Record<InvalidConfirmation['kind'], string>> = {
  missing: 'The link is incomplete, was replaced by a newer one, or the forward was removed.',
  used: 'Forwarding is already confirmed. To stop it, contact the organization that set it up.',
  expired: 'The link has expired. The organization can send a new one.',
  frozen: 'The operator of this mail server has frozen the organization. Nothing is forwarded.',
};

function invalidLink(exchange: PageExchange, why: InvalidConfirmation['kind']): FastifyReply {
  const notice = { title: 'Invalid link', text: LINK_ERRORS[why], href: '/', link: 'Home' };
  return sendNotice(exchange, notice, why === 'missing' ? 404 : 410);
}

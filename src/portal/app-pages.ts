import type { FastifyInstance, FastifyReply } from 'fastify';
import { publicId, rowId } from '../core/ids.ts';
import { endGrant, type OAuthGrant, listGrants } from '../oauth/grant-commands.ts';
import { formToken } from '../people/secrets.ts';
import {
  type PageExchange,
  type PortalDeps,
  ownForm,
  redirect,
  sendPage,
  type Visitor,
  visitorOf,
} from './page-exchange.ts';
import { hidden } from './forms.ts';
import { type Html, html, type HtmlPart } from './html.ts';
import { fullPage } from './layout.ts';
import { pageFrame } from './organization-routes.ts';
import { backLink, emptyState, pageHead, timestamp, table } from './components.ts';

/** `/account/apps`: the programs with access for this person, in all organizations. Each can be disconnected. */
export function appRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/account/apps', (request, reply) => open({ ...deps, request, reply }, show));
    app.post('/account/apps', (request, reply) => open({ ...deps, request, reply }, end));
  };
}

async function open(
  exchange: PageExchange,
  handle: (exchange: PageExchange, visitor: Visitor) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const visitor = await visitorOf(exchange);
  return visitor === undefined ? redirect(exchange, '/login?next=/account/apps') : handle(exchange, visitor);
}

async function end(exchange: PageExchange, visitor: Visitor): Promise<FastifyReply> {
  const fields = ownForm(exchange, visitor, '/account/apps');
  if (fields === undefined) return exchange.reply;
  const { person } = visitor;
  const target = fields.text('token');
  const token = rowId('token', target);
  if (token === undefined) return redirect(exchange, '/account/apps');
  const who = { actor: publicId('user', person.id), actorName: person.email, way: 'portal' as const };
  const entry = { ...who, ip: exchange.request.ip, operation: 'disconnect_app', target, detail: {} };
  const done = await exchange.context.store.write(endGrant, { token, user: person.id, entry });
  return redirect(exchange, done.kind === 'ended' ? '/account/apps?done=ended' : '/account/apps');
}

const NONE = emptyState(
  'No connected programs',
  'A program that signs in with OAuth, such as an assistant, asks for your consent here first.',
);

async function show(exchange: PageExchange, visitor: Visitor): Promise<FastifyReply> {
  const { store, clock } = exchange.context;
  const grants = await store.read(listGrants, { user: visitor.person.id, now: clock() });
  const { done } = exchange.request.query as Record<string, unknown>;
  const about = 'Programs that you gave access. Each has the permissions that you granted, never more than your own.';
  const note = html`<div class="note" role="status">
    <p>Program disconnected. Mail that it already queued is still sent.</p>
  </div>`;
  const body = html`${done === 'ended' && note} ${backLink('/account', 'Your account')}
  ${pageHead('Connected programs', about)} ${grants.length === 0 ? NONE : grantTable(exchange, visitor, grants)}`;
  return sendPage(
    exchange,
    fullPage(pageFrame(visitor, 'Connected programs'), html`<div class="reading">${body}</div>`),
  );
}

function grantTable({ context }: PageExchange, visitor: Visitor, grants: readonly OAuthGrant[]): HtmlPart {
  return table(
    'Connected programs',
    ['Program', 'Permissions', 'Last used', ''],
    grants.map((one) => {
      const used = context.lastUsed.freshest(one.token, one.lastUsedAt, 'token');
      return [
        [html`<bdi>${one.name}</bdi>`, html` <span class="soft">since ${timestamp(one.createdAt)}</span>`],
        [one.actions.join(', '), html` <span class="soft">in ${scopeOf(one)}</span>`],
        used === null ? html`<span>Never</span>` : timestamp(used),
        disconnectForm(visitor, one),
      ];
    }),
  );
}

function scopeOf({ organizationName, mailboxes }: OAuthGrant): string {
  if (mailboxes === null) return `all of ${organizationName}`;
  return `${mailboxes.length === 1 ? '1 mailbox' : `${mailboxes.length} mailboxes`} of ${organizationName}`;
}

function disconnectForm({ secret }: Visitor, { token, name }: OAuthGrant): Html {
  return html`<details class="sure">
    <summary>Disconnect</summary>
    <form method="post">
      ${hidden('form', formToken(secret))} ${hidden('token', publicId('token', token))}
      <p class="small"><bdi>${name}</bdi> loses access at once. It can ask for consent again.</p>
      <button class="bad">Disconnect</button>
    </form>
  </details>`;
}

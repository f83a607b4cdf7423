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
import { type Translator, translatorOf } from './translator.ts';

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

async function show(exchange: PageExchange, visitor: Visitor): Promise<FastifyReply> {
  const { store, clock } = exchange.context;
  const grants = await store.read(listGrants, { user: visitor.person.id, now: clock() });
  const { done } = exchange.request.query as Record<string, unknown>;
  const t = translatorOf(exchange.request);
  const title = t('apps.title');
  const note = html`<div class="note" role="status"><p>${t('apps.ended')}</p></div>`;
  const none = emptyState(t('apps.none'), t('apps.none-text'));
  const body = html`${done === 'ended' && note} ${backLink('/account', t('account.title'))}
  ${pageHead(title, t('apps.about'))} ${grants.length === 0 ? none : grantTable(exchange, visitor, grants)}`;
  const frame = pageFrame(exchange.request, visitor, title);
  return sendPage(exchange, fullPage(frame, html`<div class="reading">${body}</div>`));
}

function grantTable({ context, request }: PageExchange, visitor: Visitor, grants: readonly OAuthGrant[]): HtmlPart {
  const t = translatorOf(request);
  return table(
    t('apps.title'),
    [t('apps.program'), t('apps.permissions'), t('devices.last-used'), ''],
    grants.map((one) => {
      const used = context.lastUsed.freshest(one.token, one.lastUsedAt, 'token');
      return [
        [
          html`<bdi>${one.name}</bdi>`,
          html` <span class="soft">${t.rich('devices.since', { time: timestamp(one.createdAt, t) })}</span>`,
        ],
        [one.actions.join(', '), html` <span class="soft">${scopeOf(t, one)}</span>`],
        used === null ? html`<span>${t('devices.never')}</span>` : timestamp(used, t),
        disconnectForm(t, visitor, one),
      ];
    }),
    t,
  );
}

function scopeOf(t: Translator, { organizationName: organization, mailboxes }: OAuthGrant): string {
  if (mailboxes === null) return t('apps.in-all', { organization });
  return t('apps.in-mailboxes', { count: mailboxes.length, organization });
}

function disconnectForm(t: Translator, { secret }: Visitor, { token, name }: OAuthGrant): Html {
  return html`<details class="sure">
    <summary>${t('apps.disconnect')}</summary>
    <form method="post">
      ${hidden('form', formToken(secret))} ${hidden('token', publicId('token', token))}
      <p class="small">${t.rich('apps.disconnect-text', { name: html`<bdi>${name}</bdi>` })}</p>
      <button class="bad">${t('apps.disconnect')}</button>
    </form>
  </details>`;
}

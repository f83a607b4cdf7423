import type { FastifyInstance, FastifyReply } from 'fastify';
import { publicId, rowId } from '../ids.ts';
import { endGrant, type Grant, listGrants } from '../oauth/grant-commands.ts';
import { formToken, isFormToken } from '../people/secrets.ts';
import { type Asked, type Door, go, send, sendNotice, type Visitor, visitorOf } from './door.ts';
import { hidden } from './forms.ts';
import { Fields } from './guard.ts';
import { type Html, html, type Part } from './html.ts';
import { fullPage } from './layout.ts';
import { around } from './organization-routes.ts';
import { crumb, empty, head, moment, table } from './parts.ts';

/** `/account/apps`: the programs that a person let in, in whatever organization, each to be ended alone. */
export function appRoutes(door: Door): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/account/apps', (request, reply) => open({ ...door, request, reply }, show));
    app.post('/account/apps', (request, reply) => open({ ...door, request, reply }, end));
  };
}

async function open(
  asked: Asked,
  handle: (asked: Asked, visitor: Visitor) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const visitor = await visitorOf(asked);
  return visitor === undefined ? go(asked, '/login?next=/account/apps') : handle(asked, visitor);
}

async function end(asked: Asked, visitor: Visitor): Promise<FastifyReply> {
  const fields = new Fields(asked.request.body);
  if (!isFormToken(fields.text('form'), visitor.secret)) {
    const text = 'The form was older than your sign-in. Load the page again and repeat what you did.';
    const notice = { title: 'Nothing was done', text, href: '/account/apps', link: 'Load the page again' };
    return sendNotice(asked, notice, 403);
  }
  const { person } = visitor;
  const target = fields.text('token');
  const token = rowId('token', target);
  if (token === undefined) return go(asked, '/account/apps');
  const who = { actor: publicId('user', person.id), actorName: person.email, way: 'portal' as const };
  const entry = { ...who, ip: asked.request.ip, operation: 'disconnect_app', target, detail: {} };
  const done = await asked.world.store.write(endGrant, { token, user: person.id, entry });
  return go(asked, done.kind === 'ended' ? '/account/apps?done=ended' : '/account/apps');
}

const NONE = empty(
  'No program is connected',
  'A program that can sign you in, such as an assistant, asks you here before it may do anything.',
);

async function show(asked: Asked, visitor: Visitor): Promise<FastifyReply> {
  const { store, clock } = asked.world;
  const grants = await store.read(listGrants, { user: visitor.person.id, now: clock() });
  const { done } = asked.request.query as Record<string, unknown>;
  const about = 'Programs that you let in. Each may do what you ticked, and never more than you may yourself.';
  const note = html`<div class="note" role="status"><p>The program is shut out. What it had begun goes on.</p></div>`;
  const body = html`${done === 'ended' && note} ${crumb('/account', 'Your account')}
  ${head('Connected programs', about)} ${grants.length === 0 ? NONE : list(asked, visitor, grants)}`;
  return send(asked, fullPage(around(visitor, 'Connected programs'), html`<div class="reading">${body}</div>`));
}

function list({ world }: Asked, visitor: Visitor, grants: readonly Grant[]): Part {
  return table(
    'Connected programs',
    ['Program', 'May', 'Last used', ''],
    grants.map((one) => {
      const used = world.lastUsed.freshest(one.token, one.lastUsedAt, 'token');
      return [
        [html`<bdi>${one.name}</bdi>`, html` <span class="soft">since ${moment(one.createdAt)}</span>`],
        [one.actions.join(', '), html` <span class="soft">in ${whereIn(one)}</span>`],
        used === null ? html`<span>never</span>` : moment(used),
        ending(visitor, one),
      ];
    }),
  );
}

function whereIn({ organizationName, mailboxes }: Grant): string {
  if (mailboxes === null) return `all of ${organizationName}`;
  return `${mailboxes.length === 1 ? 'one mailbox' : `${mailboxes.length} mailboxes`} of ${organizationName}`;
}

function ending({ secret }: Visitor, { token, name }: Grant): Html {
  return html`<details class="sure">
    <summary>Disconnect</summary>
    <form method="post">
      ${hidden('form', formToken(secret))} ${hidden('token', publicId('token', token))}
      <p class="small">From this moment on <bdi>${name}</bdi> is refused. It can ask you again.</p>
      <button class="bad">Disconnect it</button>
    </form>
  </details>`;
}

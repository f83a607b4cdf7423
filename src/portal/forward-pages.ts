import type { FastifyInstance, FastifyReply } from 'fastify';
import { harmless } from '../bootstrap/claim-letter.ts';
import { hashOf } from '../people/secrets.ts';
import { askedForward, confirmForward } from '../sending/confirmation-commands.ts';
import { type Asked, type Door, send, sendNotice } from './door.ts';
import { hidden } from './forms.ts';
import { Fields } from './guard.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';
import { linkToken, refusedLink } from './link-page.ts';

/** `/forward/confirm`: the page behind a link that a forward's destination was mailed. Looking at it uses nothing up. */
export function forwardRoutes(door: Door): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/forward/confirm', (request, reply) => show({ ...door, request, reply }));
    app.post('/forward/confirm', (request, reply) => confirm({ ...door, request, reply }));
  };
}

async function show(asked: Asked): Promise<FastifyReply> {
  const { store, clock } = asked.world;
  const token = linkToken(asked);
  const hash = hashOf(token);
  const found = hash === undefined ? undefined : await store.read(askedForward, { hash, now: clock() });
  if (found?.kind !== 'asked') return refusedLink(asked, found?.kind ?? 'missing');
  const body = html`<h1>Get this mail?</h1>
    <p>
      The organization <strong>${harmless(found.name)}</strong> wants to forward all mail for
      <strong>${found.source}</strong> to <strong>${found.destination}</strong>.
    </p>
    <form class="plain" method="post" action="/forward/confirm">
      ${hidden('token', token)}
      <button>Forward it to me</button>
    </form>
    <p class="small soft">If you do not want it, close this page: nothing is forwarded.</p>`;
  return send(asked, narrowPage({ title: 'Get this mail?', body, fromLink: true }), 200, true);
}

async function confirm(asked: Asked): Promise<FastifyReply> {
  const hash = hashOf(new Fields(asked.request.body).text('token'));
  if (hash === undefined) return refusedLink(asked, 'missing');
  const done = await asked.world.store.write(confirmForward, { hash, ip: asked.request.ip });
  if (done.kind !== 'asked') return refusedLink(asked, done.kind);
  const text = `Mail for ${done.source} goes on to ${done.destination} from now on.`;
  return sendNotice(asked, { title: 'It is forwarded', text, href: '/', link: 'To the front page' });
}

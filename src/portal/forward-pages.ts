import type { FastifyInstance, FastifyReply } from 'fastify';
import { harmless } from '../bootstrap/claim-letter.ts';
import { hashOf } from '../people/secrets.ts';
import { askedForward, confirmForward, type DeadConfirmation } from '../sending/confirmation-commands.ts';
import { type Asked, type Door, send, sendNotice } from './door.ts';
import { hidden } from './forms.ts';
import { Fields } from './guard.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';
import { linkToken } from './link-page.ts';

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
  if (found?.kind !== 'asked') return opensNothing(asked, found?.kind ?? 'missing');
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
  if (hash === undefined) return opensNothing(asked, 'missing');
  const done = await asked.world.store.write(confirmForward, { hash, ip: asked.request.ip });
  if (done.kind !== 'confirmed') return opensNothing(asked, done.kind);
  const text = `Mail for ${done.source} goes on to ${done.destination} from now on.`;
  return sendNotice(asked, { title: 'It is forwarded', text, href: '/', link: 'To the front page' });
}

const DEAD: Readonly<Record<DeadConfirmation['kind'], string>> = {
  missing: 'It may have been cut off on its way, a newer letter has another one, or the forward was taken back.',
  used: 'The mail is forwarded already. To get no more of it, ask whoever set the forward.',
  expired: 'Whoever wants to forward mail to you can have a new one sent.',
  frozen: 'The organization that asked was stopped by whoever runs this mail server. Nothing is forwarded.',
};

function opensNothing(asked: Asked, why: DeadConfirmation['kind']): FastifyReply {
  const notice = { title: 'This link opens nothing', text: DEAD[why], href: '/', link: 'To the front page' };
  return sendNotice(asked, notice, why === 'missing' ? 404 : 410);
}

import type { FastifyInstance, FastifyReply } from 'fastify';
import { proveAddress } from '../people/proof-commands.ts';
import { formToken, hashOf, isFormToken } from '../people/secrets.ts';
import { type Asked, type Door, go, send, sendNotice, visitorOf } from './door.ts';
import { hidden } from './forms.ts';
import { Fields } from './guard.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';
import { linkToken, refusedLink } from './link-page.ts';

/** `/auth/prove`: the page behind a link that proves an address, for who is signed in with it. */
export function proofRoutes(door: Door): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/auth/prove', (request, reply) => show({ ...door, request, reply }));
    app.post('/auth/prove', (request, reply) => prove({ ...door, request, reply }));
  };
}

async function show(asked: Asked): Promise<FastifyReply> {
  const visitor = await visitorOf(asked);
  if (visitor === undefined) return signInFirst(asked);
  const body = html`<h1>Prove your address</h1>
    <p>By this you show that you read the mail of <strong>${visitor.person.email}</strong>.</p>
    <form class="plain" method="post" action="/auth/prove">
      ${hidden('form', formToken(visitor.secret))} ${hidden('token', linkToken(asked))}
      <button>Prove the address</button>
    </form>`;
  return send(asked, narrowPage({ title: 'Prove your address', body, fromLink: true }), 200, true);
}

function signInFirst(asked: Asked): FastifyReply {
  return sendNotice(asked, {
    title: 'Sign in first',
    text: 'Sign in on this browser, then open the link in the letter again. It was not used up.',
    href: '/login',
    link: 'Sign in',
  });
}

async function prove(asked: Asked): Promise<FastifyReply> {
  const visitor = await visitorOf(asked);
  const fields = new Fields(asked.request.body);
  if (visitor === undefined || !isFormToken(fields.text('form'), visitor.secret)) return signInFirst(asked);
  const hash = hashOf(fields.text('token'));
  if (hash === undefined) return refusedLink(asked, 'missing');
  const done = await asked.world.store.write(proveAddress, { hash, user: visitor.person.id });
  switch (done.kind) {
    case 'proven':
      return go(asked, '/account?done=proven');
    case 'somebody-else':
      return somebodyElse(asked);
    case 'missing':
    case 'used':
    case 'expired':
      return refusedLink(asked, done.kind);
  }
}

function somebodyElse(asked: Asked): FastifyReply {
  const text = 'The link is for another account than the one that is signed in here. It was not used up.';
  return sendNotice(asked, { title: 'Not your link', text, href: '/account', link: 'To your account' }, 403);
}

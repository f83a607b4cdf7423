import type { FastifyInstance, FastifyReply } from 'fastify';
import { resetFacts, resetPassword } from '../people/password-commands.ts';
import { passwordProblem } from '../people/password.ts';
import { mailReset } from '../people/reset.ts';
import { hashOf } from '../people/secrets.ts';
import { NEW_PASSWORD } from './claim-pages.ts';
import { isPrivate } from './cookie.ts';
import { type Asked, type Door, go, send, sendNotice } from './door.ts';
import { type Filled, field, hidden, problemNote, UNFILLED } from './forms.ts';
import { Fields } from './guard.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';
import { BUSY, linkToken, refusedLink } from './link-page.ts';
import { notPrivate } from './sign-in-pages.ts';

/** `/auth/reset`: asks for a mailed link, and is what the link opens. */
export function resetRoutes(door: Door): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/auth/reset', async (request, reply) => {
      const asked = { ...door, request, reply };
      if (!isPrivate(request)) return notPrivate(asked);
      return 'token' in (request.query as object) ? newPage(asked, linkToken(asked), UNFILLED) : askPage(asked);
    });
    app.post('/auth/reset', async (request, reply) => {
      const asked = { ...door, request, reply };
      if (!isPrivate(request)) return notPrivate(asked);
      const fields = new Fields(request.body);
      return fields.line('token') === undefined ? ask(asked, fields.text('email')) : replace(asked, fields);
    });
  };
}

function askPage(asked: Asked): FastifyReply {
  const email = { name: 'email', label: 'Mail address', type: 'email', autocomplete: 'username' } as const;
  const body = html`<h1>A new password</h1>
    <p>Give the address that you sign in with. A link by which you set a new password is mailed to it.</p>
    <form class="plain" method="post" action="/auth/reset">${field(email)}<button>Mail me a link</button></form>
    <p class="small"><a href="/login">Back to the sign-in</a></p>`;
  return send(asked, narrowPage({ title: 'A new password', body }));
}

/** The same answer at the same moment, whether or not anybody has the address: the work is not waited for. */
function ask(asked: Asked, email: string): FastifyReply {
  void mailReset(asked.world, email);
  return sendNotice(asked, {
    title: 'Look into your mail',
    text: 'If there is an account with this address, and the address was proved, a link is on its way. It is good for an hour.',
    href: '/login',
    link: 'Back to the sign-in',
  });
}

async function newPage(asked: Asked, token: string, filled: Filled, status = 200): Promise<FastifyReply> {
  const { store, clock } = asked.world;
  const hash = hashOf(token);
  const facts = hash === undefined ? undefined : await store.read(resetFacts, { hash, now: clock() });
  if (facts?.kind !== 'reset') return refusedLink(asked, facts?.kind ?? 'missing');
  const known = {
    name: 'username',
    label: 'Mail address',
    value: facts.email,
    readonly: true,
    autocomplete: 'username',
  };
  const body = html`<h1>A new password</h1>
    ${problemNote(filled)}
    <form class="plain" method="post" action="/auth/reset">
      ${hidden('token', token)} ${field(known)} ${field(NEW_PASSWORD, filled)}
      <button>Set the password</button>
    </form>
    <p class="small soft">You are signed out everywhere else by it.</p>`;
  return send(asked, narrowPage({ title: 'A new password', body, fromLink: true }), status, true);
}

async function replace(asked: Asked, fields: Fields): Promise<FastifyReply> {
  const { world, desk } = asked;
  const [token, password] = [fields.text('token'), fields.text('password')];
  const problem = passwordProblem(password);
  if (problem !== undefined) return newPage(asked, token, { values: {}, errors: { password: problem } }, 422);
  const hash = hashOf(token);
  if (hash === undefined) return refusedLink(asked, 'missing');
  const stored = await desk.passwords.hash(password);
  if (stored === undefined) {
    return newPage(asked, token, { values: {}, errors: {}, problem: BUSY }, 503);
  }
  const done = await world.store.write(resetPassword, { hash, password: stored });
  return done.kind === 'reset' ? go(asked, '/login?done=password') : refusedLink(asked, done.kind);
}

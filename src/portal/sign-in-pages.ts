import type { FastifyInstance, FastifyReply } from 'fastify';
import { endSessions, spendSignIn } from '../people/session-commands.ts';
import { hashOf, isFormToken } from '../people/secrets.ts';
import { isPrivate } from './cookie.ts';
import { type Asked, type Door, go, send, sendNotice, signIn, signOut, visitorOf } from './door.ts';
import { type Filled, field, hidden, problemNote, UNFILLED } from './forms.ts';
import { Fields } from './guard.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';
import { BUSY, linkToken, refusedLink, tooMany } from './link-page.ts';

const DONE: Readonly<Record<string, string>> = {
  password: 'Your new password is set. Sign in with it.',
  out: 'You are signed out.',
};

export function signInRoutes(door: Door): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/login', (request, reply) => showLogin({ ...door, request, reply }));
    app.post('/login', (request, reply) => login({ ...door, request, reply }));
    app.post('/logout', (request, reply) => logout({ ...door, request, reply }));
    app.get('/auth/sign-in', (request, reply) => showLink({ ...door, request, reply }));
    app.post('/auth/sign-in', (request, reply) => useLink({ ...door, request, reply }));
  };
}

const OWN_PAGE = /^\/(?:o\/org_\d+(?:\/[\w/-]*)?|account(?:\/apps)?|oauth\/authorize\?[\w%&=.+*-]{1,5000})$/;

/** Only ever back to a page of ours. */
function wayOn(next: unknown): string {
  return typeof next === 'string' && OWN_PAGE.test(next) ? next : '/';
}

async function showLogin(asked: Asked): Promise<FastifyReply> {
  const { next, done } = asked.request.query as Record<string, unknown>;
  if ((await visitorOf(asked)) !== undefined) return go(asked, wayOn(next));
  if (!isPrivate(asked.request)) return notPrivate(asked);
  const said = typeof done === 'string' ? DONE[done] : undefined;
  return loginPage(asked, UNFILLED, wayOn(next), said);
}

/** A password on an open line would be everybody's. */
export function notPrivate(asked: Asked): FastifyReply {
  const text = 'Passwords are taken on encrypted connections only. Open the same page under its https address.';
  const href = asked.world.baseUrl();
  return sendNotice(asked, { title: 'This connection is not encrypted', text, href, link: 'Go to https' }, 403);
}

function loginPage(asked: Asked, filled: Filled, next: string, said?: string, status = 200): FastifyReply {
  const email = { name: 'email', label: 'Mail address', type: 'email', autocomplete: 'username' } as const;
  const password = { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' } as const;
  const body = html`<h1>Sign in</h1>
    ${said !== undefined && html`<div class="note" role="status"><p>${said}</p></div>`} ${problemNote(filled)}
    <form class="plain" method="post" action="/login">
      ${hidden('next', next)} ${field(email, filled)} ${field(password, filled)}
      <button>Sign in</button>
    </form>
    <p class="small"><a href="/auth/reset">Forgot your password?</a></p>
    <p class="small soft">No account yet? Whoever runs your organization can invite you, or open its claim link.</p>`;
  return send(asked, narrowPage({ title: 'Sign in', body }), status);
}

async function login(asked: Asked): Promise<FastifyReply> {
  const { request, desk } = asked;
  const fields = new Fields(request.body);
  const [email, next] = [fields.text('email').trim(), wayOn(fields.text('next'))];
  if (!isPrivate(request)) return notPrivate(asked);
  const checked = await desk.check(email, fields.text('password'), request.ip);
  const again = (problem: string, status: number): FastifyReply =>
    loginPage(asked, { values: { email }, errors: {}, problem }, next, undefined, status);
  switch (checked.kind) {
    case 'right':
      await signIn(asked, checked.account.user);
      return go(asked, next);
    case 'wrong':
      return again('This address and password do not belong together.', 422);
    case 'throttled':
      void asked.reply.header('retry-after', String(checked.retryAfter));
      return again(tooMany(checked.retryAfter), 429);
    case 'busy':
      return again(BUSY, 503);
  }
}

async function logout(asked: Asked): Promise<FastifyReply> {
  const visitor = await visitorOf(asked);
  if (visitor === undefined) return go(asked, '/login');
  if (!isFormToken(new Fields(asked.request.body).text('form'), visitor.secret)) return go(asked, '/');
  await asked.world.store.write(endSessions, { user: visitor.person.id, id: visitor.session.id });
  signOut(asked);
  return go(asked, '/login?done=out');
}

/** Local mode prints such a link at its start. Looking at it uses nothing up: mail scanners look, too. */
async function showLink(asked: Asked): Promise<FastifyReply> {
  const body = html`<h1>Sign in</h1>
    <p>This link signs you in on this browser, once.</p>
    <form class="plain" method="post" action="/auth/sign-in">
      ${hidden('token', linkToken(asked))}
      <button>Sign in</button>
    </form>`;
  return send(asked, narrowPage({ title: 'Sign in', body, fromLink: true }), 200, true);
}

async function useLink(asked: Asked): Promise<FastifyReply> {
  if (!isPrivate(asked.request)) return notPrivate(asked);
  const hash = hashOf(new Fields(asked.request.body).text('token'));
  if (hash === undefined) return refusedLink(asked, 'missing');
  const done = await asked.world.store.write(spendSignIn, { hash });
  if (done.kind !== 'in') return refusedLink(asked, done.kind);
  await signIn(asked, done.user);
  return go(asked, '/');
}

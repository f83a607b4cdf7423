import type { FastifyInstance, FastifyReply } from 'fastify';
import { endMemberMail } from '../webmail-sessions/end-member-mail.ts';
import { endSessions, spendSignIn } from '../people/session-commands.ts';
import { hashOf, isFormToken } from '../people/secrets.ts';
import { isSecure } from './session-cookie.ts';
import { Fields } from './form-fields.ts';
import {
  type PageExchange,
  type PortalDeps,
  redirect,
  sendPage,
  sendMessagePage,
  signIn,
  signOut,
  mustEnroll,
  visitorToEnroll,
} from './page-exchange.ts';
import { type FormState, field, hidden, problemNote, EMPTY_FORM } from './forms.ts';
import { html, type HtmlPart } from './html.ts';
import { narrowPage } from './layout.ts';
import { linkToken, sendLinkError, tooManyAttempts } from './link-errors.ts';
import type { PlainPortalKey } from './message-types.ts';
import { translatorOf } from './translator.ts';

const DONE: Readonly<Record<string, PlainPortalKey>> = {
  password: 'sign-in.done-password',
  out: 'sign-in.done-out',
  step: 'sign-in.done-step',
};

export function signInRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/login', (request, reply) => showLogin({ ...deps, request, reply }));
    app.post('/login', (request, reply) => login({ ...deps, request, reply }));
    app.post('/logout', (request, reply) => logout({ ...deps, request, reply }));
    app.get('/auth/sign-in', (request, reply) => showLink({ ...deps, request, reply }));
    app.post('/auth/sign-in', (request, reply) => useLink({ ...deps, request, reply }));
  };
}

const OWN_PAGE = /^\/(?:o\/org_\d+(?:\/[\w/-]*)?|account(?:\/apps|\/security)?|oauth\/authorize\?[\w%&=.+*-]{1,5000})$/;

/** Target after the sign-in: a page of this site only (open redirect). */
export function returnPath(next: unknown): string {
  return typeof next === 'string' && OWN_PAGE.test(next) ? next : '/';
}

async function showLogin(exchange: PageExchange): Promise<FastifyReply> {
  const { next, done } = exchange.request.query as Record<string, unknown>;
  const visitor = await visitorToEnroll(exchange);
  if (visitor !== undefined) return redirect(exchange, mustEnroll(visitor) ? '/account/security' : returnPath(next));
  if (!isSecure(exchange.request)) return refuseInsecure(exchange);
  const notice = typeof done === 'string' ? DONE[done] : undefined;
  const text = notice && translatorOf(exchange.request)(notice);
  return loginPage(exchange, EMPTY_FORM, returnPath(next), text);
}

/** Refuses password forms without TLS. */
export function refuseInsecure(exchange: PageExchange): FastifyReply {
  const t = translatorOf(exchange.request);
  const notice = { title: t('error.insecure'), text: t('error.insecure-text'), link: t('error.insecure-link') };
  return sendMessagePage(exchange, { ...notice, href: exchange.context.baseUrl() }, 403);
}

function loginPage(
  exchange: PageExchange,
  formState: FormState,
  next: string,
  notice?: string,
  status = 200,
): FastifyReply {
  const t = translatorOf(exchange.request);
  const email = { name: 'email', label: t('field.address'), type: 'email', autocomplete: 'username' } as const;
  const password = {
    name: 'password',
    label: t('field.password'),
    type: 'password',
    autocomplete: 'current-password',
  } as const;
  const title = t('sign-in.title');
  const body = html`<h1>${title}</h1>
    ${notice !== undefined && html`<div class="note" role="status"><p>${notice}</p></div>`} ${problemNote(formState)}
    <form class="plain" method="post" action="/login">
      ${hidden('next', next)} ${field(email, formState)} ${field(password, formState)}
      <button>${t('button.sign-in')}</button>
    </form>
    <form class="plain" method="post" action="/login/passkey">
      ${hidden('next', next)}
      <button class="quiet">${t('passkey.sign-in')}</button>
    </form>
    ${providerLink(exchange, next)}
    <p class="small"><a href="/auth/reset">${t('sign-in.forgot')}</a></p>
    <p class="small soft">${t('sign-in.no-account')}</p>`;
  return sendPage(exchange, narrowPage({ request: exchange.request, title, body }), status);
}

/** A link, not a form: the redirect to the provider leaves the site. */
function providerLink({ provider, request }: PageExchange, next: string): HtmlPart {
  if (provider === undefined) return undefined;
  const href = `/login/provider?next=${encodeURIComponent(next)}`;
  const label = translatorOf(request)('provider.sign-in', { provider: provider.settings.name });
  return html`<p><a class="button quiet" href="${href}">${label}</a></p>`;
}

async function login(exchange: PageExchange): Promise<FastifyReply> {
  const { request, people } = exchange;
  const t = translatorOf(request);
  const fields = new Fields(request.body);
  const [email, next] = [fields.text('email').trim(), returnPath(fields.text('next'))];
  if (!isSecure(request)) return refuseInsecure(exchange);
  const checked = await people.check(email, fields.text('password'), request.ip);
  const again = (problem: string, status: number): FastifyReply =>
    loginPage(exchange, { values: { email }, errors: {}, problem }, next, undefined, status);
  switch (checked.kind) {
    case 'right':
      return redirect(exchange, await signIn(exchange, checked.account.user, { method: 'password', next }));
    case 'wrong':
      return again(t('sign-in.wrong'), 422);
    case 'throttled':
      void exchange.reply.header('retry-after', String(checked.retryAfter));
      return again(tooManyAttempts(t, checked.retryAfter), 429);
    case 'busy':
      return again(t('error.busy'), 503);
  }
}

async function logout(exchange: PageExchange): Promise<FastifyReply> {
  const visitor = await visitorToEnroll(exchange);
  if (visitor === undefined) return redirect(exchange, '/login');
  if (!isFormToken(new Fields(exchange.request.body).text('form'), visitor.secret)) return redirect(exchange, '/');
  await exchange.context.store.write(endSessions, { user: visitor.person.id, id: visitor.session.id });
  await endMemberMail(exchange.context, visitor.person.id);
  signOut(exchange);
  return redirect(exchange, '/login?done=out');
}

/** The page behind a sign-in link, which local mode prints at its start. GET does not use it up: scanners open links. */
async function showLink(exchange: PageExchange): Promise<FastifyReply> {
  const t = translatorOf(exchange.request);
  const title = t('sign-in.title');
  const body = html`<h1>${title}</h1>
    <p>${t('sign-in.link')}</p>
    <form class="plain" method="post" action="/auth/sign-in">
      ${hidden('token', linkToken(exchange))}
      <button>${t('button.sign-in')}</button>
    </form>`;
  return sendPage(exchange, narrowPage({ request: exchange.request, title, body, fromLink: true }), 200, true);
}

async function useLink(exchange: PageExchange): Promise<FastifyReply> {
  if (!isSecure(exchange.request)) return refuseInsecure(exchange);
  const hash = hashOf(new Fields(exchange.request.body).text('token'));
  if (hash === undefined) return sendLinkError(exchange, 'missing');
  const done = await exchange.context.store.write(spendSignIn, { hash });
  if (done.kind !== 'in') return sendLinkError(exchange, done.kind);
  return redirect(exchange, await signIn(exchange, done.user, { method: 'link', next: '/' }));
}

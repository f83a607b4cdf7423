import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppContext } from '../core/app-context.ts';
import { endMailSession, MAIL_SESSION_LIFE_MS, openMailSession } from '../webmail-sessions/commands.ts';
import { mailCookieName, mailSessionHash } from '../webmail-sessions/cookie.ts';
import { newSecret } from '../people/secrets.ts';
import { EMPTY_FORM, field, type FormState, problemNote } from '../portal/forms.ts';
import { Fields } from '../portal/form-fields.ts';
import { isSecure } from '../portal/session-cookie.ts';
import { pageHeaders } from '../portal/page-headers.ts';
import { html } from '../portal/html.ts';
import { narrowPage } from '../portal/layout.ts';
import { languageOf } from '../http/language.ts';
import { translatorOf } from '../portal/translator.ts';
import { PAGE_TEXTS } from './page-texts.ts';

const MAX_AGENT = 200;

/** Shows the form that opens a mailbox. */
export function showSignIn(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { done, address } = request.query as Record<string, unknown>;
  const notice = done === 'out' ? PAGE_TEXTS[languageOf(request)].signedOut : undefined;
  const values = typeof address === 'string' ? { address: address.slice(0, 320) } : {};
  return signInPage(request, reply, { ...EMPTY_FORM, values }, 200, notice);
}

function signInPage(
  request: FastifyRequest,
  reply: FastifyReply,
  form: FormState,
  status: number,
  notice?: string,
): FastifyReply {
  const lang = languageOf(request);
  const texts = PAGE_TEXTS[lang];
  const address = { name: 'address', label: texts.address, type: 'email', autocomplete: 'username' } as const;
  const password = {
    name: 'password',
    label: texts.password,
    type: 'password',
    autocomplete: 'current-password',
  } as const;
  const body = html`<h1>${texts.openMail}</h1>
    ${notice !== undefined && html`<div class="note" role="status"><p>${notice}</p></div>`} ${problemNote(form)}
    <form class="plain" method="post" action="/mail/sign-in">
      ${field(address, form)} ${field(password, form)}
      <button>${texts.signIn}</button>
    </form>
    <p class="small soft">${texts.hint} <a href="/login">${texts.portal}</a></p>`;
  pageHeaders(reply);
  return reply.code(status).send(narrowPage({ request, title: texts.signInTitle, body }));
}

/** Checks address and password as every mail program's, and starts a session. */
export async function signInToMail(
  context: AppContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const fields = new Fields(request.body);
  const address = fields.text('address').trim();
  const again = (problem: string, status: number): FastifyReply =>
    signInPage(request, reply, { values: { address }, errors: {}, problem }, status);
  const lang = languageOf(request);
  const texts = PAGE_TEXTS[lang];
  if (!isSecure(request)) return again(texts.httpsOnly, 403);
  const peer = { ip: request.ip, protocol: 'jmap', secure: true } as const;
  const outcome = await context.logins.password(address, fields.text('password'), peer);
  switch (outcome.kind) {
    case 'in':
      await startSession(context, request, reply, outcome.login);
      return redirectTo(reply, '/mail');
    case 'wrong':
    case 'malformed':
      return again(texts.wrong, 422);
    case 'barred':
      return again(`${texts.barred} ${outcome.why}.`, 403);
    case 'throttled':
      void reply.header('retry-after', String(outcome.retryAfter));
      return again(texts.throttled.replace('{wait}', translatorOf(request).wait(outcome.retryAfter)), 429);
    case 'busy':
      return again(texts.busy, 503);
  }
}

async function startSession(
  { store }: AppContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { account, credential }: { account: number; credential: number },
): Promise<void> {
  const { secret, hash } = newSecret();
  const before = sessionOf(request) ?? null;
  await store.write(openMailSession, { account, credential, hash, ip: request.ip, agent: shownAgent(request), before });
  setMailCookie(request, reply, secret);
}

/** User-Agent, by which a person recognizes the session. */
export function shownAgent({ headers }: FastifyRequest): string {
  return (headers['user-agent'] ?? '').replace(/[^\x20-\x7e]/g, '').slice(0, MAX_AGENT);
}

export function setMailCookie(request: FastifyRequest, reply: FastifyReply, secret: string): void {
  const { name, options } = cookieOf(request);
  void reply.setCookie(name, secret, { ...options, maxAge: MAIL_SESSION_LIFE_MS / 1000 });
}

/** Ends the session of this browser. */
export async function signOutOfMail(
  { store }: AppContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const hash = sessionOf(request);
  if (hash !== undefined) await store.write(endMailSession, { hash });
  const { name, options } = cookieOf(request);
  void reply.clearCookie(name, options);
  return redirectTo(reply, '/mail/sign-in?done=out');
}

/** Hash of the session that the browser presents, unchecked. */
export function sessionOf({ headers, protocol }: FastifyRequest): Uint8Array | undefined {
  return mailSessionHash(headers.cookie, protocol === 'https');
}

function cookieOf({ protocol }: FastifyRequest) {
  const secure = protocol === 'https';
  return { name: mailCookieName(secure), options: { path: '/', httpOnly: true, sameSite: 'lax', secure } } as const;
}

/** Redirects after a form (303), so that a reload does not submit it again. */
export function redirectTo(reply: FastifyReply, path: string): FastifyReply {
  pageHeaders(reply);
  return reply.code(303).header('location', path).send('');
}

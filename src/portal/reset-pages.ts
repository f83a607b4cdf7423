import type { FastifyInstance, FastifyReply } from 'fastify';
import { resetFacts, resetPassword } from '../people/password-commands.ts';
import { endMemberMail } from '../webmail-sessions/end-member-mail.ts';
import { passwordFault } from '../people/password.ts';
import { mailReset } from '../people/reset.ts';
import { hashOf } from '../people/secrets.ts';
import { newPasswordField } from './claim-pages.ts';
import { isSecure } from './session-cookie.ts';
import { Fields } from './form-fields.ts';
import { type PageExchange, type PortalDeps, redirect, sendPage, sendMessagePage } from './page-exchange.ts';
import { type FormState, field, hidden, problemNote, EMPTY_FORM } from './forms.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';
import { linkToken, passwordFaultText, sendLinkError } from './link-errors.ts';
import { refuseInsecure } from './sign-in-pages.ts';
import { translatorOf } from './translator.ts';

/** `/auth/reset`: requests a password reset link, and is the page behind that link. */
export function resetRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/auth/reset', async (request, reply) => {
      const exchange = { ...deps, request, reply };
      if (!isSecure(request)) return refuseInsecure(exchange);
      return 'token' in (request.query as object)
        ? newPage(exchange, linkToken(exchange), EMPTY_FORM)
        : requestPage(exchange);
    });
    app.post('/auth/reset', async (request, reply) => {
      const exchange = { ...deps, request, reply };
      if (!isSecure(request)) return refuseInsecure(exchange);
      const fields = new Fields(request.body);
      return fields.line('token') === undefined
        ? requestReset(exchange, fields.text('email'))
        : replace(exchange, fields);
    });
  };
}

function requestPage(exchange: PageExchange): FastifyReply {
  const { request } = exchange;
  const t = translatorOf(request);
  const email = { name: 'email', label: t('field.address'), type: 'email', autocomplete: 'username' } as const;
  const title = t('reset.title');
  const body = html`<h1>${title}</h1>
    <p>${t('reset.about')}</p>
    <form class="plain" method="post" action="/auth/reset">${field(email)}<button>${t('reset.send')}</button></form>
    <p class="small"><a href="/login">${t('reset.back')}</a></p>`;
  return sendPage(exchange, narrowPage({ request, title, body }));
}

/** Responds alike and without awaiting the work, so that neither text nor time reveals whether the account exists. */
function requestReset(exchange: PageExchange, email: string): FastifyReply {
  void mailReset(exchange.context, email);
  const t = translatorOf(exchange.request);
  const notice = { title: t('reset.sent'), text: t('reset.sent-text'), href: '/login', link: t('reset.back') };
  return sendMessagePage(exchange, notice);
}

async function newPage(
  exchange: PageExchange,
  token: string,
  formState: FormState,
  status = 200,
): Promise<FastifyReply> {
  const { store, clock } = exchange.context;
  const hash = hashOf(token);
  const facts = hash === undefined ? undefined : await store.read(resetFacts, { hash, now: clock() });
  if (facts?.kind !== 'reset') return sendLinkError(exchange, facts?.kind ?? 'missing');
  const t = translatorOf(exchange.request);
  const known = {
    name: 'username',
    label: t('field.address'),
    value: facts.email,
    readonly: true,
    autocomplete: 'username',
  };
  const title = t('field.new-password');
  const body = html`<h1>${title}</h1>
    ${problemNote(formState)}
    <form class="plain" method="post" action="/auth/reset">
      ${hidden('token', token)} ${field(known)} ${field(newPasswordField(t), formState)}
      <button>${t('button.set-password')}</button>
    </form>
    <p class="small soft">${t('reset.signs-out')}</p>`;
  return sendPage(exchange, narrowPage({ request: exchange.request, title, body, fromLink: true }), status, true);
}

async function replace(exchange: PageExchange, fields: Fields): Promise<FastifyReply> {
  const { context, people } = exchange;
  const [token, password] = [fields.text('token'), fields.text('password')];
  const t = translatorOf(exchange.request);
  const fault = passwordFault(password);
  if (fault !== undefined) {
    return newPage(exchange, token, { values: {}, errors: { password: passwordFaultText(t, fault) } }, 422);
  }
  const hash = hashOf(token);
  if (hash === undefined) return sendLinkError(exchange, 'missing');
  const stored = await people.passwords.hash(password);
  if (stored === undefined) {
    return newPage(exchange, token, { values: {}, errors: {}, problem: t('error.busy') }, 503);
  }
  const done = await context.store.write(resetPassword, { hash, password: stored });
  if (done.kind !== 'reset') return sendLinkError(exchange, done.kind);
  await endMemberMail(context, done.user);
  return redirect(exchange, '/login?done=password');
}

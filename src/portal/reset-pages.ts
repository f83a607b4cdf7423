import type { FastifyInstance, FastifyReply } from 'fastify';
import { resetFacts, resetPassword } from '../people/password-commands.ts';
import { endMemberMail } from '../webmail-sessions/end-member-mail.ts';
import { passwordProblem } from '../people/password.ts';
import { mailReset } from '../people/reset.ts';
import { hashOf } from '../people/secrets.ts';
import { NEW_PASSWORD } from './claim-pages.ts';
import { isSecure } from './session-cookie.ts';
import { Fields } from './form-fields.ts';
import { type PageExchange, type PortalDeps, redirect, sendPage, sendNotice } from './page-exchange.ts';
import { type FormState, field, hidden, problemNote, EMPTY_FORM } from './forms.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';
import { BUSY, linkToken, sendLinkError } from './link-errors.ts';
import { refuseInsecure } from './sign-in-pages.ts';

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
  const email = { name: 'email', label: 'Mail address', type: 'email', autocomplete: 'username' } as const;
  const body = html`<h1>Reset password</h1>
    <p>Enter the address that you sign in with. You receive a link to set a new password.</p>
    <form class="plain" method="post" action="/auth/reset">${field(email)}<button>Send reset link</button></form>
    <p class="small"><a href="/login">Back to sign-in</a></p>`;
  return sendPage(exchange, narrowPage({ title: 'Reset password', body }));
}

/** Responds alike and without awaiting the work, so that neither text nor time reveals whether the account exists. */
function requestReset(exchange: PageExchange, email: string): FastifyReply {
  void mailReset(exchange.context, email);
  return sendNotice(exchange, {
    title: 'Check your email',
    text: 'If an account with this verified address exists, a reset link was sent. It expires in 1 hour.',
    href: '/login',
    link: 'Back to sign-in',
  });
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
  const known = {
    name: 'username',
    label: 'Mail address',
    value: facts.email,
    readonly: true,
    autocomplete: 'username',
  };
  const body = html`<h1>New password</h1>
    ${problemNote(formState)}
    <form class="plain" method="post" action="/auth/reset">
      ${hidden('token', token)} ${field(known)} ${field(NEW_PASSWORD, formState)}
      <button>Set password</button>
    </form>
    <p class="small soft">This signs you out everywhere else.</p>`;
  return sendPage(exchange, narrowPage({ title: 'New password', body, fromLink: true }), status, true);
}

async function replace(exchange: PageExchange, fields: Fields): Promise<FastifyReply> {
  const { context, people } = exchange;
  const [token, password] = [fields.text('token'), fields.text('password')];
  const problem = passwordProblem(password);
  if (problem !== undefined) return newPage(exchange, token, { values: {}, errors: { password: problem } }, 422);
  const hash = hashOf(token);
  if (hash === undefined) return sendLinkError(exchange, 'missing');
  const stored = await people.passwords.hash(password);
  if (stored === undefined) {
    return newPage(exchange, token, { values: {}, errors: {}, problem: BUSY }, 503);
  }
  const done = await context.store.write(resetPassword, { hash, password: stored });
  if (done.kind !== 'reset') return sendLinkError(exchange, done.kind);
  await endMemberMail(context, done.user);
  return redirect(exchange, '/login?done=password');
}

import type { FastifyInstance, FastifyReply } from 'fastify';
import { OPERATOR } from '../../mail/store/account/account.ts';
import { publicId } from '../core/ids.ts';
import { claim, previewClaim } from '../people/claim.ts';
import type { ClaimFacts } from '../people/claim-commands.ts';
import { MIN_PASSWORD } from '../people/password.ts';
import { isSecure } from './session-cookie.ts';
import { Fields } from './form-fields.ts';
import {
  type PageExchange,
  type PortalDeps,
  redirect,
  sendPage,
  signIn,
  type Visitor,
  visitorOf,
} from './page-exchange.ts';
import { type FormField, type FormState, field, hidden, problemNote, EMPTY_FORM } from './forms.ts';
import { type Html, html, type HtmlPart } from './html.ts';
import { narrowPage } from './layout.ts';
import { isLinkRefusal, linkToken, sendLinkError, formErrorOf } from './link-errors.ts';
import { refuseInsecure } from './sign-in-pages.ts';

export const NEW_PASSWORD: FormField = {
  name: 'password',
  label: 'New password',
  type: 'password',
  autocomplete: 'new-password',
  minlength: MIN_PASSWORD,
  hint: `At least ${MIN_PASSWORD} characters. A passphrase of several words is good.`,
};
export const OWN_PASSWORD: FormField = {
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'current-password',
};

/** `/auth/setup`: the page behind a claim link. GET does not use up the link. */
export function claimRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/auth/setup', (request, reply) => show({ ...deps, request, reply }));
    app.post('/auth/setup', (request, reply) => submitClaim({ ...deps, request, reply }));
  };
}

async function show(exchange: PageExchange): Promise<FastifyReply> {
  if (!isSecure(exchange.request)) return refuseInsecure(exchange);
  return setupPage(exchange, linkToken(exchange), EMPTY_FORM);
}

async function setupPage(
  exchange: PageExchange,
  token: string,
  formState: FormState,
  status = 200,
): Promise<FastifyReply> {
  const facts = await previewClaim(exchange.context, token, formState.values['email']);
  if (!('organization' in facts)) return sendLinkError(exchange, facts.kind);
  const visitor = await visitorOf(exchange);
  const { name } = facts.organization;
  const title = facts.kind === 'claim' ? `Claim ${name}` : 'Verify your address';
  const body = html`<h1>${title}</h1>
    ${introduction(facts, exchange.context.settings.hostname)} ${problemNote(formState)}
    <form class="plain" method="post" action="/auth/setup">
      ${hidden('token', token)} ${inputs(facts, visitor, formState)}
      <button>${facts.kind === 'claim' ? 'Claim organization' : 'Verify address'}</button>
    </form>
    ${facts.kind === 'claim' && AFTERWARDS}`;
  return sendPage(exchange, narrowPage({ title, body, fromLink: true }), status, true);
}

const AFTERWARDS = html`<p class="small soft">
  You then see its audit log and can revoke the access of its creator. Nothing is charged.
</p>`;

function introduction(facts: ClaimFacts, hostname: string): Html {
  if (facts.kind === 'prove') {
    return html`<p>
      The organization is already claimed. This link verifies that you receive mail at <strong>${facts.email}</strong>:
      you can then reset your password by email.
    </p>`;
  }
  if (facts.email === null) {
    return html`<p>This organization operates the mail server ${hostname}. Claiming it makes you the operator.</p>`;
  }
  return html`<p>
    This organization was created on ${hostname}, perhaps by your agent, with <strong>${facts.email}</strong> as its
    owner.
  </p>`;
}

function inputs(facts: ClaimFacts, visitor: Visitor | undefined, formState: FormState): HtmlPart {
  const { account, email } = facts;
  if (email === null)
    return [field(YOUR_ADDRESS, formState), field(account === null ? NEW_PASSWORD : OWN_PASSWORD, formState)];
  if (account !== null && account.user === visitor?.person.id) {
    return html`<p>You are signed in as ${visitor.person.email}.</p>`;
  }
  const known = { name: 'username', label: 'Mail address', value: email, readonly: true, autocomplete: 'username' };
  if (account === null && facts.kind === 'claim') return [field(known), field(NEW_PASSWORD, formState)];
  return [
    html`<p>An account with this address exists. Sign in with its password.</p>`,
    field(known),
    field(OWN_PASSWORD, formState),
    html`<p class="small"><a href="/auth/reset">Forgot the password?</a></p>`,
  ];
}

const YOUR_ADDRESS: FormField = {
  name: 'email',
  label: 'Your mail address',
  type: 'email',
  autocomplete: 'username',
  hint: 'You sign in with this address.',
};

async function submitClaim(exchange: PageExchange): Promise<FastifyReply> {
  const { context, people, request } = exchange;
  if (!isSecure(request)) return refuseInsecure(exchange);
  const fields = new Fields(request.body);
  const [token, email] = [fields.text('token'), fields.line('email')];
  const visitor = (await visitorOf(exchange))?.person.id;
  const password = fields.text('password');
  const done = await claim(context, people, { token, password, email, visitor, way: 'portal', ip: request.ip });
  if (!('organization' in done)) {
    if (isLinkRefusal(done)) return sendLinkError(exchange, done.kind);
    const { filled: formState, status } = formErrorOf(done, email === undefined ? {} : { email });
    return setupPage(exchange, token, formState, status);
  }
  // The owner of a new server goes on with its first domain.
  const page = done.kind === 'claimed' && done.organization === OPERATOR ? '/setup' : '';
  const next = `/o/${publicId('organization', done.organization)}${page}?done=${done.kind}`;
  if (visitor === done.user) return redirect(exchange, next);
  return redirect(exchange, await signIn(exchange, done.user, { method: 'claim', next }));
}

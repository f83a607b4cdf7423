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
import { type Translator, translatorOf } from './translator.ts';

/** The field for a new password. */
export function newPasswordField(t: Translator): FormField {
  return {
    name: 'password',
    label: t('field.new-password'),
    type: 'password',
    autocomplete: 'new-password',
    minlength: MIN_PASSWORD,
    hint: t('field.new-password-hint', { count: MIN_PASSWORD }),
  };
}

function ownPasswordField(t: Translator): FormField {
  return { name: 'password', label: t('field.password'), type: 'password', autocomplete: 'current-password' };
}

/** The address of a link, which cannot be changed. */
export function knownAddress(t: Translator, email: string): FormField {
  return { name: 'username', label: t('field.address'), value: email, readonly: true, autocomplete: 'username' };
}

/** Fields for a person who has an account with the address of a link. */
export function knownAddressFields(t: Translator, email: string, formState: FormState): HtmlPart {
  return [
    html`<p>${t('claim.has-account')}</p>`,
    field(knownAddress(t, email)),
    field(ownPasswordField(t), formState),
    html`<p class="small"><a href="/auth/reset">${t('claim.forgot')}</a></p>`,
  ];
}

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
  const { request } = exchange;
  const t = translatorOf(request);
  const claims = facts.kind === 'claim';
  const title = claims ? t('claim.title', { organization: facts.organization.name }) : t('claim.verify-title');
  const body = html`<h1>${title}</h1>
    ${introduction(t, facts, exchange.context.settings.hostname)} ${problemNote(formState)}
    <form class="plain" method="post" action="/auth/setup">
      ${hidden('token', token)} ${inputs(t, facts, visitor, formState)}
      <button>${claims ? t('claim.submit') : t('claim.verify')}</button>
    </form>
    ${claims && html`<p class="small soft">${t('claim.afterwards')}</p>`}`;
  return sendPage(exchange, narrowPage({ request, title, body, fromLink: true }), status, true);
}

function introduction(t: Translator, facts: ClaimFacts, host: string): Html {
  const address = html`<strong>${facts.email}</strong>`;
  if (facts.kind === 'prove') return html`<p>${t.rich('claim.already', { address })}</p>`;
  if (facts.email === null) return html`<p>${t('claim.operator', { host })}</p>`;
  return html`<p>${t.rich('claim.created', { host, address })}</p>`;
}

function inputs(t: Translator, facts: ClaimFacts, visitor: Visitor | undefined, formState: FormState): HtmlPart {
  const { account, email } = facts;
  if (email === null) {
    return [
      field(yourAddress(t), formState),
      field((account === null ? newPasswordField : ownPasswordField)(t), formState),
    ];
  }
  if (account !== null && account.user === visitor?.person.id) {
    return html`<p>${t('claim.signed-in-as', { address: visitor.person.email })}</p>`;
  }
  if (account === null && facts.kind === 'claim') {
    return [field(knownAddress(t, email)), field(newPasswordField(t), formState)];
  }
  return knownAddressFields(t, email, formState);
}

function yourAddress(t: Translator): FormField {
  const hint = t('claim.address-hint');
  return { name: 'email', label: t('claim.your-address'), type: 'email', autocomplete: 'username', hint };
}

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
    const { filled: formState, status } = formErrorOf(
      translatorOf(request),
      done,
      email === undefined ? {} : { email },
    );
    return setupPage(exchange, token, formState, status);
  }
  // The owner of a new server goes on with its first domain.
  const page = done.kind === 'claimed' && done.organization === OPERATOR ? '/setup' : '';
  const next = `/o/${publicId('organization', done.organization)}${page}?done=${done.kind}`;
  if (visitor === done.user) return redirect(exchange, next);
  return redirect(exchange, await signIn(exchange, done.user, { method: 'claim', next }));
}

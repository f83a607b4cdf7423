import type { FastifyInstance, FastifyReply } from 'fastify';
import { publicId } from '../core/ids.ts';
import { type Invitation, acceptInvitation, previewInvite } from '../people/invite.ts';
import { knownAddress, knownAddressFields, newPasswordField } from './claim-pages.ts';
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
import { type FormState, field, hidden, problemNote, EMPTY_FORM } from './forms.ts';
import { html, type HtmlPart } from './html.ts';
import { narrowPage } from './layout.ts';
import { isLinkRefusal, linkToken, sendLinkError, formErrorOf } from './link-errors.ts';
import { refuseInsecure } from './sign-in-pages.ts';
import { type Translator, translatorOf } from './translator.ts';

const MAX_NAME = 80;
/** Same rule as the operations' schemas, which are too heavy to load here. */
const ONE_LINE = /^[^\x00-\x1f\x7f-\x9f\u2028\u2029\p{Cs}]*$/u;

const ROLES: Readonly<Record<string, 'invite.as-owner' | 'invite.as-admin' | 'invite.as-member'>> = {
  owner: 'invite.as-owner',
  admin: 'invite.as-admin',
  member: 'invite.as-member',
};

/** `/auth/invite`: the page behind an invitation link. GET does not use it up. */
export function inviteRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/auth/invite', async (request, reply) => {
      const exchange = { ...deps, request, reply };
      return isSecure(request) ? invitePage(exchange, linkToken(exchange), EMPTY_FORM) : refuseInsecure(exchange);
    });
    app.post('/auth/invite', (request, reply) => accept({ ...deps, request, reply }));
  };
}

async function invitePage(
  exchange: PageExchange,
  token: string,
  formState: FormState,
  status = 200,
): Promise<FastifyReply> {
  const facts = await previewInvite(exchange.context, token);
  if (!('organization' in facts)) return sendLinkError(exchange, facts.kind);
  const { request } = exchange;
  const t = translatorOf(request);
  const title = t('invite.title', { organization: facts.organization.name });
  const invited = {
    organization: html`<strong>${facts.organization.name}</strong>`,
    host: exchange.context.settings.hostname,
  };
  const body = html`<h1>${title}</h1>
    <p>${t.rich(ROLES[facts.role] ?? 'invite.as-member', invited)}</p>
    ${problemNote(formState)}
    <form class="plain" method="post" action="/auth/invite">
      ${hidden('token', token)} ${inputs(t, facts, await visitorOf(exchange), formState)}
      <button>${t('invite.join')}</button>
    </form>`;
  return sendPage(exchange, narrowPage({ request, title, body, fromLink: true }), status, true);
}

function inputs(t: Translator, facts: Invitation, visitor: Visitor | undefined, formState: FormState): HtmlPart {
  const { account, email } = facts;
  if (account !== null && account.user === visitor?.person.id) {
    return html`<p>${t('claim.signed-in-as', { address: visitor.person.email })}</p>`;
  }
  const name = { name: 'displayName', label: t('invite.name'), optional: t('field.optional'), autocomplete: 'name' };
  if (account === null) {
    return [field(knownAddress(t, email)), field(name, formState), field(newPasswordField(t), formState)];
  }
  return knownAddressFields(t, email, formState);
}

async function accept(exchange: PageExchange): Promise<FastifyReply> {
  const { context, people, request } = exchange;
  if (!isSecure(request)) return refuseInsecure(exchange);
  const t = translatorOf(request);
  const fields = new Fields(request.body);
  const [token, displayName] = [fields.text('token'), fields.line('displayName') ?? null];
  const values = { displayName: displayName ?? '' };
  if (displayName !== null && (displayName.length > MAX_NAME || !ONE_LINE.test(displayName))) {
    const errors = { displayName: t('invite.bad-name', { count: MAX_NAME }) };
    return invitePage(exchange, token, { values, errors }, 422);
  }
  const visitor = (await visitorOf(exchange))?.person.id;
  const password = fields.text('password');
  const done = await acceptInvitation(context, people, { token, password, displayName, visitor, ip: request.ip });
  if (!('organization' in done)) {
    if (isLinkRefusal(done)) return sendLinkError(exchange, done.kind);
    const { filled: formState, status } = formErrorOf(t, done, values);
    return invitePage(exchange, token, formState, status);
  }
  const next = `/o/${publicId('organization', done.organization)}?done=joined`;
  if (visitor === done.user) return redirect(exchange, next);
  return redirect(exchange, await signIn(exchange, done.user, { method: 'claim', next }));
}

import type { FastifyInstance, FastifyReply } from 'fastify';
import { accountsOf } from '../../mail/store/account/account.ts';
import { publicId, rowId } from '../core/ids.ts';
import {
  type AuthorizeRequest,
  queryOf,
  readAuthorizeParameters,
  readAuthorizeRequest,
  type AuthorizeRequestResult,
} from '../oauth/authorize-request.ts';
import { Clients } from '../oauth/clients.ts';
import { addCode } from '../oauth/code-commands.ts';
import { redirectLocation, formSource, describeRedirect } from '../oauth/redirect-uri.ts';
import { makeSecret } from '../tokens/oauth-secret.ts';
import { userCaller } from '../people/caller.ts';
import { isFormToken } from '../people/secrets.ts';
import { type Action, ACTIONS } from '../core/token.ts';
import { isSecure } from './session-cookie.ts';
import { Fields } from './form-fields.ts';
import { pageHeaders } from './page-headers.ts';
import { consentForm, type ConsentScope } from './consent-form.ts';
import {
  type PageExchange,
  type PortalDeps,
  redirect,
  sendPage,
  sendMessagePage,
  type Visitor,
  visitorOf,
} from './page-exchange.ts';
import { type FormState, EMPTY_FORM } from './forms.ts';
import { html, type HtmlPart } from './html.ts';
import { narrowPage } from './layout.ts';
import { refuseInsecure } from './sign-in-pages.ts';
import { type Translator, translatorOf } from './translator.ts';

const MAX_MAILBOXES = 100;

/** `/oauth/authorize`: the authorization endpoint. RFC 6749 4.1.1. */
export function consentRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  const clients = new Clients(deps.context);
  return (app) => {
    app.get('/oauth/authorize', async (request, reply) => {
      const exchange = { ...deps, request, reply };
      const query = request.query as Readonly<Record<string, unknown>>;
      return validate(exchange, clients, query, (visitor, wish, scope) =>
        page(exchange, visitor, wish, scope, EMPTY_FORM),
      );
    });
    app.post('/oauth/authorize', async (request, reply) => {
      const exchange = { ...deps, request, reply };
      const fields = (request.body ?? {}) as Readonly<Record<string, unknown>>;
      return validate(exchange, clients, fields, (visitor, wish, scope) => decide(exchange, visitor, wish, scope));
    });
  };
}

type Next = (visitor: Visitor, request: AuthorizeRequest, place: ConsentScope) => Promise<FastifyReply>;

/** Validates the request before the consent page. Requires a sign-in before a stranger's metadata document is fetched. */
async function validate(
  exchange: PageExchange,
  clients: Clients,
  given: Readonly<Record<string, unknown>>,
  next: Next,
): Promise<FastifyReply> {
  const { context, request } = exchange;
  if (!isSecure(request)) return refuseInsecure(exchange);
  const t = translatorOf(request);
  const parameters = readAuthorizeParameters(given);
  if (parameters === undefined) return unknown(exchange, t('consent.malformed'));
  const visitor = await visitorOf(exchange);
  if (visitor === undefined)
    return redirect(exchange, `/login?next=${encodeURIComponent(`/oauth/authorize?${queryOf(parameters)}`)}`);
  const wait = request.method === 'GET' ? context.limits.take(request.ip, undefined, context.clock()) : 0;
  if (wait > 0) return unknown(exchange, t('error.flooded', { wait: t.wait(wait) }), 429);
  const client = await clients.find(parameters.client_id ?? '', visitor.person.id);
  const read = readAuthorizeRequest(parameters, client, context.baseUrl());
  if (read.kind === 'unknown') return unknown(exchange, t.english(read.why));
  if (read.kind === 'mistake') return mistake(exchange, read);
  const place = await scopeFor(exchange, visitor, given['organization']);
  if (place === undefined) {
    const notice = { title: t('consent.no-organization'), text: t('consent.no-organization-text'), href: '/account' };
    return sendMessagePage(exchange, { ...notice, link: t('account.title') }, 403);
  }
  return next(visitor, read.request, place);
}

function unknown(exchange: PageExchange, text: HtmlPart, status = 400): FastifyReply {
  const t = translatorOf(exchange.request);
  const notice = { title: t('consent.impossible'), text, href: '/', link: t('button.home') };
  return sendMessagePage(exchange, notice, status);
}

/** Shows a link instead of redirecting: anybody can register, so this would be an open redirector. RFC 9700 4.11.2. */
function mistake(exchange: PageExchange, read: Extract<AuthorizeRequestResult, { kind: 'mistake' }>): FastifyReply {
  const { error, why, redirectUri, state } = read;
  const href = redirectLocation(redirectUri, { error, error_description: why, state, iss: exchange.context.baseUrl() });
  const { request } = exchange;
  const t = translatorOf(request);
  const title = t('consent.impossible');
  const back = t('consent.back', { target: describeRedirect(redirectUri) });
  const body = html`<h1>${title}</h1>
    <p>${t.rich('consent.invalid', { why: t.english(why) })}</p>
    <p><a class="button" href="${href}" rel="noreferrer">${back}</a></p>`;
  return sendPage(exchange, narrowPage({ request, title, body }), 400);
}

/** The selected organization with the person's actions and mailboxes. */
async function scopeFor(exchange: PageExchange, visitor: Visitor, given: unknown): Promise<ConsentScope | undefined> {
  const { context, request } = exchange;
  const wanted = typeof given === 'string' ? rowId('organization', given) : undefined;
  const open = visitor.memberships.filter((one) => !one.frozen);
  const membership = given === undefined ? open[0] : open.find((one) => one.organization === wanted);
  if (membership === undefined) return undefined;
  const { actions, mailboxes: own } = await userCaller(context, visitor.person, membership, request.ip);
  const all = await context.store.read(accountsOf, { tenant: membership.organization });
  const mine = all.filter(({ id }) => own?.includes(id) ?? true);
  const mailboxes = mine.slice(0, MAX_MAILBOXES).map(({ id, address }) => ({ id: publicId('mailbox', id), address }));
  return { membership, actions, mailboxes, isTruncated: mine.length > MAX_MAILBOXES };
}

async function page(
  exchange: PageExchange,
  visitor: Visitor,
  request: AuthorizeRequest,
  place: ConsentScope,
  formState: FormState,
): Promise<FastifyReply> {
  const t = translatorOf(exchange.request);
  const body = consentForm(t, request, { visitor, place, filled: formState });
  pageHeaders(exchange.reply, false, formSource(request.redirectUri));
  const status = formState === EMPTY_FORM ? 200 : 422;
  const title = t('consent.title');
  return exchange.reply.code(status).send(narrowPage({ request: exchange.request, title, body, wide: true }));
}

async function decide(
  exchange: PageExchange,
  visitor: Visitor,
  request: AuthorizeRequest,
  place: ConsentScope,
): Promise<FastifyReply> {
  const t = translatorOf(exchange.request);
  const fields = new Fields(exchange.request.body);
  if (!isFormToken(fields.text('form'), visitor.secret)) {
    const notice = { title: t('error.no-changes'), text: t('consent.stale'), href: '/', link: t('button.home') };
    return sendMessagePage(exchange, notice, 403);
  }
  const { redirectUri, state } = request;
  const iss = exchange.context.baseUrl();
  if (fields.text('do') !== 'allow')
    return redirect(exchange, redirectLocation(redirectUri, { error: 'access_denied', state, iss }));
  const chosen = choiceIn(t, fields, place);
  if ('errors' in chosen) return page(exchange, visitor, request, place, chosen);
  const code = await allow(exchange, visitor, request, place, chosen);
  return redirect(exchange, redirectLocation(redirectUri, { code, state, iss }));
}

interface ConsentChoice {
  actions: Action[];
  /** Null: the whole organization. */
  mailboxes: number[] | null;
}

/** Reads the form. Ignores values that were not offered. */
function choiceIn(
  t: Translator,
  fields: Fields,
  { actions: own, mailboxes: listed, membership }: ConsentScope,
): ConsentChoice | FormState {
  const ticked = ACTIONS.filter((one) => fields.list('actions').includes(one) && own.has(one));
  const boxes = listed.filter(({ id }) => fields.list('mailboxIds').includes(id));
  const reach = fields.text('reach');
  const whole = reach === 'organization' && membership.role !== 'member';
  const values = { actions: ticked.join(' '), reach, mailboxIds: boxes.map(({ id }) => id).join(' ') };
  if (ticked.length === 0) return { values, errors: { actions: t('consent.select-permission') } };
  if (whole) return { actions: ticked, mailboxes: null };
  if (reach !== 'mailboxes') return { values, errors: { reach: t('consent.select-scope') } };
  if (boxes.length === 0) return { values, errors: { mailboxIds: t('consent.select-mailbox') } };
  return { actions: ticked, mailboxes: boxes.flatMap(({ id }) => rowId('mailbox', id) ?? []) };
}

async function allow(
  { context, request: { ip } }: PageExchange,
  { person }: Visitor,
  { client, redirectUri, challenge }: AuthorizeRequest,
  { membership: { organization } }: ConsentScope,
  { actions, mailboxes }: ConsentChoice,
): Promise<string> {
  const { secret, hash } = makeSecret('code', context.settings.tokenPrefix);
  const detail = { name: client.name, actions, mailboxIds: mailboxes?.map((id) => publicId('mailbox', id)) ?? null };
  const who = { actor: publicId('user', person.id), actorName: person.email, way: 'portal' as const, ip };
  const entry = { organization, ...who, operation: 'allow_app', target: client.id, detail };
  const what = { client: client.id, clientName: client.name, redirectUri, challenge, actions, mailboxes };
  await context.store.write(addCode, { hash, organization, user: person.id, ...what, entry });
  return secret;
}

import type { FastifyInstance, FastifyReply } from 'fastify';
import { accountsOf } from '../../mail/store/account.ts';
import { publicId, rowId } from '../ids.ts';
import {
  type AuthorizeRequest,
  queryOf,
  readParameters,
  readRequest,
  type ReadRequest,
} from '../oauth/authorize-request.ts';
import { Clients } from '../oauth/clients.ts';
import { addCode } from '../oauth/code-commands.ts';
import { answerTo, formSource, placeOf } from '../oauth/redirect-uri.ts';
import { makeSecret } from '../oauth/secret.ts';
import { userCaller } from '../people/caller.ts';
import { isFormToken } from '../people/secrets.ts';
import { type Action, ACTIONS } from '../tokens/token.ts';
import { isPrivate } from './cookie.ts';
import { consentForm, type Place } from './consent-form.ts';
import { type Asked, type Door, go, send, sendNotice, type Visitor, visitorOf } from './door.ts';
import { type Filled, UNFILLED } from './forms.ts';
import { Fields, pageHeaders } from './guard.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';
import { notPrivate } from './sign-in-pages.ts';

const MOST_MAILBOXES = 100;
const BACK = { href: '/', link: 'To the front page' };

/** `/oauth/authorize`: a program asks a person to be let in. RFC 6749 4.1.1. */
export function consentRoutes(door: Door): (app: FastifyInstance) => void {
  const clients = new Clients(door.world);
  return (app) => {
    app.get('/oauth/authorize', async (request, reply) => {
      const asked = { ...door, request, reply };
      const query = request.query as Readonly<Record<string, unknown>>;
      return judged(asked, clients, query, (visitor, wish, place) => page(asked, visitor, wish, place, UNFILLED));
    });
    app.post('/oauth/authorize', async (request, reply) => {
      const asked = { ...door, request, reply };
      const fields = (request.body ?? {}) as Readonly<Record<string, unknown>>;
      return judged(asked, clients, fields, (visitor, wish, place) => decide(asked, visitor, wish, place));
    });
  };
}

type Next = (visitor: Visitor, request: AuthorizeRequest, place: Place) => Promise<FastifyReply>;

/** Nobody is asked before it is sure who asks, and nothing of a stranger is fetched before it is sure who is asked. */
async function judged(
  asked: Asked,
  clients: Clients,
  given: Readonly<Record<string, unknown>>,
  next: Next,
): Promise<FastifyReply> {
  const { world, request } = asked;
  if (!isPrivate(request)) return notPrivate(asked);
  const parameters = readParameters(given);
  if (parameters === undefined) return unknown(asked, 'What it sent cannot be understood.');
  const visitor = await visitorOf(asked);
  if (visitor === undefined)
    return go(asked, `/login?next=${encodeURIComponent(`/oauth/authorize?${queryOf(parameters)}`)}`);
  const wait = request.method === 'GET' ? world.limits.take(request.ip, undefined, world.clock()) : 0;
  if (wait > 0) return unknown(asked, `Too many requests came from your network. Try again in ${wait} seconds.`, 429);
  const read = readRequest(parameters, await clients.find(parameters.client_id ?? ''), world.baseUrl());
  if (read.kind === 'unknown') return unknown(asked, read.why);
  if (read.kind === 'mistake') return mistake(asked, read);
  const place = await placeFor(asked, visitor, given['organization']);
  if (place === undefined) {
    const text = 'You belong to no organization that a program could be let into.';
    return sendNotice(asked, { title: 'Nothing to let it into', text, href: '/account', link: 'To your account' }, 403);
  }
  return next(visitor, read.request, place);
}

function unknown(asked: Asked, text: string, status = 400): FastifyReply {
  return sendNotice(asked, { title: 'This program cannot be let in', text, ...BACK }, status);
}

/** Nobody is sent on by itself: any stranger can register, and this address would lead wherever they like. RFC 9700 4.11.2. */
function mistake(asked: Asked, read: Extract<ReadRequest, { kind: 'mistake' }>): FastifyReply {
  const { error, why, redirectUri, state } = read;
  const href = answerTo(redirectUri, { error, error_description: why, state, iss: asked.world.baseUrl() });
  const body = html`<h1>This program cannot be let in</h1>
    <p>It asked in a wrong way: ${why}. Tell whoever makes it.</p>
    <p><a class="button" href="${href}" rel="noreferrer">Back to ${placeOf(redirectUri)}</a></p>`;
  return send(asked, narrowPage({ title: 'This program cannot be let in', body }), 400);
}

/** The organization that is meant, what the person may do in it, and the mailboxes to choose from. */
async function placeFor(asked: Asked, visitor: Visitor, given: unknown): Promise<Place | undefined> {
  const { world, request } = asked;
  const wanted = typeof given === 'string' ? rowId('organization', given) : undefined;
  const open = visitor.memberships.filter((one) => !one.frozen);
  const membership = given === undefined ? open[0] : open.find((one) => one.organization === wanted);
  if (membership === undefined) return undefined;
  const { actions, mailboxes: own } = await userCaller(world, visitor.person, membership, request.ip);
  const all = await world.store.read(accountsOf, { tenant: membership.organization });
  const mine = all.filter(({ id }) => own?.includes(id) ?? true);
  const mailboxes = mine.slice(0, MOST_MAILBOXES).map(({ id, address }) => ({ id: publicId('mailbox', id), address }));
  return { membership, actions, mailboxes, more: mine.length > MOST_MAILBOXES };
}

async function page(
  { reply }: Asked,
  visitor: Visitor,
  request: AuthorizeRequest,
  place: Place,
  filled: Filled,
): Promise<FastifyReply> {
  const body = consentForm(request, { visitor, place, filled });
  pageHeaders(reply, false, formSource(request.redirectUri));
  const status = filled === UNFILLED ? 200 : 422;
  return reply.code(status).send(narrowPage({ title: 'Let this program in?', body, wide: true }));
}

async function decide(asked: Asked, visitor: Visitor, request: AuthorizeRequest, place: Place): Promise<FastifyReply> {
  const fields = new Fields(asked.request.body);
  if (!isFormToken(fields.text('form'), visitor.secret)) {
    const text = 'The form was older than your sign-in. Go back to the program and begin again.';
    return sendNotice(asked, { title: 'Nothing was done', text, ...BACK }, 403);
  }
  const { redirectUri, state } = request;
  const iss = asked.world.baseUrl();
  if (fields.text('do') !== 'allow') return go(asked, answerTo(redirectUri, { error: 'access_denied', state, iss }));
  const chosen = choiceIn(fields, place);
  if ('errors' in chosen) return page(asked, visitor, request, place, chosen);
  const code = await allow(asked, visitor, request, place, chosen);
  return go(asked, answerTo(redirectUri, { code, state, iss }));
}

interface Chosen {
  actions: Action[];
  /** Null: all of the organization. */
  mailboxes: number[] | null;
}

/** What the form says, within what the person could choose: whatever else a browser sends is nothing. */
function choiceIn(fields: Fields, { actions: own, mailboxes: listed, membership }: Place): Chosen | Filled {
  const ticked = ACTIONS.filter((one) => fields.list('actions').includes(one) && own.has(one));
  const boxes = listed.filter(({ id }) => fields.list('mailboxIds').includes(id));
  const reach = fields.text('reach');
  const whole = reach === 'organization' && membership.role !== 'member';
  const values = { actions: ticked.join(' '), reach, mailboxIds: boxes.map(({ id }) => id).join(' ') };
  if (ticked.length === 0) return { values, errors: { actions: 'Tick what it may do, or say no.' } };
  if (whole) return { actions: ticked, mailboxes: null };
  if (reach !== 'mailboxes') return { values, errors: { reach: 'Choose where it may do this.' } };
  if (boxes.length === 0) return { values, errors: { mailboxIds: 'Tick at least one mailbox.' } };
  return { actions: ticked, mailboxes: boxes.flatMap(({ id }) => rowId('mailbox', id) ?? []) };
}

async function allow(
  { world, request: { ip } }: Asked,
  { person }: Visitor,
  { client, redirectUri, challenge }: AuthorizeRequest,
  { membership: { organization } }: Place,
  { actions, mailboxes }: Chosen,
): Promise<string> {
  const { secret, hash } = makeSecret('code', world.settings.tokenPrefix);
  const detail = { name: client.name, actions, mailboxIds: mailboxes?.map((id) => publicId('mailbox', id)) ?? null };
  const who = { actor: publicId('user', person.id), actorName: person.email, way: 'portal' as const, ip };
  const entry = { organization, ...who, operation: 'allow_app', target: client.id, detail };
  const what = { client: client.id, clientName: client.name, redirectUri, challenge, actions, mailboxes };
  await world.store.write(addCode, { hash, organization, user: person.id, ...what, entry });
  return secret;
}

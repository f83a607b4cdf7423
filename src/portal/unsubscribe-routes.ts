import type { AppContext } from '../core/app-context.ts';
import {
  resubscribe,
  recordUnsubscribe,
  unsubscribed,
  readUnsubscribe,
  type Subscription,
  unsubscribeKey,
} from '../unsubscribe/commands.ts';
import cookie from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '../../mail/guard/network.ts';
import { KeyedTokenBucket, perMinute, retryAfterSeconds } from '../../mail/limits/token-bucket.ts';
import { followLanguageLink } from '../http/language.ts';
import { pageHeaders } from './page-headers.ts';
import { address } from './components.ts';
import { hidden } from './forms.ts';
import { html, type Html } from './html.ts';
import { narrowPage } from './layout.ts';
import { type Translator, translatorOf } from './translator.ts';

/** High, because mailbox providers send one-click requests for all users from a few addresses. */
const MAX_PER_MINUTE = 600;
const MAX_BODY_BYTES = 4096;

/**
 * `/unsubscribe/{token}`: the page for people, and the one-click POST of mail programs. The signed link authorizes, so
 * no cookie and no origin is required. RFC 8058 3.2.
 */
export function unsubscribeRoutes(context: AppContext): (app: FastifyInstance) => Promise<void> {
  const limit = new KeyedTokenBucket(perMinute(MAX_PER_MINUTE));
  return async (app) => {
    // The cookie has the language of the page.
    await app.register(cookie);
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: MAX_BODY_BYTES }, (_request, body, done) =>
      done(null, body),
    );
    app.addHook('onRequest', async (request, reply) => {
      const wait = retryAfterSeconds(limit.take(networkOf(request.ip), context.clock()));
      if (wait === 0) return undefined;
      void reply.header('retry-after', String(wait));
      const t = translatorOf(request);
      const text = t('unsubscribe.flooded', { wait: t.wait(wait) });
      return send(reply, notice(request, t('error.too-many'), text), 429);
    });
    app.addHook('onRequest', followLanguageLink);
    app.get<TokenRoute>('/unsubscribe/*', async (request, reply) => {
      const subscription = subscriptionOf(context, request);
      // GET changes nothing: link scanners open links.
      return subscription === undefined ? missing(request, reply) : show(context, subscription, request, reply);
    });
    app.post<TokenRoute>('/unsubscribe/*', async (request, reply) => {
      const subscription = subscriptionOf(context, request);
      if (subscription === undefined) return missing(request, reply);
      const act = actOf(request.body);
      if (act === undefined) return send(reply, badForm(request), 400);
      const done = await context.store.write(act, { ...subscription, ip: request.ip });
      return done.kind === 'missing' ? missing(request, reply) : show(context, subscription, request, reply);
    });
  };
}

/** A wildcard, because the token exceeds the router's parameter length. */
interface TokenRoute {
  Params: { '*': string };
}

function subscriptionOf({ secrets }: AppContext, request: FastifyRequest<TokenRoute>): Subscription | undefined {
  return readUnsubscribe(unsubscribeKey(secrets), request.params['*']);
}

/** RFC 8058 3.2: urlencoded or multipart. */
function actOf(body: unknown): typeof recordUnsubscribe | undefined {
  const text = typeof body === 'string' ? body : '';
  if (/(?:^|&)List-Unsubscribe=One-Click(?:&|$)/.test(text.trim())) return recordUnsubscribe;
  if (/name="?List-Unsubscribe"?\r?\n(?:[^\r\n]+\r?\n)*\r?\nOne-Click\r?\n/i.test(text)) return recordUnsubscribe;
  return text.trim() === 'undo=1' ? resubscribe : undefined;
}

async function show(
  { store }: AppContext,
  subscription: Subscription,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const found = await store.read(unsubscribed, subscription);
  if (found.kind === 'missing') return missing(request, reply);
  const status: SubscriptionStatus = { ...found, recipient: subscription.recipient };
  return send(reply, subscriptionPage(request, status), 200);
}

function missing(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const t = translatorOf(request);
  return send(reply, notice(request, t('link.missing'), t('unsubscribe.bad-link')), 404);
}

function badForm(request: FastifyRequest): string {
  const t = translatorOf(request);
  return notice(request, t('error.no-changes'), t('unsubscribe.bad-form'));
}

function send(reply: FastifyReply, page: string, status: number): FastifyReply {
  pageHeaders(reply);
  return reply.header('x-robots-tag', 'noindex').code(status).send(page);
}

/** The subscription of a recipient to the mail of an organization. */
interface SubscriptionStatus {
  organization: string;
  recipient: string;
  unsubscribed: boolean;
}

/** The unsubscribe page, or after it the page to subscribe again. */
function subscriptionPage(request: FastifyRequest, status: SubscriptionStatus): string {
  const t = translatorOf(request);
  const title = t(status.unsubscribed ? 'unsubscribe.done' : 'unsubscribe.title');
  return narrowPage({ request, title, body: status.unsubscribed ? done(t, status) : unsubscribeForm(t, status) });
}

function namesIn({ organization, recipient }: SubscriptionStatus): Record<'organization' | 'recipient', Html> {
  return {
    organization: html`<strong>${organization}</strong>`,
    recipient: html`<strong>${address(recipient)}</strong>`,
  };
}

function unsubscribeForm(t: Translator, status: SubscriptionStatus): Html {
  return html`<h1>${t('unsubscribe.title')}</h1>
    <p>${t.rich('unsubscribe.about', namesIn(status))}</p>
    ${form('List-Unsubscribe', 'One-Click', html`<button>${t('unsubscribe.button')}</button>`)}`;
}

function done(t: Translator, status: SubscriptionStatus): Html {
  return html`<h1>${t('unsubscribe.done')}</h1>
    <p role="status">${t.rich('unsubscribe.done-text', namesIn(status))}</p>
    ${form('undo', '1', html`<button class="text">${t('unsubscribe.undo')}</button>`)}`;
}

/** Posts to the page itself: its URL holds the signed token. */
function form(name: string, value: string, button: Html): Html {
  return html`<form class="plain" method="post">${hidden(name, value)} ${button}</form>`;
}

function notice(request: FastifyRequest, title: string, text: string): string {
  return narrowPage({
    request,
    title,
    body: html`<h1>${title}</h1>
      <p>${text}</p>`,
  });
}

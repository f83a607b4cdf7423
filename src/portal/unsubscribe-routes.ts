import type { AppContext } from '../core/app-context.ts';
import {
  resubscribe,
  unsubscribe,
  unsubscribed,
  readUnsubscribe,
  type Subscription,
  unsubscribeKey,
} from '../unsubscribe/commands.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '../../mail/guard/network.ts';
import { KeyedTokenBucket, perMinute, retryAfterSeconds } from '../../mail/limits/token-bucket.ts';
import { pageHeaders } from './page-headers.ts';
import { address } from './components.ts';
import { hidden } from './forms.ts';
import { html, type Html } from './html.ts';
import { narrowPage } from './layout.ts';

/** High, because mailbox providers send one-click requests for all users from a few addresses. */
const MAX_PER_MINUTE = 600;
const MAX_BODY_BYTES = 4096;

/**
 * `/unsubscribe/{token}`: the page for people, and the one-click POST of mail programs. The signed link authorizes, so
 * no cookie and no origin is required. RFC 8058 3.2.
 */
export function unsubscribeRoutes(context: AppContext): (app: FastifyInstance) => void {
  const limit = new KeyedTokenBucket(perMinute(MAX_PER_MINUTE));
  return (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: MAX_BODY_BYTES }, (_request, body, done) =>
      done(null, body),
    );
    app.addHook('onRequest', async (request, reply) => {
      const wait = retryAfterSeconds(limit.take(networkOf(request.ip), context.clock()));
      if (wait === 0) return undefined;
      void reply.header('retry-after', String(wait));
      return send(reply, notice('Too many requests', `Try again in ${wait} seconds.`), 429);
    });
    app.get<TokenRoute>('/unsubscribe/*', async (request, reply) => {
      const subscription = subscriptionOf(context, request);
      // GET changes nothing: link scanners open links.
      return subscription === undefined ? missing(reply) : show(context, subscription, reply);
    });
    app.post<TokenRoute>('/unsubscribe/*', async (request, reply) => {
      const subscription = subscriptionOf(context, request);
      if (subscription === undefined) return missing(reply);
      const act = actOf(request.body);
      if (act === undefined)
        return send(reply, notice('No changes made', 'Invalid form. Reload the page and try again.'), 400);
      const done = await context.store.write(act, { ...subscription, ip: request.ip });
      return done.kind === 'missing' ? missing(reply) : show(context, subscription, reply);
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
function actOf(body: unknown): typeof unsubscribe | undefined {
  const text = typeof body === 'string' ? body : '';
  if (/(?:^|&)List-Unsubscribe=One-Click(?:&|$)/.test(text.trim())) return unsubscribe;
  if (/name="?List-Unsubscribe"?\r?\n(?:[^\r\n]+\r?\n)*\r?\nOne-Click\r?\n/i.test(text)) return unsubscribe;
  return text.trim() === 'undo=1' ? resubscribe : undefined;
}

async function show({ store }: AppContext, subscription: Subscription, reply: FastifyReply): Promise<FastifyReply> {
  const found = await store.read(unsubscribed, subscription);
  if (found.kind === 'missing') return missing(reply);
  const status: SubscriptionStatus = { ...found, recipient: subscription.recipient };
  return send(reply, subscriptionPage(status), 200);
}

function missing(reply: FastifyReply): FastifyReply {
  const text = 'The link is incomplete. Copy the whole address from the message.';
  return send(reply, notice('Invalid link', text), 404);
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
function subscriptionPage(status: SubscriptionStatus): string {
  return status.unsubscribed ? done(status) : unsubscribeForm(status);
}

function unsubscribeForm({ organization, recipient }: SubscriptionStatus): string {
  const body = html`<h1>Unsubscribe</h1>
    <p>
      <strong>${address(recipient)}</strong> will no longer receive mail from the programs of
      <strong>${organization}</strong>.
    </p>
    ${form('List-Unsubscribe', 'One-Click', html`<button>Unsubscribe</button>`)}`;
  return narrowPage({ title: 'Unsubscribe', body });
}

function done({ organization, recipient }: SubscriptionStatus): string {
  const body = html`<h1>Unsubscribed</h1>
    <p role="status">
      The programs of <strong>${organization}</strong> no longer send to <strong>${address(recipient)}</strong>. Mail
      already in transit may still arrive.
    </p>
    ${form('undo', '1', html`<button class="text">Subscribe again</button>`)}`;
  return narrowPage({ title: 'Unsubscribed', body });
}

/** Posts to the page itself: its URL holds the signed token. */
function form(name: string, value: string, button: Html): Html {
  return html`<form class="plain" method="post">${hidden(name, value)} ${button}</form>`;
}

function notice(title: string, text: string): string {
  return narrowPage({
    title,
    body: html`<h1>${title}</h1>
      <p>${text}</p>`,
  });
}

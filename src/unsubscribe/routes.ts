import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '../../mail/guard/network.ts';
import { RateLimit } from '../../mail/guard/rate-limit.ts';
import type { World } from '../operations/world.ts';
import { pageHeaders } from '../portal/guard.ts';
import { resubscribe, unsubscribe, unsubscribed } from './commands.ts';
import { readUnsubscribe, type Subscription, unsubscribeKey } from './link.ts';
import { notice, type Standing, subscriptionPage } from './page.ts';

/** Providers of mail click for all their people from a few addresses. */
const MOST_A_MINUTE = 600;
const LARGEST_BODY = 4096;

/**
 * `/unsubscribe/{token}`: the page that a person sees, and the one click of a mail program. The link is all the
 * authority there is, so no cookie and no origin is asked for. RFC 8058 3.2.
 */
export function unsubscribeRoutes(world: World): (app: FastifyInstance) => void {
  const limit = new RateLimit(MOST_A_MINUTE);
  return (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: LARGEST_BODY }, (_request, body, done) =>
      done(null, body),
    );
    app.addHook('onRequest', async (request, reply) => {
      const wait = limit.take(networkOf(request.ip), world.clock());
      if (wait === 0) return undefined;
      void reply.header('retry-after', String(wait));
      return send(reply, notice('Too many requests', `Try again in ${wait} seconds.`), 429);
    });
    app.get<Named>('/unsubscribe/*', async (request, reply) => {
      const subscription = named(world, request);
      // Programs that look at links open them: nothing changes by that.
      return subscription === undefined ? missing(reply) : show(world, subscription, reply);
    });
    app.post<Named>('/unsubscribe/*', async (request, reply) => {
      const subscription = named(world, request);
      if (subscription === undefined) return missing(reply);
      const act = actOf(request.body);
      if (act === undefined) return send(reply, notice('Nothing was done', 'The form was not one of ours.'), 400);
      const done = await world.store.write(act, { ...subscription, ip: request.ip });
      return done.kind === 'missing' ? missing(reply) : show(world, subscription, reply);
    });
  };
}

/** The token is longer than what the router takes for a parameter. */
interface Named {
  Params: { '*': string };
}

function named({ secrets }: World, request: FastifyRequest<Named>): Subscription | undefined {
  return readUnsubscribe(unsubscribeKey(secrets), request.params['*']);
}

/** RFC 8058 3.2: in either form in which browsers send fields. */
function actOf(body: unknown): typeof unsubscribe | undefined {
  const text = typeof body === 'string' ? body : '';
  if (/(?:^|&)List-Unsubscribe=One-Click(?:&|$)/.test(text.trim())) return unsubscribe;
  if (/name="?List-Unsubscribe"?\r?\n(?:[^\r\n]+\r?\n)*\r?\nOne-Click\r?\n/i.test(text)) return unsubscribe;
  return text.trim() === 'undo=1' ? resubscribe : undefined;
}

async function show({ store }: World, subscription: Subscription, reply: FastifyReply): Promise<FastifyReply> {
  const found = await store.read(unsubscribed, subscription);
  if (found.kind === 'missing') return missing(reply);
  const standing: Standing = { ...found, recipient: subscription.recipient };
  return send(reply, subscriptionPage(standing), 200);
}

function missing(reply: FastifyReply): FastifyReply {
  const text = 'It may have been cut off on its way. Copy the whole address out of the message.';
  return send(reply, notice('This link opens nothing', text), 404);
}

function send(reply: FastifyReply, page: string, status: number): FastifyReply {
  pageHeaders(reply);
  return reply.header('x-robots-tag', 'noindex').code(status).send(page);
}

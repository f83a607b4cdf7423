import type { FastifyReply, FastifyRequest } from 'fastify';
import { StoreBusy } from '../../mail/store/engine/types.ts';
import { authorizationOf, say } from '../http/answers.ts';
import { lenient } from '../operations/lenient.ts';
import { Refused, type Refusal } from '../operations/refusal.ts';
import type { World } from '../operations/world.ts';
import { authenticateKey, type Sender } from './key-auth.ts';
import type { SendResult } from './send-email.ts';

export type Handler = (sender: Sender, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
export type Route = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

const MOST_OF_A_BATCH = 100;

/** A route for who holds an email API key; refusals that are thrown become answers. */
export function withKey(world: World, handle: Handler): Route {
  return async (request, reply) => {
    void reply.header('cache-control', 'no-store');
    const sender = await authenticateKey(world, authorizationOf(request));
    const wait = world.limits.take(request.ip, undefined, world.clock());
    if (wait > 0) {
      const message = `Too many requests: wait ${wait} s.`;
      return say(reply, { error: 'rate_limited', message, retryAfterSeconds: wait });
    }
    if ('why' in sender) {
      void reply.header('www-authenticate', 'Bearer realm="mailstead"');
      return say(reply, { error: 'unauthorized', message: `Unauthorized: ${sender.why}.` });
    }
    try {
      return await handle(sender, request, reply);
    } catch (error) {
      return say(reply, refusalOf(world, error));
    }
  };
}

function refusalOf(world: World, error: unknown): Refusal {
  if (error instanceof Refused) return error.refusal;
  if (error instanceof StoreBusy) {
    return { error: 'unavailable', message: `Not now: ${error.message}. Try again later.`, retryAfterSeconds: 30 };
  }
  world.log.error({ err: error }, 'sending failed');
  return { error: 'internal', message: 'Something went wrong here; the log knows more.' };
}

/** The idempotency key of the header. */
export function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  return typeof key === 'string' ? key : undefined;
}

/** Reads one body and sends it; `key`, of the header, goes before the one in the body. */
export async function send(world: World, sender: Sender, body: unknown, key: string | undefined): Promise<SendResult> {
  const [{ EmailRequest }, { sendFor }] = await Promise.all([import('./email-request.ts'), import('./send-email.ts')]);
  const given = lenient(EmailRequest, body);
  const read = EmailRequest.safeParse(key === undefined ? given : { ...given, idempotencyKey: key });
  if (read.success) return sendFor(world, sender, read.data);
  const issues = read.error.issues.slice(0, 10).map(({ path, message }) => ({ path: path.join('.'), message }));
  const [first] = issues;
  throw new Refused({
    error: 'invalid_arguments',
    message: `${first?.path ?? ''}: ${first?.message ?? 'does not fit'}.`,
    issues,
  });
}

/** Each alone: one that fails takes none of the others with it. */
export function sendAll(world: World, sender: Sender, list: unknown): Promise<(SendResult | Refusal)[]> {
  if (!Array.isArray(list) || list.length === 0 || list.length > MOST_OF_A_BATCH) {
    throw new Refused({ error: 'invalid_arguments', message: `Send a list of 1 to ${MOST_OF_A_BATCH} messages.` });
  }
  return Promise.all(
    list.map((body: unknown) =>
      send(world, sender, body, undefined).catch((error: unknown) => refusalOf(world, error)),
    ),
  );
}

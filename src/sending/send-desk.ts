import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { StoreBusy } from '../../mail/store/engine/types.ts';
import { authorizationOf, say } from '../http/answers.ts';
import { lenient } from '../operations/lenient.ts';
import { Refused, type Refusal } from '../operations/refusal.ts';
import type { World } from '../operations/world.ts';
import { authenticateKey, type Sender } from './key-auth.ts';
import type { EmailRequest } from './email-request.ts';
import type { SendResult } from './send-answer.ts';

export type Handler = (sender: Sender, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
export type Route = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

const MOST_OF_A_BATCH = 100;
/** A message of a batch waits so long for its turn, and so often. */
const LONGEST_TURN_S = 2;
const MOST_TURNS = 5;

/** A route for who holds an email API key; refusals that are thrown become answers. */
export function withKey(world: World, handle: Handler, tell: typeof say = say): Route {
  return async (request, reply) => {
    void reply.header('cache-control', 'no-store');
    const sender = await authenticateKey(world, authorizationOf(request));
    const holder = 'why' in sender ? undefined : sender.credential;
    const wait = world.limits.take(request.ip, holder, world.clock());
    if (wait > 0) {
      const message = `Too many requests: wait ${wait} s.`;
      return tell(reply, { error: 'rate_limited', message, retryAfterSeconds: wait });
    }
    if ('why' in sender) {
      void reply.header('www-authenticate', 'Bearer realm="mailstead"');
      return tell(reply, { error: 'unauthorized', message: `Unauthorized: ${sender.why}.` });
    }
    try {
      return await handle(sender, request, reply);
    } catch (error) {
      return tell(reply, refusalOf(world, error));
    }
  };
}

/** What somebody who sends over HTTP is told of a fault. */
export function refusalOf(world: World, error: unknown): Refusal {
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
  const [request, { sendFor }] = await Promise.all([readEmail(body, key), import('./send-email.ts')]);
  return sendFor(world, sender, request);
}

async function readEmail(body: unknown, key: string | undefined): Promise<EmailRequest> {
  const { EmailRequest: schema } = await import('./email-request.ts');
  const given = lenient(schema, body);
  const read = schema.safeParse(key === undefined ? given : { ...given, idempotencyKey: key });
  if (read.success) return read.data;
  const issues = read.error.issues.slice(0, 10).map(({ path, message }) => ({ path: path.join('.'), message }));
  const [first] = issues;
  throw new Refused({
    error: 'invalid_arguments',
    message: `${first?.path ?? ''}: ${first?.message ?? 'does not fit'}.`,
    issues,
  });
}

/** Each alone: one that fails takes none of the others with it. With a key for all of them each has its own. */
export async function sendAll(
  world: World,
  sender: Sender,
  bodies: readonly unknown[],
  key: string | undefined,
): Promise<(SendResult | Refusal)[]> {
  const results: (SendResult | Refusal)[] = [];
  // One after another: a hundred messages of the largest size at once would be more memory than anybody gave.
  for (const [i, body] of bodies.entries()) {
    const own = key === undefined ? undefined : `${key}/${i}`;
    results.push(await inTurn(() => send(world, sender, body, own).catch((error: unknown) => refusalOf(world, error))));
  }
  return results;
}

/** A batch may be more than a key sends at once: it is sent as fast as the key may send. */
async function inTurn<T extends SendResult | Refusal>(sendOne: () => Promise<T>): Promise<T> {
  for (let waits = 0; ; waits++) {
    const result = await sendOne();
    const wait = 'error' in result && result.error === 'rate_limited' ? Number(result['retryAfterSeconds']) : Infinity;
    if (!(wait <= LONGEST_TURN_S) || waits === MOST_TURNS) return result;
    await sleep(wait * 1000);
  }
}

/** The bodies of a batch. */
export function bodiesOf(list: unknown): readonly unknown[] {
  if (Array.isArray(list) && list.length > 0 && list.length <= MOST_OF_A_BATCH) return list;
  throw new Refused({
    error: 'invalid_arguments',
    message: `Send a list of 1 to ${MOST_OF_A_BATCH} messages.`,
    issues: [{ path: '', message: `is no list of 1 to ${MOST_OF_A_BATCH} messages` }],
  });
}

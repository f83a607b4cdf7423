import { countByAccount } from '../connection-guard.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BlobUnreadable } from '../../../mail/store/blob/unreadable.ts';
import { StoreBusy } from '../../../mail/store/engine/types.ts';
import { authorizationOf, isRateLimited, sendRefusal } from '../json-replies.ts';
import { argumentIssues, firstIssue } from '../../core/issues.ts';
import { normalizeArguments } from '../../core/argument-normalizer.ts';
import { CONTENT_UNREADABLE, RefusedError, type Refusal } from '../../core/refusal.ts';
import type { AppContext } from '../../core/app-context.ts';
import { authenticateKey, type ApiSender } from '../../sending/key-auth.ts';
import type { EmailRequest } from '../../sending/email-request.ts';
import type { SendResult } from '../../sending/send-result.ts';

export type KeyedHandler = (sender: ApiSender, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
export type KeyedRoute = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

const MAX_BATCH = 100;
/** A rate-limited message of a batch is retried this often, after at most this long. */
const MAX_RETRY_S = 2;
const MAX_RETRIES = 5;

/** Wraps a route that needs an email API key. Sends thrown refusals. */
export function withKey(
  context: AppContext,
  handle: KeyedHandler,
  refuse: typeof sendRefusal = sendRefusal,
): KeyedRoute {
  return async (request, reply) => {
    const sender = await authenticateKey(context, authorizationOf(request));
    const holder = 'why' in sender ? undefined : sender.credential;
    if (holder !== undefined) countByAccount(request.raw, holder);
    if (isRateLimited(context, request, reply, holder, refuse)) return reply;
    if ('why' in sender) {
      void reply.header('www-authenticate', 'Bearer realm="mailstead"');
      return refuse(reply, { error: 'unauthorized', message: `Unauthorized: ${sender.why}.` });
    }
    try {
      return await handle(sender, request, reply);
    } catch (error) {
      return refuse(reply, refusalOf(context, error));
    }
  };
}

/** Maps an error of the send API to a refusal. */
export function refusalOf(context: AppContext, error: unknown): Refusal {
  if (error instanceof RefusedError) return error.refusal;
  if (error instanceof StoreBusy) {
    return {
      error: 'unavailable',
      message: `Temporarily unavailable: ${error.message}. Retry in 30 s.`,
      retryAfterSeconds: 30,
    };
  }
  if (error instanceof BlobUnreadable) return CONTENT_UNREADABLE;
  context.log.error({ err: error }, 'failed to send');
  return { error: 'internal', message: 'Internal error; it was logged.' };
}

/** The idempotency key of the header. */
export function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  return typeof key === 'string' ? key : undefined;
}

/** Parses and sends one message. `key` from the header overrides the one in the body. */
export async function send(
  context: AppContext,
  sender: ApiSender,
  body: unknown,
  key: string | undefined,
): Promise<SendResult> {
  const [request, { sendRequested }] = await Promise.all([readEmail(body, key), import('../../sending/send-email.ts')]);
  return sendRequested(context, sender, request);
}

async function readEmail(body: unknown, key: string | undefined): Promise<EmailRequest> {
  const { EmailRequest: schema } = await import('../../sending/email-request.ts');
  const given = normalizeArguments(schema, body);
  const read = schema.safeParse(key === undefined ? given : { ...given, idempotencyKey: key });
  if (read.success) return read.data;
  const issues = argumentIssues(read.error);
  throw new RefusedError({ error: 'invalid_arguments', message: `${firstIssue(issues)}.`, issues });
}

/** Sends a batch; each message succeeds or fails separately. An idempotency key is extended with the index. */
export async function sendAll(
  context: AppContext,
  sender: ApiSender,
  bodies: readonly unknown[],
  key: string | undefined,
  read = (body: unknown): unknown => body,
): Promise<(SendResult | Refusal)[]> {
  const results: (SendResult | Refusal)[] = [];
  const sendRead = async (body: unknown, own: string | undefined) => send(context, sender, read(body), own);
  // Sequential: a hundred messages of maximum size at once would exhaust memory.
  for (const [i, body] of bodies.entries()) {
    const own = key === undefined ? undefined : `${key}/${i}`;
    results.push(await sendWithRetries(() => sendRead(body, own).catch((error: unknown) => refusalOf(context, error))));
  }
  return results;
}

/** Sends with retries while rate limited: a batch may exceed the burst of its key. */
async function sendWithRetries<T extends SendResult | Refusal>(sendOne: () => Promise<T>): Promise<T> {
  for (let waits = 0; ; waits++) {
    const result = await sendOne();
    const wait = 'error' in result && result.error === 'rate_limited' ? Number(result['retryAfterSeconds']) : Infinity;
    if (!(wait <= MAX_RETRY_S) || waits === MAX_RETRIES) return result;
    await sleep(wait * 1000);
  }
}

/** The bodies of a batch. */
export function bodiesOf(list: unknown): readonly unknown[] {
  if (Array.isArray(list) && list.length > 0 && list.length <= MAX_BATCH) return list;
  throw new RefusedError({
    error: 'invalid_arguments',
    message: `Send a list of 1 to ${MAX_BATCH} messages.`,
    issues: [{ path: '', message: `is not a list of 1 to ${MAX_BATCH} messages` }],
  });
}

import type { FastifyInstance, FastifyReply } from 'fastify';
import { sendRefusal } from '../json-replies.ts';
import { RefusedError, type Refusal } from '../../core/refusal.ts';
import type { AppContext } from '../../core/app-context.ts';
import { fromResend, resendEmail, resendFields, resendTime } from '../../sending/resend.ts';
import {
  bodiesOf,
  type KeyedHandler,
  idempotencyKeyOf,
  type KeyedRoute,
  send,
  sendAll,
  withKey,
} from './send-requests.ts';
import { cancelSentMail, findSentMail, rescheduleSentMail } from './sent-requests.ts';
import { serializeSent } from '../../sending/serialize-sent.ts';

/** Routes compatible with the Resend client library, with its responses and errors. */
export function resendRoutes(context: AppContext, app: FastifyInstance, large: { bodyLimit: number }): void {
  const keyed = (handle: KeyedHandler): KeyedRoute => withKey(context, handle, sendResendError);
  app.post(
    '/emails',
    large,
    keyed(async (sender, request, reply) => {
      const { id } = await send(context, sender, fromResend(request.body, context.clock()), idempotencyKeyOf(request));
      return reply.send({ id });
    }),
  );
  app.post(
    '/emails/batch',
    large,
    keyed(async (sender, request, reply) => {
      const bodies = bodiesOf(request.body);
      const key = idempotencyKeyOf(request);
      const permissive = request.headers['x-batch-validation'] === 'permissive';
      // Without permissive validation one invalid message rejects the batch before any is sent.
      const read = (body: unknown) => fromResend(body, context.clock());
      if (!permissive) await tryAll((body) => asTry(read(body)));
      const results = await sendAll(context, sender, bodies, key, read);
      const data = results.flatMap((one) => ('error' in one ? [] : [{ id: one.id }]));
      const errors = results.flatMap((one, index) => ('error' in one ? [{ index, message: one.message }] : []));
      return reply.send({ data, ...((permissive || errors.length > 0) && { errors }) });

      async function tryAll(readTry: (body: unknown) => unknown): Promise<void> {
        const failed = (await sendAll(context, sender, bodies, key, readTry)).find(
          (one): one is Refusal => 'error' in one,
        );
        if (failed !== undefined) throw new RefusedError(failed);
      }
    }),
  );
  app.get(
    '/emails/:id',
    keyed(async (sender, request, reply) => {
      const { sent, lines } = await findSentMail(context, sender, request);
      return reply.send(resendEmail(sent, serializeSent(sent, lines)));
    }),
  );
  app.post(
    '/emails/:id/cancel',
    keyed(async (sender, request, reply) => {
      const { id } = await cancelSentMail(context, sender, request);
      return reply.send({ object: 'email', id });
    }),
  );
  app.patch(
    '/emails/:id',
    keyed(async (sender, request, reply) => {
      const { id } = await rescheduleSentMail(context, sender, request, resendTime(request.body, context.clock()));
      return reply.send({ object: 'email', id });
    }),
  );
  refuseAbsent(app);
}

/** Paths of the library that this server does not have. */
const ABSENT = ['/emails/*', '/domains', '/domains/*', '/api-keys', '/api-keys/*'];
const EVERY_METHOD = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Answers what is not offered with the library's errors too. */
function refuseAbsent(app: FastifyInstance): void {
  for (const url of ABSENT) {
    app.route({
      method: EVERY_METHOD,
      url,
      handler: (_request, reply) => {
        const message = 'Not offered here. /openapi.json lists all routes; domains and keys are managed by tools.';
        return sendResendError(reply, { error: 'not_found', message });
      },
    });
  }
  app.route({
    method: EVERY_METHOD.filter((method) => method !== 'POST'),
    url: '/emails',
    handler: (_request, reply) => {
      void reply.header('allow', 'POST');
      return sendResendError(reply, { error: 'method_not_allowed', message: 'Method not allowed. Use POST.' });
    },
  });
}

const asTry = (body: unknown): unknown =>
  typeof body === 'object' && body !== null ? { ...body, dryRun: true } : body;

/** Sends a refusal with the fields of the library's errors. */
function sendResendError(reply: FastifyReply, refusal: Refusal): FastifyReply {
  return sendRefusal(reply, { ...refusal, ...resendFields(refusal.error) });
}

import type { FastifyInstance, FastifyReply } from 'fastify';
import { say } from '../http/answers.ts';
import { REFUSALS, Refused, type Refusal } from '../operations/refusal.ts';
import type { World } from '../operations/world.ts';
import { fromResend, resendError, resendShown, resendTime } from './resend.ts';
import { bodiesOf, type Handler, idempotencyKeyOf, type Route, send, sendAll, withKey } from './send-desk.ts';
import { cancel, found, move } from './sent-desk.ts';
import { shownSent } from './sent-shown.ts';

/** The doors that Resend's library knocks at, with its answers and its errors. */
export function resendRoutes(world: World, app: FastifyInstance, large: { bodyLimit: number }): void {
  const keyed = (handle: Handler): Route => withKey(world, handle, sayResend);
  app.post(
    '/emails',
    large,
    keyed(async (sender, request, reply) => {
      const { id } = await send(world, sender, fromResend(request.body), idempotencyKeyOf(request));
      return reply.send({ id });
    }),
  );
  app.post(
    '/emails/batch',
    large,
    keyed(async (sender, request, reply) => {
      const bodies = bodiesOf(request.body).map(fromResend);
      const key = idempotencyKeyOf(request);
      const permissive = request.headers['x-batch-validation'] === 'permissive';
      // Otherwise one that is wrong stops all of them, and before any is sent: the caller will send them all again.
      if (!permissive) await tryAll(bodies.map(asTry));
      const results = await sendAll(world, sender, bodies, key);
      const data = results.flatMap((one) => ('error' in one ? [] : [{ id: one.id }]));
      const errors = results.flatMap((one, index) => ('error' in one ? [{ index, message: one.message }] : []));
      return reply.send({ data, ...((permissive || errors.length > 0) && { errors }) });

      async function tryAll(tries: readonly unknown[]): Promise<void> {
        const failed = (await sendAll(world, sender, tries, key)).find((one): one is Refusal => 'error' in one);
        if (failed !== undefined) throw new Refused(failed);
      }
    }),
  );
  app.get(
    '/emails/:id',
    keyed(async (sender, request, reply) => {
      const { sent, lines } = await found(world, sender, request);
      return reply.send(resendShown(sent, shownSent(sent, lines)));
    }),
  );
  app.post(
    '/emails/:id/cancel',
    keyed(async (sender, request, reply) => {
      const { id } = await cancel(world, sender, request);
      return reply.send({ object: 'email', id });
    }),
  );
  app.patch(
    '/emails/:id',
    keyed(async (sender, request, reply) => {
      const { id } = await move(world, sender, request, resendTime(request.body, world.clock()));
      return reply.send({ object: 'email', id });
    }),
  );
}

const asTry = (body: unknown): unknown =>
  typeof body === 'object' && body !== null ? { ...body, dryRun: true } : body;

/** A refusal with the fields that the library's error objects have. */
function sayResend(reply: FastifyReply, refusal: Refusal): FastifyReply {
  return say(reply, { ...refusal, statusCode: REFUSALS[refusal.error], name: resendError(refusal.error) });
}

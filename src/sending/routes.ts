import type { FastifyInstance } from 'fastify';
import { jsonOnly } from '../http/answers.ts';
import { publicId } from '../ids.ts';
import type { World } from '../operations/world.ts';
import { resendRoutes } from './resend-routes.ts';
import { bodiesOf, type Handler, idempotencyKeyOf, type Route, send, sendAll, withKey } from './send-desk.ts';
import { cancel, found, status } from './sent-desk.ts';
import { shownEvents } from './sent-shown.ts';
import { uploadRoutes } from './upload-routes.ts';

/** A message of the largest size in base64, and what is around it. */
const bodyLimit = (maxMessageBytes: number): number => Math.ceil(maxMessageBytes * 1.4) + 65_536;

/** The send API: for programs that hold an email API key and nothing else. */
export function sendRoutes(world: World): (app: FastifyInstance) => void {
  const large = { bodyLimit: bodyLimit(world.settings.maxMessageBytes) };
  return (app) => {
    void app.register(async (json) => {
      jsonOnly(json);
      ownRoutes(world, json, large);
      resendRoutes(world, json, large);
      await Promise.resolve();
    });
    void app.register(uploadRoutes(world));
  };
}

function ownRoutes(world: World, app: FastifyInstance, large: { bodyLimit: number }): void {
  const keyed = (handle: Handler): Route => withKey(world, handle);
  app.post(
    '/api/email/send',
    large,
    keyed(async (sender, request, reply) =>
      reply.code(202).send(await send(world, sender, request.body, idempotencyKeyOf(request))),
    ),
  );
  app.post(
    '/api/email/send/batch',
    large,
    keyed(async (sender, request, reply) => {
      const results = await sendAll(world, sender, bodiesOf(request.body), idempotencyKeyOf(request));
      return reply.code(202).send({ results });
    }),
  );
  app.get(
    '/api/email/messages/:id',
    keyed(async (sender, request, reply) => reply.send(await status(world, sender, request))),
  );
  app.get(
    '/api/email/messages/:id/events',
    keyed(async (sender, request, reply) => {
      const { sent, lines } = await found(world, sender, request);
      return reply.send({ id: publicId('sent', sent.id), events: shownEvents(lines) });
    }),
  );
  app.delete(
    '/api/email/messages/:id/schedule',
    keyed(async (sender, request, reply) => reply.send(await cancel(world, sender, request))),
  );
}

import type { FastifyInstance } from 'fastify';
import { acceptJsonOnly } from '../json-replies.ts';
import { publicId } from '../../core/ids.ts';
import type { AppContext } from '../../core/app-context.ts';
import { resendRoutes } from './resend.ts';
import {
  bodiesOf,
  type KeyedHandler,
  idempotencyKeyOf,
  type KeyedRoute,
  send,
  sendAll,
  withKey,
} from './send-requests.ts';
import { cancelSentMail, findSentMail, sentStatus } from './sent-requests.ts';
import { serializeEvents } from '../../sending/serialize-sent.ts';
import { transferRoutes } from './transfers.ts';
import { uploadRoutes } from './uploads.ts';

/** Body limit for a message of maximum size in base64, plus its JSON. */
const bodyLimit = (maxMessageBytes: number): number => Math.ceil(maxMessageBytes * 1.4) + 65_536;

/** The send API, for programs with an email API key. */
export function sendRoutes(context: AppContext): (app: FastifyInstance) => void {
  const large = { bodyLimit: bodyLimit(context.settings.maxMessageBytes) };
  return (app) => {
    void app.register(async (json) => {
      acceptJsonOnly(json);
      ownRoutes(context, json, large);
      resendRoutes(context, json, large);
      await Promise.resolve();
    });
    void app.register(uploadRoutes(context));
    void app.register(transferRoutes(context));
  };
}

function ownRoutes(context: AppContext, app: FastifyInstance, large: { bodyLimit: number }): void {
  const keyed = (handle: KeyedHandler): KeyedRoute => withKey(context, handle);
  app.post(
    '/api/email/send',
    large,
    keyed(async (sender, request, reply) =>
      reply.code(202).send(await send(context, sender, request.body, idempotencyKeyOf(request))),
    ),
  );
  app.post(
    '/api/email/send/batch',
    large,
    keyed(async (sender, request, reply) => {
      const results = await sendAll(context, sender, bodiesOf(request.body), idempotencyKeyOf(request));
      return reply.code(202).send({ results });
    }),
  );
  app.get(
    '/api/email/messages/:id',
    keyed(async (sender, request, reply) => reply.send(await sentStatus(context, sender, request))),
  );
  app.get(
    '/api/email/messages/:id/events',
    keyed(async (sender, request, reply) => {
      const { sent, lines } = await findSentMail(context, sender, request);
      return reply.send({ id: publicId('sent', sent.id), events: serializeEvents(lines) });
    }),
  );
  app.delete(
    '/api/email/messages/:id/schedule',
    keyed(async (sender, request, reply) => reply.send(await cancelSentMail(context, sender, request))),
  );
}

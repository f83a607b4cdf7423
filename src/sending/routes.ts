import type { FastifyInstance, FastifyRequest } from 'fastify';
import { journalOf } from '../../mail/store/journal.ts';
import { jsonOnly, say } from '../http/answers.ts';
import { publicId, rowId } from '../ids.ts';
import { Refused, type Refusal } from '../operations/refusal.ts';
import type { World } from '../operations/world.ts';
import type { Sender } from './key-auth.ts';
import { fromResend } from './resend.ts';
import { type Handler, idempotencyKeyOf, type Route, send, sendAll, withKey } from './send-desk.ts';
import { cancelSent } from './sent-commands.ts';
import { findSent } from './sent-queries.ts';
import { sendersLines, shownEvents, shownSent } from './sent-shown.ts';

/** A message of the largest size in base64, and what is around it. */
const bodyLimit = (maxMessageBytes: number): number => Math.ceil(maxMessageBytes * 1.4) + 65_536;

/** The send API: for programs that hold an email API key and nothing else. */
export function sendRoutes(world: World): (app: FastifyInstance) => void {
  const large = { bodyLimit: bodyLimit(world.settings.maxMessageBytes) };
  const keyed = (handle: Handler): Route => withKey(world, handle);
  return (app) => {
    jsonOnly(app);
    app.post(
      '/api/email/send',
      large,
      keyed(async (sender, request, reply) => {
        return reply.code(202).send(await send(world, sender, request.body, idempotencyKeyOf(request)));
      }),
    );
    app.post(
      '/api/email/send/batch',
      large,
      keyed(async (sender, request, reply) => {
        return reply.code(202).send({ results: await sendAll(world, sender, request.body) });
      }),
    );
    app.get(
      '/api/email/messages/:id',
      keyed(async (sender, request, reply) => {
        return reply.send(await status(world, sender, request));
      }),
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
      keyed(async (sender, request, reply) => {
        return reply.send(await cancel(world, sender, request));
      }),
    );
    resendRoutes(world, app, large, keyed);
  };
}

/** The doors that Resend's library knocks at. */
function resendRoutes(
  world: World,
  app: FastifyInstance,
  large: { bodyLimit: number },
  keyed: (handle: Handler) => Route,
): void {
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
      const list = Array.isArray(request.body) ? request.body.map(fromResend) : request.body;
      const results = await sendAll(world, sender, list);
      const failed = results.find((one): one is Refusal => 'error' in one);
      return failed === undefined ? reply.send({ data: results.map(({ id }) => ({ id })) }) : say(reply, failed);
    }),
  );
  app.get(
    '/emails/:id',
    keyed(async (sender, request, reply) => reply.send(await status(world, sender, request))),
  );
  app.post(
    '/emails/:id/cancel',
    keyed(async (sender, request, reply) => {
      const { id } = await cancel(world, sender, request);
      return reply.send({ object: 'email', id });
    }),
  );
}

async function found(world: World, { organization }: Sender, request: FastifyRequest) {
  const id = rowId('sent', (request.params as { id: string }).id);
  const sent = id === undefined ? undefined : await world.store.read(findSent, { organization, id });
  if (sent === undefined) {
    throw new Refused({ error: 'not_found', message: 'There is no such message, or it is not this organization’s.' });
  }
  const lines = await world.store.read(journalOf, { trace: sent.trace, tenant: organization, accounts: null });
  return { sent, lines: sendersLines(sent, lines) };
}

async function status(world: World, sender: Sender, request: FastifyRequest) {
  const { sent, lines } = await found(world, sender, request);
  return shownSent(sent, lines);
}

async function cancel(world: World, sender: Sender, request: FastifyRequest) {
  const { sent } = await found(world, sender, request);
  const done = await world.store.write(cancelSent, { organization: sender.organization, id: sent.id });
  if (done.kind === 'cancelled') return status(world, sender, request);
  throw new Refused({ error: 'conflict', message: 'The message has left already, or was cancelled before.' });
}

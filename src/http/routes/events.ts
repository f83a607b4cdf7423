import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendRefusal, closeSignal } from '../json-replies.ts';
import { EventWriter } from '../event-writer.ts';
import { authenticateRest } from '../tools.ts';
import { operations } from '../../operations/lazy-catalogue.ts';
import type { AppContext } from '../../core/app-context.ts';
import type { StreamStart, EventStream } from './event-stream.ts';

/** `GET /api/events?mailbox=...&since=...`: server-sent events. */
export function eventRoutes(context: AppContext): (app: FastifyInstance) => void {
  const open = new Set<EventStream>();
  return (app) => {
    app.get('/api/events', { exposeHeadRoute: false }, async (request, reply) => {
      const begun = await begin(context, request, reply);
      if (begun === undefined) return reply;
      const { caller } = begun;
      const audience = { signal: closeSignal(reply.raw) };
      const input = { account: undefined, caller, seconds: context.waits.maxStreamSeconds(caller), audience };
      using wait = await context.waits.begin(input);
      const [{ TOO_MANY }, { EventStream: Made }] = await Promise.all([
        import('../../operations/waiting/pause.ts'),
        import('./event-stream.ts'),
      ]);
      if (wait === undefined) return sendRefusal(reply, TOO_MANY);
      const writer = new EventWriter(reply);
      const stream = new Made(context, begun, wait, writer);
      open.add(stream);
      context.metrics.gauge('event_streams_open', open.size);
      try {
        await stream.run();
      } catch (error) {
        // The client reconnects with its last cursor.
        context.log.error({ err: error }, 'event stream failed');
        writer.cutOff();
      } finally {
        open.delete(stream);
        context.metrics.gauge('event_streams_open', open.size);
      }
      return reply;
    });
  };
}

/** View and start position of the stream; undefined if a refusal was sent. */
async function begin(
  context: AppContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<StreamStart | undefined> {
  const caller = await authenticateRest(context, request, reply, undefined);
  if (caller === undefined) return undefined;
  const [{ perform }, { followEvents }] = await Promise.all([
    operations(),
    import('../../operations/waiting/event-stream.ts'),
  ]);
  const last = request.headers['last-event-id'];
  // A reconnecting client uses its first URL; Last-Event-ID overrides `since`.
  const since = typeof last === 'string' && last !== '' ? { since: last } : {};
  const outcome = await perform(context, followEvents, caller, { ...(request.query as object), ...since });
  if (outcome.kind === 'done') return { caller, ...followEvents.output.parse(outcome.result) };
  sendRefusal(reply, outcome.refusal);
  return undefined;
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { say } from '../http/answers.ts';
import { EventWriter } from '../http/event-writer.ts';
import { goneSignal } from '../http/gone.ts';
import { admitted } from '../http/tools.ts';
import { operations } from '../operations/loaded.ts';
import type { World } from '../operations/world.ts';
import type { Begun, Stream } from './stream.ts';

/** `GET /api/events?mailbox=...&since=...`: what happens, as server-sent events. */
export function eventRoutes(world: World): (app: FastifyInstance) => void {
  const open = new Set<Stream>();
  return (app) => {
    app.get('/api/events', { exposeHeadRoute: false }, async (request, reply) => {
      const begun = await begin(world, request, reply);
      if (begun === undefined) return reply;
      const { caller } = begun;
      const audience = { signal: goneSignal(reply.raw) };
      const asked = { account: undefined, caller, seconds: world.waits.longest(caller), audience };
      using wait = await world.waits.begin(asked);
      const [{ TOO_MANY }, { Stream: Made }] = await Promise.all([
        import('../operations/waiting/pause.ts'),
        import('./stream.ts'),
      ]);
      if (wait === undefined) return say(reply, TOO_MANY);
      const writer = new EventWriter(reply);
      const stream = new Made(world, begun, wait, writer);
      open.add(stream);
      world.metrics.gauge('event_streams_open', open.size);
      try {
        await stream.run();
      } catch (error) {
        // The client comes back with the cursor that it has.
        world.log.error({ err: error }, 'a stream of events broke');
        writer.cutOff();
      } finally {
        open.delete(stream);
        world.metrics.gauge('event_streams_open', open.size);
      }
      return reply;
    });
  };
}

/** What the caller may be told, and from where on; undefined when the answer has been given. */
async function begin(world: World, request: FastifyRequest, reply: FastifyReply): Promise<Begun | undefined> {
  const caller = await admitted(world, request, reply, undefined);
  if (caller === undefined) return undefined;
  const [{ perform }, { followEvents }] = await Promise.all([
    operations(),
    import('../operations/waiting/followed.ts'),
  ]);
  const last = request.headers['last-event-id'];
  // A client that comes back asks at the address of its beginning, and says in the header how far it came.
  const since = typeof last === 'string' && last !== '' ? { since: last } : {};
  const outcome = await perform(world, followEvents, caller, { ...(request.query as object), ...since });
  if (outcome.kind === 'done') return { caller, ...followEvents.output.parse(outcome.result) };
  say(reply, outcome.refusal);
  return undefined;
}

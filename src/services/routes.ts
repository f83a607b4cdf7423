import type { FastifyInstance } from 'fastify';
import { jsonOnly, say } from '../http/answers.ts';
import { admitted } from '../http/tools.ts';
import type { World } from '../operations/world.ts';
import { envFileText } from './environment.ts';

/** `GET /api/services/{id}/env`: JSON, or with `Accept: text/plain` the lines of an environment file. */
export function serviceRoutes(world: World): (app: FastifyInstance) => void {
  return (app) => {
    jsonOnly(app);
    app.get<{ Params: { id: string } }>('/api/services/:id/env', async (request, reply) => {
      const caller = await admitted(world, request, reply, undefined);
      if (caller === undefined) return reply;
      const { perform } = await import('../operations/perform.ts');
      const { getServiceEnvironment } = await import('../operations/services/environment.ts');
      const input = { serviceId: request.params.id };
      const outcome = await perform(world, getServiceEnvironment, caller, input);
      if (outcome.kind === 'refused') return say(reply, outcome.refusal);
      if (request.headers.accept?.includes('text/plain') !== true) return reply.send(outcome.result);
      const text = envFileText(outcome.result['env'] as Record<string, string>);
      return reply.type('text/plain; charset=utf-8').send(text);
    });
  };
}

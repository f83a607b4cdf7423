import type { FastifyInstance } from 'fastify';
import { acceptJsonOnly, sendRefusal } from '../json-replies.ts';
import { authenticateRest } from '../tools.ts';
import type { AppContext } from '../../core/app-context.ts';
import { envFileText } from '../../services/environment.ts';

/** `GET /api/services/{id}/env`: JSON, or with `Accept: text/plain` the lines of an environment file. */
export function serviceRoutes(context: AppContext): (app: FastifyInstance) => void {
  return (app) => {
    acceptJsonOnly(app);
    app.get<{ Params: { id: string } }>('/api/services/:id/env', async (request, reply) => {
      const caller = await authenticateRest(context, request, reply, undefined);
      if (caller === undefined) return reply;
      const { perform } = await import('../../operations/perform.ts');
      const { getServiceEnvironment } = await import('../../operations/services/environment.ts');
      const input = { serviceId: request.params.id };
      const outcome = await perform(context, getServiceEnvironment, caller, input);
      if (outcome.kind === 'refused') return sendRefusal(reply, outcome.refusal);
      if (request.headers.accept?.includes('text/plain') !== true) return reply.send(outcome.result);
      const text = envFileText(outcome.result['env'] as Record<string, string>);
      return reply.type('text/plain; charset=utf-8').send(text);
    });
  };
}

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { REFUSALS } from '../operations/refusal.ts';
import type { World } from '../operations/world.ts';
import { authenticate } from '../tokens/authenticate.ts';

/** `POST /api/tools/{name}`: the same operations as over MCP, their arguments as the body, their result as the answer. */
export function toolRoutes(world: World): (app: FastifyInstance) => void {
  return (app) => {
    app.post('/api/tools/:name', async (request: FastifyRequest<{ Params: { name: string } }>, reply) => {
      // At first use: the schemas of all operations cost memory that a box without agents does not need.
      const [{ findOperation }, { perform }] = await Promise.all([
        import('../operations/catalogue.ts'),
        import('../operations/perform.ts'),
      ]);
      void reply.header('cache-control', 'no-store');
      const who = await authenticate(world, request.headers.authorization, 'rest', request.ip);
      if (who.kind === 'refused') return reply.code(401).send({ error: 'unauthorized', message: who.why });
      const operation = findOperation(request.params.name);
      if (operation === undefined) {
        return reply.code(404).send({ error: 'not_found', message: 'There is no such tool: see GET /api/tools.' });
      }
      const outcome = await perform(world, operation, who.caller, request.body);
      if (outcome.kind === 'done') return reply.send(outcome.result);
      return reply.code(REFUSALS[outcome.refusal.error]).send(outcome.refusal);
    });
  };
}

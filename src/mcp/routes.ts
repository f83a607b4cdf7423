import type { FastifyInstance } from 'fastify';
import type { World } from '../operations/world.ts';

export function mcpRoutes(_world: World): (app: FastifyInstance) => void {
  return () => undefined;
}

import type { FastifyInstance } from 'fastify';
import type { World } from '../operations/world.ts';

export function discoveryRoutes(_world: World): (app: FastifyInstance) => void {
  return () => undefined;
}

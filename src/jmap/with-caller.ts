import type { FastifyReply, FastifyRequest } from 'fastify';
import type { World } from '../operations/world.ts';
import { refuseCaller } from './answers.ts';
import { authenticateJmap, type JmapAuthenticated } from './authenticate.ts';

export type In = Extract<JmapAuthenticated, { kind: 'in' }>;

/** A route of a caller who is known. */
export type JmapHandler = (caller: In, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Turns a handler into a route that knows who asks, or says why nobody does. */
export function withCaller(world: World, handle: JmapHandler) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const found = await authenticateJmap(world, request);
    return found.kind === 'in' ? handle(found, request, reply) : refuseCaller(request, reply, found);
  };
}

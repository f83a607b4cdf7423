import cookie from '@fastify/cookie';
import type { FastifyInstance } from 'fastify';
import type { World } from '../operations/world.ts';
import { PeopleDesk } from '../people/desk.ts';
import { claimRoute } from './claim-route.ts';

/** Everything for people in browsers, and the one route by which a program claims for them. */
export function portalRoutes(world: World): (app: FastifyInstance) => Promise<void> {
  // One for all listeners, or each would give a guesser another try.
  const desk = new PeopleDesk(world);
  return async (app) => {
    await app.register(cookie);
    await app.register(async (inner) => claimRoute(world, desk)(inner));
  };
}

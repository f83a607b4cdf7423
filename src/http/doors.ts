import type { FastifyInstance } from 'fastify';
import { bootstrapRoutes } from '../bootstrap/routes.ts';
import { eventRoutes } from '../events/routes.ts';
import { jmapRoutes } from '../jmap/routes.ts';
import { mcpRoutes } from '../mcp/routes.ts';
import { oauthRoutes } from '../oauth/routes.ts';
import type { World } from '../operations/world.ts';
import { portalRoutes } from '../portal/routes.ts';
import { sendRoutes } from '../sending/routes.ts';
import { serviceRoutes } from '../services/routes.ts';
import { unsubscribeRoutes } from '../unsubscribe/routes.ts';
import { webhookRoutes } from '../webhooks/routes.ts';
import { discoveryRoutes } from './discovery.ts';
import { toolRoutes } from './tools.ts';

export type Door = (app: FastifyInstance) => void | Promise<void>;

/** Every door behind the HTTP listeners, each in a context of its own. */
export function httpDoors(world: World): readonly Door[] {
  return [
    sendRoutes(world),
    webhookRoutes(world),
    unsubscribeRoutes(world),
    toolRoutes(world),
    eventRoutes(world),
    bootstrapRoutes(world),
    serviceRoutes(world),
    mcpRoutes(world),
    jmapRoutes(world),
    oauthRoutes(world),
    portalRoutes(world),
    discoveryRoutes(world),
  ];
}

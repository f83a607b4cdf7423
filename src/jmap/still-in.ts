import type { FastifyRequest } from 'fastify';
import type { World } from '../operations/world.ts';
import { authenticateJmap, type JmapAuthenticated } from './authenticate.ts';

/** How often a credential of an open connection is looked at again. */
const LOOK_MS = 60_000;

/**
 * Calls back once when the credential of an open connection holds no more: at once for a password that is rotated or
 * revoked, within a minute for a token. The answer stops watching.
 */
export function whenOut(
  world: World,
  request: FastifyRequest,
  { login }: Extract<JmapAuthenticated, { kind: 'in' }>,
  end: () => void,
): () => void {
  if (login !== undefined) return world.logins.onRevoked(login, end);
  const timer = setInterval(() => {
    authenticateJmap(world, request).then(
      ({ kind }) => kind === 'refused' && end(),
      // The store cannot be asked now: it says so where it matters.
      () => undefined,
    );
  }, LOOK_MS).unref();
  return () => clearInterval(timer);
}

import type { FastifyRequest } from 'fastify';
import { sessionState } from '../../mail/jmap/session.ts';
import type { World } from '../operations/world.ts';
import { authenticateJmap, type JmapAuthenticated } from './authenticate.ts';

/** How often a credential of an open connection is looked at again. */
const LOOK_MS = 60_000;

/**
 * Calls back once when the credential of an open connection holds no more: at once for a password that is rotated or
 * revoked, within a minute for a token, also when that opens other accounts by then. The answer stops watching.
 */
export function whenOut(
  world: World,
  request: FastifyRequest,
  { login, session }: Extract<JmapAuthenticated, { kind: 'in' }>,
  end: () => void,
): () => void {
  if (login !== undefined) return world.logins.onRevoked(login, end);
  const state = sessionState(session);
  const timer = setInterval(() => {
    authenticateJmap(world, request).then(
      (now) => (now.kind === 'refused' || sessionState(now.session) !== state) && end(),
      // The store cannot be asked now: it says so where it matters.
      () => undefined,
    );
  }, LOOK_MS).unref();
  return () => clearInterval(timer);
}

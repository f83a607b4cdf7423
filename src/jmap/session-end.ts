import type { FastifyRequest } from 'fastify';
import { sessionState } from '../../mail/jmap/core/session-object.ts';
import type { AppContext } from '../core/app-context.ts';
import { authenticateJmap, type JmapAuthentication } from './authenticate.ts';

/** Interval of token checks on open connections. */
const RECHECK_MS = 60_000;

/**
 * Calls `end` once when the credential of an open connection becomes invalid: at once for a rotated or revoked password,
 * within a minute for a token, also if its accounts changed. Returns the function that stops watching.
 */
export function onSessionEnd(
  context: AppContext,
  request: FastifyRequest,
  { login, session }: Extract<JmapAuthentication, { kind: 'in' }>,
  end: () => void,
): () => void {
  const unwatch = login === undefined ? () => undefined : context.logins.onRevoked(login, end);
  // A login without password or token follows a session of the portal, which also ends by time or a role.
  if (login !== undefined && (login.credential > 0 || login.token !== undefined)) return unwatch;
  const state = sessionState(session);
  const timer = setInterval(() => {
    authenticateJmap(context, request).then(
      (now) => (now.kind === 'refused' || sessionState(now.session) !== state) && end(),
      // Store errors are ignored: the next check retries.
      () => undefined,
    );
  }, RECHECK_MS).unref();
  return () => {
    clearInterval(timer);
    unwatch();
  };
}

/** Limits open connections per credential. Above the limit the oldest is closed: offline phones leave connections open. */
export class ConnectionCap {
  readonly #most: number;
  /** Bounded by the open connections. */
  readonly #open = new Map<string, Set<() => void>>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Adds a connection. `close` closes it; the returned function removes it after closing. */
  add(credential: string, close: () => void): () => void {
    const open = this.#open.get(credential) ?? new Set();
    this.#open.set(credential, open.add(close));
    const [oldest] = open;
    if (open.size > this.#most && oldest !== undefined) {
      open.delete(oldest);
      oldest();
    }
    return () => {
      open.delete(close);
      if (open.size === 0 && this.#open.get(credential) === open) this.#open.delete(credential);
    };
  }
}

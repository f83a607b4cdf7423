import type { World } from '../operations/world.ts';
import { findToken } from '../tokens/commands.ts';
import { secretHash } from '../tokens/token.ts';
import { empty, type McpAnswer } from './answer.ts';
import type { Exchange } from './exchange.ts';
import type { Called } from './offer.ts';
import { notAllowed, sessionGone } from './refusals.ts';
import { bindSession, endSession, sessionState } from './session-commands.ts';
import { SessionIds } from './session-id.ts';

export const SESSION_HEADER = 'mcp-session-id';

/** Sessions are a convenience of the older revisions: each is good for what its token is good for. */
export class Sessions {
  readonly ids: SessionIds;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    this.ids = new SessionIds(world.secrets.subkey('mcp session'));
  }

  /** A session id for who may have one and has none: at the handshake, and at the first call with a good token. */
  mint({ message, caller, session, headers }: Exchange): void {
    const known = ['initialize', 'tools/list', 'tools/call'].includes(message.method);
    const anonymous = caller.kind === 'anonymous' && message.method !== 'initialize';
    // An access token is short-lived by itself: a session would outlive it.
    if (!known || anonymous || session !== undefined || caller.token?.oauth != null) return;
    headers[SESSION_HEADER] = this.ids.mint(caller.token?.id ?? 0, this.#world.clock()).text;
  }

  /** An anonymous session that made an organization speaks for its token from now on. */
  async bind({ caller, session, headers }: Exchange, outcome: Called): Promise<void> {
    if (outcome.kind !== 'done' || outcome.token === undefined || caller.kind !== 'anonymous') return;
    const { store, clock } = this.#world;
    const token = await store.read(findToken, { hash: secretHash(outcome.token) });
    if (token === undefined) return;
    if (session === undefined) headers[SESSION_HEADER] = this.ids.mint(token.id, clock()).text;
    else {
      const { nonce, expiresAt } = session;
      await store.write(bindSession, { nonce, expiresAt, token: token.id });
    }
  }

  /** Ends a session that this box gave out. */
  async end(sessionText: string | undefined): Promise<McpAnswer> {
    if (sessionText === undefined) return notAllowed();
    const { store, clock } = this.#world;
    const session = this.ids.read(sessionText);
    const gone = session === undefined || session.expiresAt <= clock();
    if (gone || (await store.read(sessionState, { nonce: session.nonce })).ended) return sessionGone(null);
    await store.write(endSession, { nonce: session.nonce, expiresAt: session.expiresAt });
    return empty(204);
  }
}

import type { AppContext } from '../core/app-context.ts';
import { findToken } from '../tokens/commands.ts';
import { secretHash } from '../core/token.ts';
import { empty, type McpResponse, notAllowed, sessionEnded } from './rpc-response.ts';
import type { McpExchange } from './exchange.ts';
import { bindSession, endSession, mcpSessionState } from './session-commands.ts';
import { SessionIds } from './session-id.ts';
import type { ToolOutcome } from './tool-outcome.ts';

export const SESSION_HEADER = 'mcp-session-id';

/** Sessions of the older revisions, with the permissions of their token. */
export class Sessions {
  readonly ids: SessionIds;
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
    this.ids = new SessionIds(context.secrets.subkey('mcp session'));
  }

  /** Creates a session at the handshake, and at the first call with a valid token. */
  mint({ message, caller, session, headers }: McpExchange): void {
    const known = ['initialize', 'tools/list', 'tools/call'].includes(message.method);
    const anonymous = caller.kind === 'anonymous' && message.method !== 'initialize';
    // OAuth access tokens are short-lived: a session would outlive them.
    if (!known || anonymous || session !== undefined || caller.token?.oauth != null) return;
    headers[SESSION_HEADER] = this.ids.mint(caller.token?.id ?? 0, this.#context.clock()).text;
  }

  /** Binds an anonymous session to the token of the organization that it created. */
  async bind({ caller, session, headers }: McpExchange, outcome: ToolOutcome): Promise<void> {
    if (outcome.kind !== 'done' || outcome.token === undefined || caller.kind !== 'anonymous') return;
    const { store, clock } = this.#context;
    const token = await store.read(findToken, { hash: secretHash(outcome.token) });
    if (token === undefined) return;
    if (session === undefined) headers[SESSION_HEADER] = this.ids.mint(token.id, clock()).text;
    else {
      const { nonce, expiresAt } = session;
      await store.write(bindSession, { nonce, expiresAt, token: token.id });
    }
  }

  /** Ends a session of this server. */
  async end(sessionText: string | undefined): Promise<McpResponse> {
    if (sessionText === undefined) return notAllowed();
    const { store, clock } = this.#context;
    const session = this.ids.read(sessionText);
    const isOver = session === undefined || session.expiresAt <= clock();
    if (isOver || (await store.read(mcpSessionState, { nonce: session.nonce })).ended) return sessionEnded(null);
    await store.write(endSession, { nonce: session.nonce, expiresAt: session.expiresAt });
    return empty(204);
  }
}

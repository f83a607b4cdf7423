import { command, lookup } from '../../mail/store/engine/types.ts';

/** Ends a session. The row stays until the session would have expired. */
export const endSession = command(
  'end-session',
  async (tx, input: { nonce: Uint8Array; expiresAt: number }, stamp): Promise<{ kind: 'ended' }> => {
    await tx.run(
      'DELETE FROM mcp_session WHERE nonce IN (SELECT nonce FROM mcp_session WHERE expires_at < ? LIMIT 100)',
      stamp.now,
    );
    await tx.run(
      `INSERT INTO mcp_session (nonce, ended_at, expires_at) VALUES (?, ?, ?)
       ON CONFLICT (nonce) DO UPDATE SET ended_at = coalesce(mcp_session.ended_at, excluded.ended_at)`,
      input.nonce,
      stamp.now,
      input.expiresAt,
    );
    return { kind: 'ended' };
  },
);

/** Binds an anonymous session to its new token. Idempotent: the first token stays. */
export const bindSession = command(
  'bind-session',
  async (tx, input: { nonce: Uint8Array; token: number; expiresAt: number }): Promise<{ kind: 'bound' }> => {
    await tx.run(
      `INSERT INTO mcp_session (nonce, token_id, expires_at) VALUES (?, ?, ?)
       ON CONFLICT (nonce) DO UPDATE SET token_id = coalesce(mcp_session.token_id, excluded.token_id)`,
      input.nonce,
      input.token,
      input.expiresAt,
    );
    return { kind: 'bound' };
  },
);

/** Stored state of a session; most have none. */
export const mcpSessionState = lookup(
  'session-state',
  async (rx, input: { nonce: Uint8Array }): Promise<{ ended: boolean; token: number | null }> => {
    const row = await rx.get<{ token_id: number | null; ended_at: number | null }>(
      'SELECT token_id, ended_at FROM mcp_session WHERE nonce = ?',
      input.nonce,
    );
    return { ended: row?.ended_at != null, token: row?.token_id ?? null };
  },
);

import { anonymousCaller, type Caller, tokenCaller } from '../core/caller.ts';
import type { AppContext } from '../core/app-context.ts';
import { authenticateToken } from '../tokens/authenticate.ts';
import { findToken } from '../tokens/commands.ts';
import { isUsableFrom, OTHER_NETWORK } from '../tokens/token-validity.ts';
import { mcpSessionState } from './session-commands.ts';
import { type SessionId, type SessionIds, shownSession } from './session-id.ts';

export type Principal =
  | { kind: 'caller'; caller: Caller; /** Valid session of the request. */ session: SessionId | undefined }
  | { kind: 'unauthorized'; why: string; code: 'unauthorized' | 'session_mismatch'; presented: boolean }
  | { kind: 'session-gone' };

/** Identifies the caller by token, session or neither. Rechecks the token of a session at each use. */
export async function principalOf(
  context: AppContext,
  ids: SessionIds,
  {
    authorization,
    sessionText,
    ip,
  }: { authorization: string | string[] | undefined; sessionText: string | undefined; ip: string },
): Promise<Principal> {
  const who = await authenticateToken(context, authorization, 'mcp', ip);
  if (who.kind === 'refused') return { kind: 'unauthorized', why: who.why, code: 'unauthorized', presented: true };
  const bearer = who.kind === 'caller' ? who.caller : undefined;
  if (sessionText === undefined) return { kind: 'caller', caller: who.caller, session: undefined };
  const session = ids.read(sessionText);
  if (session === undefined) {
    // Foreign session ids are never adopted (session fixation).
    return bearer === undefined ? unknownSession() : { kind: 'caller', caller: bearer, session: undefined };
  }
  const state = await context.store.read(mcpSessionState, { nonce: session.nonce });
  if (state.ended) return { kind: 'session-gone' };
  const token = state.token ?? session.token;
  if (bearer !== undefined && token !== 0 && bearer.token?.id !== token) {
    const why = 'this session belongs to another token; send initialize again';
    return { kind: 'unauthorized', why, code: 'session_mismatch', presented: true };
  }
  if (session.expiresAt <= context.clock()) {
    return bearer === undefined ? { kind: 'session-gone' } : { kind: 'caller', caller: bearer, session: undefined };
  }
  if (bearer !== undefined) return { kind: 'caller', caller: withSession(bearer, session), session };
  return bySession(context, session, token, ip);
}

async function bySession(context: AppContext, session: SessionId, token: number, ip: string): Promise<Principal> {
  if (token === 0) return { kind: 'caller', caller: anonymousCaller('mcp', ip), session };
  const row = await context.store.read(findToken, { id: token });
  if (row === undefined || (row.expiresAt !== null && row.expiresAt <= context.clock())) {
    const why = 'the token of this session is expired or revoked';
    return { kind: 'unauthorized', why, code: 'unauthorized', presented: true };
  }
  if (!isUsableFrom(row, ip)) {
    return { kind: 'unauthorized', why: OTHER_NETWORK, code: 'unauthorized', presented: true };
  }
  context.lastUsed.token(row.id, context.clock());
  return { kind: 'caller', caller: withSession(tokenCaller(row, 'mcp-session', ip), session), session };
}

function unknownSession(): Principal {
  return { kind: 'unauthorized', why: 'unknown session id', code: 'unauthorized', presented: true };
}

function withSession(caller: Caller, session: SessionId): Caller {
  return { ...caller, session: { shown: shownSession(session), expiresAt: session.expiresAt } };
}

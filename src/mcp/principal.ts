import { anonymousCaller, type Caller, tokenCaller } from '../operations/caller.ts';
import type { World } from '../operations/world.ts';
import { authenticate } from '../tokens/authenticate.ts';
import { findToken } from '../tokens/commands.ts';
import { sessionState } from './session-commands.ts';
import { type SessionId, type SessionIds, shownSession } from './session-id.ts';

export type Principal =
  | { kind: 'caller'; caller: Caller; /** Of the request, when it is good. */ session: SessionId | undefined }
  | { kind: 'unauthorized'; why: string; code: 'unauthorized' | 'session_mismatch'; presented: boolean }
  | { kind: 'session-gone' };

/** Who calls: by token, by session, or nobody. The token behind a session is looked at again at each use. */
export async function principalOf(
  world: World,
  ids: SessionIds,
  {
    authorization,
    sessionText,
    ip,
  }: { authorization: string | string[] | undefined; sessionText: string | undefined; ip: string },
): Promise<Principal> {
  const who = await authenticate(world, authorization, 'mcp', ip);
  if (who.kind === 'refused') return { kind: 'unauthorized', why: who.why, code: 'unauthorized', presented: true };
  const bearer = who.kind === 'caller' ? who.caller : undefined;
  if (sessionText === undefined) return { kind: 'caller', caller: who.caller, session: undefined };
  const session = ids.read(sessionText);
  if (session === undefined) {
    // Not ours: it is not taken over, so nobody can fix a session id on somebody else.
    return bearer === undefined ? unknownSession() : { kind: 'caller', caller: bearer, session: undefined };
  }
  const state = await world.store.read(sessionState, { nonce: session.nonce });
  if (state.ended) return { kind: 'session-gone' };
  const token = state.token ?? session.token;
  if (bearer !== undefined && token !== 0 && bearer.token?.id !== token) {
    const why = 'this session belongs to another token; send initialize again';
    return { kind: 'unauthorized', why, code: 'session_mismatch', presented: true };
  }
  if (session.expiresAt <= world.clock()) {
    return bearer === undefined ? { kind: 'session-gone' } : { kind: 'caller', caller: bearer, session: undefined };
  }
  if (bearer !== undefined) return { kind: 'caller', caller: withSession(bearer, session), session };
  return bySession(world, session, token, ip);
}

async function bySession(world: World, session: SessionId, token: number, ip: string): Promise<Principal> {
  if (token === 0) return { kind: 'caller', caller: anonymousCaller('mcp', ip), session };
  const row = await world.store.read(findToken, { id: token });
  if (row === undefined || (row.expiresAt !== null && row.expiresAt <= world.clock())) {
    const why = 'the token of this session is expired or revoked';
    return { kind: 'unauthorized', why, code: 'unauthorized', presented: true };
  }
  world.lastUsed.token(row.id, world.clock());
  return { kind: 'caller', caller: withSession(tokenCaller(row, 'mcp-session', ip), session), session };
}

function unknownSession(): Principal {
  return { kind: 'unauthorized', why: 'this session id is not one of this box', code: 'unauthorized', presented: true };
}

function withSession(caller: Caller, session: SessionId): Caller {
  return { ...caller, session: { shown: shownSession(session), expiresAt: session.expiresAt } };
}

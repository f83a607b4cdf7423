import { randomBytes } from 'node:crypto';
import type { Caller } from '../operations/caller.ts';
import type { Refusal } from '../operations/refusal.ts';
import { type McpAnswer, rpcError, type RpcId } from './answer.ts';

/** Where clients find out whom to ask for a token, and for what. RFC 6750 3, RFC 9728 5.1. */
function challenge(baseUrl: string, scope: string, error?: string): Record<string, string> {
  const metadata = `${baseUrl}/.well-known/oauth-protected-resource/mcp`;
  const detail = error === undefined ? '' : `, error="${error}"`;
  return { 'www-authenticate': `Bearer realm="mcp", resource_metadata="${metadata}", scope="${scope}"${detail}` };
}

/** 401. `presented`: with a credential that does not hold, which is another thing than none. */
export function unauthorized(
  baseUrl: string,
  id: RpcId,
  { code, why, presented }: { code: string; why: string; presented: boolean },
): McpAnswer {
  return rpcError(id, 401, `unauthorized: ${why}`, {
    status: 401,
    data: { error: code, requestId: `req_${randomBytes(9).toString('base64url')}` },
    headers: challenge(baseUrl, 'read', presented ? 'invalid_token' : undefined),
  });
}

/** 403 for a program that a person let in, with all that it would need: its host can ask the person for more. */
export function insufficientScope(baseUrl: string, id: RpcId, caller: Caller, refusal: Refusal): McpAnswer {
  const scope = [...new Set([...(caller.token?.actions ?? []), String(refusal['requiredAction'])])].join(' ');
  return rpcError(id, 403, `forbidden: ${refusal.message}`, {
    status: 403,
    data: refusal,
    headers: challenge(baseUrl, scope, 'insufficient_scope'),
  });
}

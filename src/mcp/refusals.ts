import { type McpAnswer, rpcError, type RpcId } from './answer.ts';

/** Who asks too often. */
export function flooded(id: RpcId, retryAfterSeconds: number): McpAnswer {
  return rpcError(id, 429, 'rate_limited', {
    status: 429,
    data: { error: 'rate_limited', retryAfterSeconds },
    headers: { 'retry-after': String(retryAfterSeconds) },
  });
}

export function sessionGone(id: RpcId): McpAnswer {
  return rpcError(id, 404, 'This session has ended: send initialize again', {
    status: 404,
    data: { error: 'session_not_found' },
  });
}

export function notAllowed(): McpAnswer {
  return rpcError(null, -32600, 'Method not allowed: this server has no server-initiated stream', {
    status: 405,
    headers: { allow: 'POST, DELETE, OPTIONS' },
  });
}

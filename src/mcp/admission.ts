import type { AppContext } from '../core/app-context.ts';
import { type McpResponse, type RpcId, rpcError, rateLimited, sessionEnded } from './rpc-response.ts';
import type { McpExchange } from './exchange.ts';
import type { Offer } from './offer.ts';
import type { Principal } from './principal.ts';
import type { McpRequest, RpcMessage } from './request.ts';
import { randomBytes } from 'node:crypto';
import type { Caller } from '../core/caller.ts';
import type { Refusal } from '../core/refusal.ts';

const OPEN_METHODS = new Set(['initialize', 'server/discover', 'tools/list']);

/** Admission of MCP requests: rate limits, authentication and OAuth scopes. */
export class Admission {
  readonly #context: AppContext;
  readonly #offer: Offer;

  constructor(context: AppContext, offer: Offer) {
    this.#context = context;
    this.#offer = offer;
  }

  /** Response that refuses the request; undefined if the caller is admitted. */
  async refusal(
    principal: Principal,
    message: RpcMessage,
    id: RpcId,
    { ip, url }: McpRequest,
  ): Promise<McpResponse | undefined> {
    const token = principal.kind === 'caller' ? principal.caller.token?.id : undefined;
    const wait = this.#context.limits.take(ip, token, this.#context.clock());
    if (wait > 0) return rateLimited(id, wait);
    if (principal.kind === 'session-gone') return sessionEnded(id);
    const base = this.#context.baseUrl();
    if (principal.kind === 'unauthorized') return unauthorized(base, id, { ...principal, presented: true });
    if (principal.caller.kind !== 'anonymous') return undefined;
    // `?auth=required`: hosts start OAuth only if the first request is refused.
    const openly = url.searchParams.get('auth') !== 'required';
    if (openly && (await this.#isOpen(message))) return undefined;
    const why = 'send a token as "Authorization: Bearer <token>"';
    return unauthorized(base, id, { code: 'unauthorized', why, presented: false });
  }

  async #isOpen({ method, params }: RpcMessage): Promise<boolean> {
    if (OPEN_METHODS.has(method) || method.startsWith('notifications/')) return true;
    return method === 'tools/call' && typeof params['name'] === 'string' && this.#offer.isAnonymous(params['name']);
  }

  /** For OAuth tokens: an insufficient_scope challenge instead of a tool error. */
  async lacking({ message, id, caller, trim }: McpExchange): Promise<McpResponse | undefined> {
    const { name, arguments: args } = message.params;
    if (message.method !== 'tools/call' || caller.token?.oauth == null || typeof name !== 'string') return undefined;
    if ((await this.#offer.lacks?.(caller, name)) !== true) return undefined;
    const outcome = await this.#offer.call(caller, name, args, trim, () => ({ signal: AbortSignal.abort() }));
    const isRefused = outcome.kind === 'refused' && outcome.refusal['requiredAction'] !== undefined;
    return isRefused ? insufficientScope(this.#context.baseUrl(), id, caller, outcome.refusal) : undefined;
  }
}

/** WWW-Authenticate with the resource metadata and scope. RFC 6750 3, RFC 9728 5.1. */
function challenge(baseUrl: string, scope: string, error?: string): Record<string, string> {
  const metadata = `${baseUrl}/.well-known/oauth-protected-resource/mcp`;
  const detail = error === undefined ? '' : `, error="${error}"`;
  return { 'www-authenticate': `Bearer realm="mcp", resource_metadata="${metadata}", scope="${scope}"${detail}` };
}

/** 401. `presented`: an invalid credential was sent, rather than none. */
function unauthorized(
  baseUrl: string,
  id: RpcId,
  { code, why, presented }: { code: string; why: string; presented: boolean },
): McpResponse {
  return rpcError(id, 401, `unauthorized: ${why}`, {
    status: 401,
    data: { error: code, requestId: `req_${randomBytes(9).toString('base64url')}` },
    headers: challenge(baseUrl, 'read', presented ? 'invalid_token' : undefined),
  });
}

/** 403 for OAuth tokens, with all scopes needed, so that the host can ask for consent again. */
function insufficientScope(baseUrl: string, id: RpcId, caller: Caller, refusal: Refusal): McpResponse {
  const scope = [...new Set([...(caller.token?.actions ?? []), String(refusal['requiredAction'])])].join(' ');
  return rpcError(id, 403, `forbidden: ${refusal.message}`, {
    status: 403,
    data: refusal,
    headers: challenge(baseUrl, scope, 'insufficient_scope'),
  });
}

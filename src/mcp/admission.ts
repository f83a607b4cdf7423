import type { World } from '../operations/world.ts';
import type { McpAnswer, RpcId } from './answer.ts';
import { insufficientScope, unauthorized } from './challenge.ts';
import type { Exchange } from './exchange.ts';
import type { Offer } from './offer.ts';
import type { Principal } from './principal.ts';
import { flooded, sessionGone } from './refusals.ts';
import type { McpRequest, Message } from './request.ts';

const OPEN_METHODS = new Set(['initialize', 'server/discover', 'tools/list']);

/** Who may come in with what. */
export class Admission {
  readonly #world: World;
  readonly #offer: Offer;

  constructor(world: World, offer: Offer) {
    this.#world = world;
    this.#offer = offer;
  }

  /** The answer to who may not; undefined: the principal is a caller, and may go on. */
  async refusal(
    principal: Principal,
    message: Message,
    id: RpcId,
    { ip, url }: McpRequest,
  ): Promise<McpAnswer | undefined> {
    const token = principal.kind === 'caller' ? principal.caller.token?.id : undefined;
    const wait = this.#world.limits.take(ip, token, this.#world.clock());
    if (wait > 0) return flooded(id, wait);
    if (principal.kind === 'session-gone') return sessionGone(id);
    const base = this.#world.baseUrl();
    if (principal.kind === 'unauthorized') return unauthorized(base, id, { ...principal, presented: true });
    if (principal.caller.kind !== 'anonymous') return undefined;
    // Hosts that can sign a person in do so when they are refused at once, and not when a tool is.
    const openly = url.searchParams.get('auth') !== 'required';
    if (openly && (await this.#isOpen(message))) return undefined;
    const why = 'send a token as "Authorization: Bearer <token>"';
    return unauthorized(base, id, { code: 'unauthorized', why, presented: false });
  }

  async #isOpen({ method, params }: Message): Promise<boolean> {
    if (OPEN_METHODS.has(method) || method.startsWith('notifications/')) return true;
    return method === 'tools/call' && typeof params['name'] === 'string' && this.#offer.isAnonymous(params['name']);
  }

  /** A program that a person let in gets a challenge for what it lacks, and not an error of the tool. */
  async lacking({ message, id, caller, trim }: Exchange): Promise<McpAnswer | undefined> {
    const { name, arguments: args } = message.params;
    if (message.method !== 'tools/call' || caller.token?.oauth == null || typeof name !== 'string') return undefined;
    if ((await this.#offer.lacks?.(caller, name)) !== true) return undefined;
    const outcome = await this.#offer.call(caller, name, args, trim, () => ({ signal: AbortSignal.abort() }));
    const told = outcome.kind === 'refused' && outcome.refusal['requiredAction'] !== undefined;
    return told ? insufficientScope(this.#world.baseUrl(), id, caller, outcome.refusal) : undefined;
  }
}

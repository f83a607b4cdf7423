import { memoryUsedUp } from '../email/header-values.ts';
import { MemoryBudget, type MemoryReservation } from '../../limits/memory-budget.ts';
import { BlobUnreadable, UNREADABLE_REASON } from '../../store/blob/unreadable.ts';
import { StoreBusy } from '../../store/engine/types.ts';
import { MethodError } from './errors.ts';
import { jsonSize } from './json.ts';
import type { MethodCall, JmapContext, JmapSession, JmapMethod } from './method.ts';
import { METHODS } from '../methods.ts';
import { type Invocation, type JmapRequest, resolveReferences } from './request.ts';
import { sessionState } from './session-object.ts';
import { namedSharedAccounts, withSharedAccounts } from './shared-accounts.ts';

/** The Response object. RFC 8620 3.4. */
export interface JmapResponse {
  methodResponses: Invocation[];
  createdIds?: Record<string, string>;
  sessionState: string;
}

/** Approximate maximum octets of a response, which is built in memory; later calls get `requestTooLarge`. */
const MAX_RESPONSE_BYTES = 32_000_000;

/** For callers without a budget. */
const UNBOUNDED = new MemoryBudget(Infinity);

const byName = new Map<string, JmapMethod>(METHODS.map((method) => [method.name, method]));

/** Calls that change nothing, so that their response can be replaced by an error. */
const READS = /\/(?:get|query|changes|queryChanges|lookup|parse|echo)$/;

/**
 * Runs the calls of a request in order; each sees the effects of the earlier ones. `memory` grows by the responses and is
 * held until they are sent. `isGone`: nobody would read the answers of further reads, so they are not run, but for those that
 * a later call refers to.
 */
export async function runRequest(
  context: JmapContext,
  login: JmapSession,
  request: JmapRequest,
  memory: MemoryReservation = UNBOUNDED.open([]),
  isGone: () => boolean = () => false,
): Promise<JmapResponse> {
  const session = await withSharedAccounts(context.store, login);
  const responses: Invocation[] = [];
  let size = 0;
  const createdIds = new Map(Object.entries(request.createdIds ?? {}));
  const referenced = referencedCalls(request);
  for (const [name, args, callId] of request.methodCalls) {
    const waiting: [string, Record<string, unknown>, 'implicit'?][] = [[name, args]];
    const call: MethodCall = {
      context,
      session,
      using: request.using,
      createdIds,
      memory,
      addImplicitCall: (next, given) => waiting.push([next, given, 'implicit']),
    };
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      const [, , implicit] = one;
      if (isGone() && READS.test(one[0]) && !referenced.has(callId)) continue;
      // Implicit calls always run: the change they belong to is already committed.
      const refused = size > MAX_RESPONSE_BYTES && implicit === undefined;
      const response = refused ? tooLong(callId) : await answer(call, one, callId, responses);
      const octets = jsonSize(response, MAX_RESPONSE_BYTES);
      const isHeld = memory.tryGrow(octets) || !READS.test(one[0]);
      size += isHeld ? octets : 0;
      responses.push(isHeld ? response : ['error', memoryUsedUp().toResponse(), callId]);
    }
  }
  return {
    methodResponses: responses,
    ...(request.createdIds !== undefined && { createdIds: Object.fromEntries(createdIds) }),
    sessionState: sessionState(session),
  };
}

/** Ids of the calls whose results others refer to: without them a write would fail. RFC 8620 3.7. */
function referencedCalls({ methodCalls }: JmapRequest): ReadonlySet<unknown> {
  const values = methodCalls.flatMap(([, args]) => Object.values(args));
  return new Set(values.map((value) => (value as { resultOf?: unknown } | null)?.resultOf));
}

function tooLong(callId: string): Invocation {
  const why = 'The earlier responses of this request are too large. Send this call in a separate request.';
  return ['error', new MethodError('requestTooLarge', why).toResponse(), callId];
}

async function answer(
  call: MethodCall,
  [name, args, implicit]: readonly [string, Record<string, unknown>, 'implicit'?],
  callId: string,
  before: readonly Invocation[],
): Promise<Invocation> {
  const { context } = call;
  const began = performance.now();
  let outcome = 'done';
  try {
    const method = byName.get(name);
    // Implicit calls need no capability: a submitting client names only that of submission in `using`.
    const usable = method !== undefined && (implicit !== undefined || call.using.has(method.capability));
    if (!usable) throw unknownMethod(name, method);
    const resolved = resolveReferences(args, before);
    const shared = await namedSharedAccounts(call, method, resolved);
    return [name, await method.run(shared === undefined ? call : { ...call, shared }, resolved), callId];
  } catch (error) {
    const methodError = toMethodError(error);
    outcome = methodError.type;
    if (methodError.type === 'serverFail' && !(error instanceof BlobUnreadable))
      context.log.error({ err: error, method: name }, 'JMAP method failed');
    return ['error', methodError.toResponse(), callId];
  } finally {
    const method = byName.has(name) ? name : 'unknown';
    context.meter.count('jmap_calls_total', { method, outcome });
    context.meter.observe('jmap_call_seconds', (performance.now() - began) / 1000);
  }
}

function unknownMethod(name: string, method: JmapMethod | undefined): MethodError {
  const why = method === undefined ? 'This server has no' : `Add ${method.capability} to "using" to call the`;
  return new MethodError('unknownMethod', `${why} method ${name.slice(0, 100)}.`);
}

function toMethodError(error: unknown): MethodError {
  if (error instanceof MethodError) return error;
  if (error instanceof StoreBusy) {
    return new MethodError('serverUnavailable', `Nothing was changed: ${error.message}. Try again later.`);
  }
  if (error instanceof BlobUnreadable) return new MethodError('serverFail', UNREADABLE_REASON);
  return new MethodError(
    'serverFail',
    'Internal error, logged on the server. The call may or may not have taken effect.',
  );
}

import { StoreBusy } from '../store/engine/types.ts';
import { MethodError } from './errors.ts';
import { jsonSize } from './json-size.ts';
import type { Call, JmapDesk, JmapSession, Method } from './method.ts';
import { METHODS } from './methods/index.ts';
import { type Invocation, resolveReferences } from './references.ts';
import type { JmapRequest } from './request.ts';
import { sessionState } from './session.ts';

/** RFC 8620 3.4. */
export interface JmapResponse {
  methodResponses: Invocation[];
  createdIds?: Record<string, string>;
  sessionState: string;
}

/** Octets of JSON about, behind which no further call of a request is answered: the answer lies in memory as a whole. */
const MOST_ANSWERED = 32_000_000;

const byName = new Map<string, Method>(METHODS.map((method) => [method.name, method]));

/** Runs the calls of a request in their order, each seeing what those before it did. */
export async function runRequest(desk: JmapDesk, session: JmapSession, request: JmapRequest): Promise<JmapResponse> {
  const responses: Invocation[] = [];
  let size = 0;
  const createdIds = new Map(Object.entries(request.createdIds ?? {}));
  for (const [name, args, callId] of request.methodCalls) {
    const waiting: [string, Record<string, unknown>, 'implicit'?][] = [[name, args]];
    const call: Call = {
      desk,
      session,
      using: request.using,
      createdIds,
      follow: (next, given) => waiting.push([next, given, 'implicit']),
    };
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      const [, , implicit] = one;
      // What follows from a change that was made is not left out.
      const refused = size > MOST_ANSWERED && implicit === undefined;
      const response = refused ? tooLong(callId) : await answer(call, one, callId, responses);
      size += jsonSize(response, MOST_ANSWERED);
      responses.push(response);
    }
  }
  return {
    methodResponses: responses,
    ...(request.createdIds !== undefined && { createdIds: Object.fromEntries(createdIds) }),
    sessionState: sessionState(session),
  };
}

function tooLong(callId: string): Invocation {
  const why = 'The answers before this one are so long already: make this call in a request of its own.';
  return ['error', new MethodError('requestTooLarge', why).toResponse(), callId];
}

async function answer(
  call: Call,
  [name, args, implicit]: readonly [string, Record<string, unknown>, 'implicit'?],
  callId: string,
  before: readonly Invocation[],
): Promise<Invocation> {
  const { desk } = call;
  const began = performance.now();
  let outcome = 'done';
  try {
    const method = byName.get(name);
    // What a method runs by itself needs no capability: a client that only sends names that of submission alone.
    const usable = method !== undefined && (implicit !== undefined || call.using.has(method.capability));
    if (!usable) throw unknownMethod(name, method);
    return [name, await method.run(call, resolveReferences(args, before)), callId];
  } catch (error) {
    const told = toMethodError(error);
    outcome = told.type;
    if (told.type === 'serverFail') desk.log.error({ err: error, method: name }, 'a JMAP method failed');
    return ['error', told.toResponse(), callId];
  } finally {
    const method = byName.has(name) ? name : 'unknown';
    desk.meter.count('jmap_calls_total', { method, outcome });
    desk.meter.observe('jmap_call_seconds', (performance.now() - began) / 1000);
  }
}

function unknownMethod(name: string, method: Method | undefined): MethodError {
  const why = method === undefined ? 'This server has no' : `Add ${method.capability} to "using" to call the`;
  return new MethodError('unknownMethod', `${why} method ${name.slice(0, 100)}.`);
}

function toMethodError(error: unknown): MethodError {
  if (error instanceof MethodError) return error;
  if (error instanceof StoreBusy) {
    return new MethodError('serverUnavailable', `Nothing was changed: ${error.message}. Try again in a while.`);
  }
  return new MethodError('serverFail', 'Something went wrong here and was logged; it may or may not have been done.');
}

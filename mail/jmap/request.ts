import { RequestError } from './errors.ts';
import type { JmapLimits } from './limits.ts';
import type { Invocation } from './references.ts';

/** RFC 8620 3.3. */
export interface JmapRequest {
  using: ReadonlySet<string>;
  methodCalls: readonly Invocation[];
  /** Undefined: the client sent none and gets none. */
  createdIds: Record<string, string> | undefined;
}

/** Checks the shape of a request before anything of it is done. Throws {@link RequestError}. */
export function readRequest(value: unknown, known: ReadonlySet<string>, limits: JmapLimits): JmapRequest {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notRequest('is not an object');
  const { using, methodCalls, createdIds } = value as Record<string, unknown>;
  if (!isListOf(using, isText)) throw notRequest('has no "using", an array of capability URIs');
  if (!Array.isArray(methodCalls) || !methodCalls.every(isInvocation)) {
    throw notRequest('has no "methodCalls", an array of [name, arguments, id]');
  }
  if (createdIds !== undefined && !isIdMap(createdIds)) throw notRequest('has "createdIds" that map no ids to ids');
  const unknown = using.find((uri) => !known.has(uri));
  if (unknown !== undefined) {
    throw new RequestError('unknownCapability', `This server does not know the capability ${unknown.slice(0, 200)}.`);
  }
  if (methodCalls.length > limits.maxCallsInRequest) {
    const most = `At most ${limits.maxCallsInRequest} calls fit into one request.`;
    throw new RequestError('limit', most, 'maxCallsInRequest');
  }
  return { using: new Set(using), methodCalls, createdIds };
}

const isText = (value: unknown): value is string => typeof value === 'string';

const isIdText = (value: unknown): value is string => isText(value) && /^[\w-]{1,255}$/.test(value);

function isListOf<T>(value: unknown, is: (one: unknown) => one is T): value is T[] {
  return Array.isArray(value) && value.every((one) => is(one));
}

function isInvocation(value: unknown): value is Invocation {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [name, args, callId] = value as unknown[];
  return isText(name) && typeof args === 'object' && args !== null && !Array.isArray(args) && isText(callId);
}

function isIdMap(value: unknown): value is Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(([name, one]) => isIdText(name) && isIdText(one));
}

function notRequest(why: string): RequestError {
  return new RequestError('notRequest', `The request ${why} (RFC 8620 3.3).`);
}

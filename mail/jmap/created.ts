import type { Call } from './method.ts';

/** The id that `#creationId` became in this request, or the id itself. Undefined: nothing was created under it. RFC 8620 5.3. */
export function realId(call: Pick<Call, 'createdIds'>, given: string): string | undefined {
  return given.startsWith('#') ? call.createdIds.get(given.slice(1)) : given;
}

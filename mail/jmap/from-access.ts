import { access } from './access.ts';
import type { Reader } from './arguments.ts';
import { MethodError } from './errors.ts';
import type { Access, Call } from './method.ts';

/** Reads `fromAccountId` of a /copy. RFC 8620 5.4, 6.3. */
export function fromAccess(call: Call): Reader<Access> {
  const reader = access(call);
  return (value, path) => {
    try {
      return reader(value, path);
    } catch (error) {
      if (!(error instanceof MethodError) || error.type !== 'accountNotFound') throw error;
      throw new MethodError('fromAccountNotFound', error.message);
    }
  };
}

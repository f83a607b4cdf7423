import { type ArgumentReader, id } from './arguments.ts';
import { MethodError } from './errors.ts';
import type { Access, MethodCall } from './method.ts';

/** Reads `accountId`; throws `accountNotFound` for an account outside the session. RFC 8620 3.6.2. */
export function readAccess(call: MethodCall, value: unknown, use: 'read' | 'write' = 'read'): Access {
  return find(call, id(value, 'accountId'), use);
}

/** Creates an argument reader for an account id. */
export function access(call: MethodCall, use: 'read' | 'write' = 'read'): ArgumentReader<Access> {
  return (value, path) => find(call, id(value, path), use);
}

function find(call: MethodCall, name: string, use: 'read' | 'write'): Access {
  const found = call.session.accounts.get(name);
  if (found === undefined) {
    throw new MethodError(
      'accountNotFound',
      `This login has no account ${name}. Use an id from "accounts" of the session.`,
    );
  }
  if (found.shared !== undefined && call.shared?.has(found.account) !== true) throw notShareable();
  if (use === 'write' && found.readOnly) {
    throw new MethodError('accountReadOnly', 'This login has read-only access to the account.');
  }
  return found;
}

/** The error for a method that does not work in shared accounts. RFC 8620 3.6.2. */
export function notShareable(): MethodError {
  return new MethodError('accountNotSupportedByMethod', 'This method does not work in the account of another person.');
}

/** Reads `fromAccountId` of a /copy. RFC 8620 5.4, 6.3. */
export function fromAccess(call: MethodCall): ArgumentReader<Access> {
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

/** Resolves `#creationId` to the id created in this request; other ids pass unchanged. Undefined if nothing was created. RFC 8620 5.3. */
export function resolveCreationId(call: Pick<MethodCall, 'createdIds'>, given: string): string | undefined {
  return given.startsWith('#') ? call.createdIds.get(given.slice(1)) : given;
}

import { MethodError } from './errors.ts';
import { id, type Reader } from './arguments.ts';
import type { Access, Call } from './method.ts';

/** Reads `accountId`; an account that is not the session's does not exist for it. RFC 8620 3.6.2. */
export function readAccess(call: Call, value: unknown, use: 'read' | 'write' = 'read'): Access {
  return find(call, id(value, 'accountId'), use);
}

/** The same as a reader of arguments. */
export function access(call: Call, use: 'read' | 'write' = 'read'): Reader<Access> {
  return (value, path) => find(call, id(value, path), use);
}

function find(call: Call, name: string, use: 'read' | 'write'): Access {
  const found = call.session.accounts.get(name);
  if (found === undefined) {
    throw new MethodError(
      'accountNotFound',
      `There is no account ${name} for this login: see "accounts" of the session.`,
    );
  }
  if (use === 'write' && found.readOnly) {
    throw new MethodError('accountReadOnly', 'This login may read the account and change nothing.');
  }
  return found;
}

import type { Caller } from './caller.ts';
import type { Operation } from './operation.ts';
import type { Refusal } from './refusal.ts';

/** Whether a header or a query says yes. */
export function saysYes(value: string | undefined): boolean {
  return ['1', 'true'].includes(value ?? '');
}

/** What a client is told that asked for a connection which changes nothing, and then for a change. */
export function readOnlyRefusal({ name, hints }: Operation): Refusal | undefined {
  if (hints.readOnly) return undefined;
  return {
    error: 'action_not_allowed',
    message: `${name} changes something, and this connection was opened as read-only (X-Service-Readonly).`,
  };
}

/** Of a connection that only reads: what a reading operation may change on request is not for it either. */
export function reading(caller: Caller, { action }: Operation): Caller {
  const some = new Set<string>(['read', 'mail_read', 'logs', action]);
  return { ...caller, actions: new Set([...caller.actions].filter((one) => some.has(one))) };
}

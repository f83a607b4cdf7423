import type { AgentMode } from '../../mail/agents/gate/types.ts';
import type { Caller } from './caller.ts';
import type { Operation } from './operation.ts';
import { refuse, type Refusal } from './refusal.ts';

const ONLY: Record<Exclude<AgentMode, 'normal'>, string> = {
  frozen: 'This token is frozen: only whoami is allowed',
  read_only: 'This token is read-only now',
  draft_only: 'This token may only work in its mailboxes and write drafts now',
  reply_only: 'This token may only work in its mailboxes and reply now',
};

/**
 * Refuses operations outside the token's mode. The gate also checks each message that it sends; this check covers
 * operations that would bypass the gate or the mode.
 */
export function checkMode(operation: Operation, { token }: Caller): void {
  const mode = token?.mode ?? 'normal';
  if (mode === 'normal' || isWithin(operation, mode)) return;
  refuse('action_not_allowed', `${ONLY[mode]}. A person can change the mode on the page Agents.`, { mode });
}

/** Refuses a call whose token was frozen because of it, without giving the reason. */
export function refuseFrozen(): never {
  refuse('action_not_allowed', `${ONLY.frozen}. A person can change the mode on the page Agents.`, { mode: 'frozen' });
}

/** Refuses the optional change of a reading operation. */
export function checkMayChange({ token }: Caller): void {
  const mode = token?.mode ?? 'normal';
  if (mode !== 'read_only' && mode !== 'frozen') return;
  refuse('action_not_allowed', `${ONLY[mode]}. A person can change the mode on the page Agents.`, { mode });
}

function isWithin({ name, action, toolset, hints, secret }: Operation, mode: Exclude<AgentMode, 'normal'>): boolean {
  if (mode === 'frozen') return name === 'whoami';
  // A password, a key or another token would escape the mode.
  if (secret === true || action === 'anonymous') return false;
  return hints.readOnly || (mode !== 'read_only' && toolset === 'mail');
}

/** Returns true unless a header or query parameter is missing or clearly says no: what restricts fails closed. */
export function isFlagSet(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false', 'no', 'off'].includes(value.trim().toLowerCase());
}

/** Returns the refusal of a change on a read-only connection. */
export function readOnlyRefusal({ name, hints }: Operation): Refusal | undefined {
  if (hints.readOnly) return undefined;
  return {
    error: 'action_not_allowed',
    message: `${name} changes something, but this connection is read-only (X-Service-Readonly). Connect without that header.`,
  };
}

/** Removes all actions but those for reading: an optional change of a reading operation is refused too. */
export function withoutWriteActions(caller: Caller, { action }: Operation): Caller {
  const some = new Set<string>(['read', 'mail_read', 'logs', action]);
  return { ...caller, actions: new Set([...caller.actions].filter((one) => some.has(one))) };
}

import type { Call } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';

/** Refuses admins and tokens of admins, which cannot raise themselves above an owner. `what`: the act, for the error. */
export function onlyOwners({ caller }: Call, what: string): void {
  if (caller.kind === 'operator' || caller.user?.role === 'owner' || caller.token?.owner === true) return;
  refuse('action_not_allowed', `Only an owner of the organization can ${what}.`, {
    requiredAction: 'owner',
    grantedActions: [...caller.actions],
  });
}

import type { Action } from './token.ts';
import type { Operation } from './operation.ts';

/** Returns true if these actions permit an operation. */
export function permits(
  actions: ReadonlySet<Action>,
  { action, orAction }: Pick<Operation, 'action' | 'orAction'>,
): boolean {
  if (action === 'anonymous' || action === 'identity') return true;
  return actions.has(action) || (orAction !== undefined && actions.has(orAction));
}

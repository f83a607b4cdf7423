import type { Action } from '../tokens/token.ts';
import type { Operation } from './operation.ts';

/** Whether these actions are enough for an operation. */
export function suffice(
  actions: ReadonlySet<Action>,
  { action, orAction }: Pick<Operation, 'action' | 'orAction'>,
): boolean {
  if (action === 'anonymous' || action === 'identity') return true;
  return actions.has(action) || (orAction !== undefined && actions.has(orAction));
}

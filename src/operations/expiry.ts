import type { Call } from './operation.ts';
import { refuse } from './refusal.ts';

/** The time that `expiresAt` gives, ms UTC; null when nothing expires. What is past is refused. */
export function expiryOf({ clock }: Pick<Call, 'clock'>, expiresAt: string | undefined): number | null {
  if (expiresAt === undefined) return null;
  const at = Date.parse(expiresAt);
  if (at > clock()) return at;
  return refuse('invalid_arguments', 'expiresAt must lie in the future.', {
    issues: [{ path: 'expiresAt', message: 'is past' }],
  });
}

import type { Store } from '../../mail/store/engine/types.ts';
import { findToken } from './commands.ts';

/** Whether a token still opens anything: it is asked again wherever an answer takes long. */
export async function tokenHolds(
  { store, clock }: { store: Pick<Store, 'read'>; clock: () => number },
  id: number,
): Promise<boolean> {
  const token = await store.read(findToken, { id });
  return token !== undefined && (token.expiresAt === null || token.expiresAt > clock());
}

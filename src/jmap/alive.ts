import { query } from '../../mail/store/engine/types.ts';
import { rowId } from '../ids.ts';
import type { World } from '../operations/world.ts';
import { findToken } from '../tokens/commands.ts';

const passwordHolds = query(
  'password-holds',
  async (rx, input: { id: number; now: number }): Promise<boolean> =>
    (await rx.get(
      'SELECT 1 AS there FROM credential WHERE id = ? AND (expires_at IS NULL OR expires_at > ?)',
      input.id,
      input.now,
    )) !== undefined,
);

/** Whether the credential of a JMAP session, as {@link authenticateJmap} names it, still opens anything. */
export async function credentialHolds(
  { store, clock }: Pick<World, 'store' | 'clock'>,
  credential: string,
): Promise<boolean> {
  const password = /^pwd-(\d{1,15})$/.exec(credential)?.[1];
  if (password !== undefined) return store.read(passwordHolds, { id: Number(password), now: clock() });
  const id = rowId('token', credential);
  const token = id === undefined ? undefined : await store.read(findToken, { id });
  if (token === undefined || token.mode === 'frozen') return false;
  return token.expiresAt === null || token.expiresAt > clock();
}

import { query } from '../../mail/store/engine/types.ts';
import { rowId } from '../ids.ts';
import type { World } from '../operations/world.ts';
import { findToken } from '../tokens/commands.ts';

const passwordHolds = query(
  'password-holds',
  (rx, input: { id: number; now: number }): Promise<{ account: number } | undefined> =>
    rx.get<{ account: number }>(
      'SELECT account_id AS account FROM credential WHERE id = ? AND (expires_at IS NULL OR expires_at > ?)',
      input.id,
      input.now,
    ),
);

/** Whether the credential of a JMAP session, as {@link authenticateJmap} names it, still opens anything. */
export async function credentialHolds(
  { store, clock, agents }: Pick<World, 'store' | 'clock' | 'agents'>,
  credential: string,
): Promise<boolean> {
  const password = /^pwd-(\d{1,15})$/.exec(credential)?.[1];
  if (password !== undefined) {
    const credential = Number(password);
    const found = await store.read(passwordHolds, { id: credential, now: clock() });
    return found !== undefined && (await agents.barredLogin({ ...found, credential })) === undefined;
  }
  const id = rowId('token', credential);
  const token = id === undefined ? undefined : await store.read(findToken, { id });
  if (token === undefined || token.mode === 'frozen') return false;
  return token.expiresAt === null || token.expiresAt > clock();
}

import { command } from '../../mail/store/engine/types.ts';

const DAY = 86_400_000;
const SLICE = 100;

/**
 * Forgets codes and secrets that are over, and clients that nobody let in within a day or that nobody has let in any
 * more for 90. Answers whether there is more.
 */
export const forgetOAuth = command('forget-oauth', async (tx, _input: undefined, { now }): Promise<boolean> => {
  const gone = [
    await tx.run(
      'DELETE FROM oauth_code WHERE code_hash IN (SELECT code_hash FROM oauth_code WHERE expires_at <= ? LIMIT ?)',
      // Known for a while after it is over: a thief who comes late still shows that there is one.
      now - DAY,
      SLICE,
    ),
    await tx.run(
      `DELETE FROM oauth_secret WHERE secret_hash IN
         (SELECT secret_hash FROM oauth_secret WHERE expires_at <= ? LIMIT ?)`,
      now,
      SLICE,
    ),
    await tx.run(
      `DELETE FROM oauth_client WHERE id IN (SELECT c.id FROM oauth_client c
         WHERE c.created_at <= ?1 AND (c.used_at IS NULL OR (c.used_at <= ?2 AND NOT EXISTS
           (SELECT 1 FROM token t WHERE t.client_id = c.id AND t.revoked_at IS NULL AND t.expires_at > ?3))) LIMIT ?4)`,
      now - DAY,
      now - 90 * DAY,
      now,
      SLICE,
    ),
  ];
  return gone.some(({ changes }) => changes === SLICE);
});

import { command, query } from '../../mail/store/engine/types.ts';
import { takeHit } from '../bootstrap/hits-commands.ts';

const HOUR = 3_600_000;
/** Registrations of one network in an hour. */
const MOST_AN_HOUR = 20;
/** Clients that nobody let in yet; the oldest makes room. */
const MOST_UNUSED = 2_000;

/** A client as the authorization endpoint knows it, wherever it said so. */
export interface Client {
  id: string;
  /** What it calls itself: a stranger's text. */
  name: string;
  redirectUris: string[];
  /** The host that serves its metadata document, and so answers for it; null: it registered itself, as anybody may. */
  host: string | null;
}

/** Takes a registration. A flood from one network is told to wait; one from many pushes out what nobody uses. */
export const registerClient = command(
  'register-oauth-client',
  async (
    tx,
    input: { id: string; name: string; redirectUris: readonly string[]; network: string | null },
    stamp,
  ): Promise<{ kind: 'registered' } | { kind: 'limited'; waitMs: number }> => {
    const { id, name, redirectUris, network } = input;
    if (network !== null) {
      const allowance = { counter: 'oauth-register', subject: network, most: MOST_AN_HOUR, windowMs: HOUR };
      const waitMs = await takeHit(tx, allowance, stamp);
      if (waitMs > 0) return { kind: 'limited', waitMs };
    }
    await tx.run(
      `DELETE FROM oauth_client WHERE id IN
         (SELECT id FROM oauth_client WHERE used_at IS NULL ORDER BY created_at DESC LIMIT -1 OFFSET ?)`,
      MOST_UNUSED - 1,
    );
    await tx.run(
      'INSERT INTO oauth_client (id, name, redirect_uris, created_at) VALUES (?, ?, ?, ?)',
      id,
      name,
      JSON.stringify(redirectUris),
      stamp.now,
    );
    return { kind: 'registered' };
  },
);

export const findClient = query('find-oauth-client', async (rx, input: { id: string }): Promise<Client | undefined> => {
  const row = await rx.get<{ id: string; name: string; redirect_uris: string }>(
    'SELECT id, name, redirect_uris FROM oauth_client WHERE id = ?',
    input.id,
  );
  return row && { id: row.id, name: row.name, redirectUris: JSON.parse(row.redirect_uris) as string[], host: null };
});

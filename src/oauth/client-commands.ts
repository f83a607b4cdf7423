import { command, lookup } from '../../mail/store/engine/types.ts';
import { takeHit } from '../core/hits-commands.ts';

const HOUR = 3_600_000;
/** Registrations per network and hour. */
const MAX_PER_HOUR = 20;
/** Clients without a grant; the oldest is deleted. */
const MAX_UNUSED = 2_000;

/** An OAuth client, registered or from a metadata document. */
export interface Client {
  id: string;
  /** Its own name: untrusted text. */
  name: string;
  redirectUris: string[];
  /** Host of its metadata document, which vouches for it; null if it registered dynamically, as anybody may. */
  host: string | null;
}

/** Registers a client. Rate limited per network; a flood from many networks evicts unused clients only. */
export const registerClient = command(
  'register-oauth-client',
  async (
    tx,
    input: { id: string; name: string; redirectUris: readonly string[]; network: string | null },
    stamp,
  ): Promise<{ kind: 'registered' } | { kind: 'limited'; waitMs: number }> => {
    const { id, name, redirectUris, network } = input;
    if (network !== null) {
      const allowance = { counter: 'oauth-register', subject: network, most: MAX_PER_HOUR, windowMs: HOUR };
      const waitMs = await takeHit(tx, allowance, stamp);
      if (waitMs > 0) return { kind: 'limited', waitMs };
    }
    await tx.run(
      `DELETE FROM oauth_client WHERE id IN
         (SELECT id FROM oauth_client WHERE used_at IS NULL ORDER BY created_at DESC LIMIT -1 OFFSET ?)`,
      MAX_UNUSED - 1,
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

export const findClient = lookup(
  'find-oauth-client',
  async (rx, input: { id: string }): Promise<Client | undefined> => {
    const row = await rx.get<{ id: string; name: string; redirect_uris: string }>(
      'SELECT id, name, redirect_uris FROM oauth_client WHERE id = ?',
      input.id,
    );
    return row && { id: row.id, name: row.name, redirectUris: JSON.parse(row.redirect_uris) as string[], host: null };
  },
);

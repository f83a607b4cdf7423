import { command, lookup } from '../engine/types.ts';

/** Limit for one credential. */
const MAX_SUBSCRIPTIONS = 100;

/** Push subscription of a client. RFC 8620 7.2. */
export interface PushSubscription {
  id: number;
  credential: string;
  /** JMAP account ids with their accounts. */
  accounts: readonly (readonly [string, number])[];
  device: string;
  /** Sealed JSON of {@link PushEndpoint}. */
  endpoint: Uint8Array;
  /** Null: all types. */
  types: readonly string[] | null;
  code: string;
  verified: boolean;
  /** ms UTC. */
  expiresAt: number;
}

/** Push URL and encryption keys, base64url; null: unencrypted. */
export interface PushEndpoint {
  url: string;
  keys: { p256dh: string; auth: string } | null;
}

type Columns = {
  id: number;
  credential: string;
  accounts: string;
  device: string;
  endpoint: Uint8Array;
  types: string;
  code: string;
  verified: number;
  expires_at: number;
};

const COLUMNS = 'id, credential, accounts, device, endpoint, types, code, verified, expires_at';

function subscriptionOf(row: Columns): PushSubscription {
  return {
    ...row,
    accounts: JSON.parse(row.accounts) as [string, number][],
    types: JSON.parse(row.types) as string[] | null,
    verified: row.verified === 1,
    expiresAt: row.expires_at,
  };
}

export const addPushSubscription = command(
  'add-push-subscription',
  async (tx, input: Omit<PushSubscription, 'id' | 'verified'>, stamp): Promise<{ id: number } | 'too-many'> => {
    await tx.run('DELETE FROM push_subscription WHERE credential = ? AND expires_at <= ?', input.credential, stamp.now);
    const held = await tx.get<{ n: number }>(
      'SELECT count(*) AS n FROM push_subscription WHERE credential = ?',
      input.credential,
    );
    if ((held?.n ?? 0) >= MAX_SUBSCRIPTIONS) return 'too-many';
    const { id } = await tx.run(
      `INSERT INTO push_subscription (credential, accounts, device, endpoint, types, code, expires_at, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      input.credential,
      JSON.stringify(input.accounts),
      input.device,
      input.endpoint,
      JSON.stringify(input.types),
      input.code,
      input.expiresAt,
      stamp.now,
    );
    return { id };
  },
);

export const updatePushSubscription = command(
  'update-push-subscription',
  async (
    tx,
    input: { credential: string; id: number; types: readonly string[] | null; expiresAt: number; verified: boolean },
  ): Promise<boolean> => {
    const { changes } = await tx.run(
      'UPDATE push_subscription SET types = ?, expires_at = ?, verified = max(verified, ?) WHERE id = ? AND credential = ?',
      JSON.stringify(input.types),
      input.expiresAt,
      Number(input.verified),
      input.id,
      input.credential,
    );
    return changes === 1;
  },
);

/**
 * Removes a subscription: by its owner, or, without a credential, because the push service or the credential ended it.
 */
export const removePushSubscription = command(
  'remove-push-subscription',
  async (tx, input: { id: number; credential: string | null }): Promise<boolean> => {
    const { changes } = await tx.run(
      'DELETE FROM push_subscription WHERE id = ?1 AND (?2 IS NULL OR credential = ?2)',
      input.id,
      input.credential,
    );
    return changes === 1;
  },
);

/** Unexpired subscriptions of a credential, or all. */
export const pushSubscriptions = lookup(
  'push-subscriptions',
  async (rx, input: { credential: string | null; now: number }): Promise<PushSubscription[]> => {
    const rows = await rx.all<Columns>(
      `SELECT ${COLUMNS} FROM push_subscription WHERE (?1 IS NULL OR credential = ?1) AND expires_at > ?2 ORDER BY id`,
      input.credential,
      input.now,
    );
    return rows.map(subscriptionOf);
  },
);

export const pushSubscription = lookup(
  'push-subscription',
  async (rx, input: { id: number; now: number }): Promise<PushSubscription | undefined> => {
    const row = await rx.get<Columns>(
      `SELECT ${COLUMNS} FROM push_subscription WHERE id = ? AND expires_at > ?`,
      input.id,
      input.now,
    );
    return row && subscriptionOf(row);
  },
);

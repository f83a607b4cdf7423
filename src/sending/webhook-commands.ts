import { announce } from '../../mail/store/arrival.ts';
import { command, query } from '../../mail/store/engine/types.ts';

/** Sets the webhook of a mailbox. The secret is a new one each time, so the old one holds no more. */
export const setWebhook = command(
  'set-webhook',
  async (
    tx,
    input: { account: number; organization: number; url: string; secret: Uint8Array },
    stamp,
  ): Promise<{ kind: 'set' | 'rotated' | 'missing'; createdAt: number }> => {
    const account = await tx.get(
      'SELECT 1 AS there FROM account WHERE id = ? AND tenant = ? AND state <> 2',
      input.account,
      input.organization,
    );
    if (account === undefined) return { kind: 'missing', createdAt: 0 };
    const old = await tx.get<{ created_at: number }>(
      'SELECT created_at FROM webhook WHERE account_id = ?',
      input.account,
    );
    const createdAt = old?.created_at ?? stamp.now;
    await tx.run(
      `INSERT INTO webhook (account_id, organization_id, url, secret, created_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (account_id) DO UPDATE SET url = excluded.url, secret = excluded.secret, enabled = 1, failures = 0`,
      input.account,
      input.organization,
      input.url,
      input.secret,
      createdAt,
    );
    await announce(tx, input.account, true);
    return { kind: old === undefined ? 'set' : 'rotated', createdAt };
  },
);

export const removeWebhook = command(
  'remove-webhook',
  async (tx, input: { account: number; organization: number }): Promise<{ kind: 'removed' | 'none' }> => {
    const { changes } = await tx.run(
      'DELETE FROM webhook WHERE account_id = ? AND organization_id = ?',
      input.account,
      input.organization,
    );
    if (changes === 1) await announce(tx, input.account, false);
    return { kind: changes === 1 ? 'removed' : 'none' };
  },
);

/** A webhook as it may be shown. */
export interface Webhook {
  url: string;
  enabled: boolean;
  createdAt: number;
  lastDeliveryAt: number | null;
  /** HTTP status of the last answer. */
  lastStatus: number | null;
  /** One after another. */
  failures: number;
}

export const findWebhook = query(
  'find-webhook',
  async (rx, input: { account: number }): Promise<Webhook | undefined> => {
    const row = await rx.get<{
      url: string;
      enabled: number;
      created_at: number;
      last_delivery_at: number | null;
      last_status: number | null;
      failures: number;
    }>(
      'SELECT url, enabled, created_at, last_delivery_at, last_status, failures FROM webhook WHERE account_id = ?',
      input.account,
    );
    return (
      row && {
        url: row.url,
        enabled: row.enabled === 1,
        createdAt: row.created_at,
        lastDeliveryAt: row.last_delivery_at,
        lastStatus: row.last_status,
        failures: row.failures,
      }
    );
  },
);

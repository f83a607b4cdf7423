import { addAppPassword, type NewCredential } from '../../mail/store/account/credential.ts';
import { command, lookup } from '../../mail/store/engine/types.ts';
import { appendAudit } from '../audit/commands.ts';

/** Validity of a link. */
export const DEVICE_LINK_MS = 60 * 60_000;
/** Unused links of a mailbox; a new one replaces the oldest. */
const MAX_LINKS = 5;
const KEEP_MS = 24 * 3_600_000;

/** A link that can be used now. */
export interface DeviceLink {
  account: number;
  address: string;
  name: string;
}

/** Stores a link to set up one device. */
export const addDeviceLink = command(
  'add-device-link',
  async (
    tx,
    input: { hash: Uint8Array; account: number; address: string; name: string; by: string },
    stamp,
  ): Promise<{ expiresAt: number }> => {
    const expiresAt = stamp.now + DEVICE_LINK_MS;
    await tx.run('DELETE FROM device_link WHERE expires_at <= ?', stamp.now - KEEP_MS);
    await tx.run(
      `INSERT INTO device_link (token_hash, account_id, address, name, created_by, expires_at) VALUES (?, ?, ?, ?, ?, ?)`,
      input.hash,
      input.account,
      input.address,
      input.name,
      input.by,
      expiresAt,
    );
    await tx.run(
      `DELETE FROM device_link WHERE token_hash IN (SELECT token_hash FROM device_link
         WHERE account_id = ? AND used_at IS NULL ORDER BY expires_at DESC, token_hash LIMIT -1 OFFSET ?)`,
      input.account,
      MAX_LINKS,
    );
    return { expiresAt };
  },
);

/** Finds a link that can be used now. */
export const openDeviceLink = lookup(
  'open-device-link',
  (rx, input: { hash: Uint8Array; now: number }): Promise<DeviceLink | undefined> =>
    rx.get<{ account: number; address: string; name: string }>(
      `SELECT l.account_id AS account, l.address, l.name FROM device_link l JOIN account a ON a.id = l.account_id
       WHERE l.token_hash = ? AND l.used_at IS NULL AND l.expires_at > ? AND a.state < 2`,
      input.hash,
      input.now,
    ),
);

/** Uses a link up and adds the app password of its device, in one commit. */
export const useDeviceLink = command(
  'use-device-link',
  async (
    tx,
    input: { hash: Uint8Array; credential: NewCredential; ip: string },
    stamp,
  ): Promise<{ kind: 'added' | 'missing' | 'too-many' }> => {
    const row = await tx.get<{ account: number; address: string; name: string; by: string; tenant: number }>(
      `SELECT l.account_id AS account, l.address, l.name, l.created_by AS by, a.tenant FROM device_link l
       JOIN account a ON a.id = l.account_id WHERE l.token_hash = ? AND l.used_at IS NULL AND l.expires_at > ?`,
      input.hash,
      stamp.now,
    );
    if (row === undefined) return { kind: 'missing' };
    const done = await addAppPassword.run(tx, { account: row.account, credential: input.credential }, stamp);
    if (done.kind !== 'added') return { kind: done.kind };
    await tx.run('UPDATE device_link SET used_at = ? WHERE token_hash = ?', stamp.now, input.hash);
    const entry = {
      organization: row.tenant,
      actor: row.by,
      actorName: row.name,
      way: 'portal' as const,
      ip: input.ip,
      operation: 'use_device_link',
      target: row.address,
      detail: { name: row.name },
    };
    await appendAudit(tx, entry, 'done', stamp);
    return { kind: 'added' };
  },
);

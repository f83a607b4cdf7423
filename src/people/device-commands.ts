import { sendNotice, type SystemNotice } from '../../mail/delivery/notice.ts';
import { command, lookup, type Row, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { takeNoticeHit } from '../core/hits-commands.ts';
import type { SignInMethod } from './factor-commands.ts';

const MAX_DEVICES = 50;

/** A sign-in with its browser. */
interface DeviceSignIn {
  user: number;
  /** SHA-256 of the cookie that recognizes the browser. */
  device: Uint8Array;
  ip: string;
  agent: string;
  method: SignInMethod;
}

/** Records the browser of a sign-in. A letter is due for a new one, except for the first of the person. */
export async function recordDevice(tx: Write, signIn: DeviceSignIn, { now }: Stamp): Promise<void> {
  const { user, device, ip, agent, method } = signIn;
  const known = await tx.run(
    'UPDATE device SET last_used_at = ? WHERE user_id = ? AND token_hash = ?',
    now,
    user,
    device,
  );
  if (known.changes > 0) return;
  await tx.run(
    `DELETE FROM device WHERE noticed_at IS NOT NULL AND user_id = ?1 AND id NOT IN
       (SELECT id FROM device WHERE user_id = ?1 ORDER BY last_used_at DESC LIMIT ?2)`,
    user,
    MAX_DEVICES - 1,
  );
  await tx.run(
    `INSERT INTO device (token_hash, user_id, ip, agent, method, created_at, last_used_at, noticed_at)
     SELECT ?1, id, ?2, ?3, ?4, ?5, ?5, CASE WHEN address_verified_at IS NOT NULL AND device_notices_disabled_at IS NULL
       AND EXISTS (SELECT 1 FROM device WHERE user_id = ?6) THEN NULL ELSE CAST(?5 AS INTEGER) END FROM user WHERE id = ?6`,
    device,
    ip,
    agent,
    method,
    now,
    user,
  );
}

/** A new device whose person has no letter yet. */
export interface NewDevice extends Row {
  id: number;
  email: string;
  ip: string;
  agent: string;
  method: SignInMethod;
  createdAt: number;
}

const MAX_DUE = 100;

export const newDevices = lookup('new-devices', (rx): Promise<NewDevice[]> =>
  rx.all<NewDevice>(
    `SELECT d.id, u.email, d.ip, d.agent, d.method, d.created_at AS "createdAt" FROM device d JOIN user u ON u.id = d.user_id
     WHERE d.noticed_at IS NULL ORDER BY d.id LIMIT ${MAX_DUE}`,
  ),
);

/** Sends the letter about a device, once, in the commit that records it. `base`: hash of the address without its +tag. */
export const sendDeviceNotice = command(
  'send-device-notice',
  async (
    tx,
    input: { id: number; base: string; notice: SystemNotice<'new-device'> },
    stamp,
  ): Promise<{ kind: 'sent' | 'limited' | 'done' }> => {
    const { changes } = await tx.run(
      'UPDATE device SET noticed_at = ? WHERE id = ? AND noticed_at IS NULL',
      stamp.now,
      input.id,
    );
    if (changes === 0) return { kind: 'done' };
    if ((await takeNoticeHit(tx, 'new-device', input.base, stamp)) > 0) return { kind: 'limited' };
    await sendNotice(tx, input.notice, stamp);
    return { kind: 'sent' };
  },
);

/** Turns letters about new devices on or off for a person. */
export const setDeviceNotices = command(
  'set-device-notices',
  async (tx, input: { user: number; on: boolean }, stamp): Promise<void> => {
    const disabledAt = input.on ? null : stamp.now;
    await tx.run('UPDATE user SET device_notices_disabled_at = ? WHERE id = ?', disabledAt, input.user);
  },
);

export const deviceNoticesOn = lookup('device-notices-on', async (rx, input: { user: number }): Promise<boolean> => {
  const row = await rx.get<{ on: number }>(
    'SELECT device_notices_disabled_at IS NULL AS "on" FROM user WHERE id = ?',
    input.user,
  );
  return row?.on === 1;
});

import { type Outgoing, send } from '../../mail/delivery/submit.ts';
import type { UntoldTrip } from '../../mail/store/canary.ts';
import { command, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { appendAudit } from '../audit/commands.ts';
import { publicId } from '../ids.ts';

type Told = Pick<UntoldTrip, 'canary' | 'account' | 'credential' | 'at' | 'about'>;

export interface Telling {
  tenant: number;
  trips: readonly Told[];
  letters: readonly Outgoing[];
}

/**
 * Sends the letters about trips, once each. What came to an address without anybody being stopped gets its audit row here:
 * who was stopped had it in the commit that did so. Nothing is told when one of them was meanwhile.
 */
export const tellTrips = command(
  'tell-trips',
  async (tx, { tenant, trips, letters }: Telling, stamp): Promise<{ told: number }> => {
    for (const one of trips) if (!(await isUntold(tx, one))) return { told: 0 };
    for (const one of trips) {
      await tx.run(
        'UPDATE canary_trip SET told_at = ? WHERE canary_id = ? AND credential = ?',
        stamp.now,
        one.canary,
        one.credential,
      );
      if (one.credential === '') await noteMail(tx, tenant, one, stamp);
    }
    for (const letter of letters) await send(tx, letter, stamp);
    return { told: trips.length };
  },
);

async function isUntold(tx: Write, { canary, credential, at }: Told): Promise<boolean> {
  const there = await tx.get(
    'SELECT 1 AS there FROM canary_trip WHERE canary_id = ? AND credential = ? AND at = ? AND told_at IS NULL',
    canary,
    credential,
    at,
  );
  return there !== undefined;
}

async function noteMail(
  tx: Write,
  organization: number,
  { canary, account, about }: Told,
  stamp: Stamp,
): Promise<void> {
  const who = { organization, actor: 'mailstead', actorName: '', way: 'box', ip: '' } as const;
  const detail = { mailbox: publicId('mailbox', account), what: 'written-to', from: about };
  const target = publicId('canary', canary);
  await appendAudit(tx, { ...who, operation: 'trip_canary', target, detail }, 'tripped', stamp);
}

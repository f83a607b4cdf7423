import { recordTrip } from '../../mail/agents/canary/commands.ts';
import type { TripKind, UnreportedTrip } from '../../mail/agents/canary/canary.ts';
import { holdAgentMail } from '../../mail/agents/freeze/hold.ts';
import { command, lookup, type Row, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { setTokenMode } from '../tokens/mode-commands.ts';
import { appendAudit } from '../audit/commands.ts';
import { publicId, rowId } from '../core/ids.ts';
import { sendNotices, type SystemNotice } from '../../mail/delivery/notice.ts';

/** Name of a token, or of a mailbox's password, for people. */
export const nameOfCredential = lookup(
  'name-of-credential',
  async (rx, { credential }: { credential: string }): Promise<string> => {
    const token = rowId('token', credential);
    if (token === undefined) return 'a password of the mailbox';
    return (await rx.get<{ name: string }>('SELECT name FROM token WHERE id = ?', token))?.name ?? '';
  },
);

/** A touched canary, and its account. */
interface FreshTrip extends Row {
  canary: number;
  account: number;
  tenant: number;
}

/**
 * Leaves out canaries that have already stopped a credential: a token while it is frozen, a password until its trip is
 * reviewed. An unfrozen token trips anew, reviewed or not.
 */
export const freshTrips = lookup(
  'fresh-trips',
  (rx, { canaries, credential }: { canaries: readonly number[]; credential: string }): Promise<FreshTrip[]> =>
    rx.all<FreshTrip>(
      `SELECT c.id AS canary, c.account_id AS account, c.tenant FROM canary c
       WHERE c.id IN (SELECT value FROM json_each(?1)) AND NOT EXISTS (SELECT 1 FROM canary_trip t
         WHERE t.canary_id = c.id AND t.credential = ?2 AND t.reviewed_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM token k WHERE k.id = ?3 AND k.mode <> 'frozen'))`,
      JSON.stringify(canaries),
      credential,
      rowId('token', credential) ?? 0,
    ),
);

interface TripInput {
  /** Public id of a token, or of the mailbox whose password was used. */
  credential: string;
  canaries: readonly number[];
  protocol: string;
  what: TripKind;
  /** Addresses. */
  about: readonly string[];
}

/** Addresses recorded for a trip. */
const MAX_RECORDED = 20;

/**
 * Freezes a credential that touched canaries: a token, or all tokens that open the mailbox whose password was used. Their
 * unsent mail is held. Returns the number of new trips.
 */
export const tripCanaries = command(
  'trip-canaries',
  async (tx, { credential, canaries, protocol, what, about: all }: TripInput, stamp): Promise<{ tripped: number }> => {
    const fresh = await freshTrips.run(tx, { canaries, credential });
    const about = all.slice(0, MAX_RECORDED);
    for (const { canary, account, tenant } of fresh) {
      await recordTrip(tx, { canary, credential, protocol, what, about }, stamp);
      const frozen = await freeze(tx, { credential, account, tenant }, stamp);
      const mailbox = publicId('mailbox', account);
      const detail = { mailbox, door: protocol, what, frozen, ...(about.length > 0 && { to: about }) };
      const who = { organization: tenant, actor: credential, actorName: await nameOf(tx, credential) };
      const target = publicId('canary', canary);
      await appendAudit(tx, { ...who, way: 'box', ip: '', operation: 'trip_canary', target, detail }, 'tripped', stamp);
    }
    return { tripped: fresh.length };
  },
);

/** Returns the tokens that are frozen now. */
async function freeze(
  tx: Write,
  { credential, account, tenant }: { credential: string; account: number; tenant: number },
  stamp: Stamp,
): Promise<string[]> {
  const token = rowId('token', credential);
  const ids = token === undefined ? await openersOf(tx, { tenant, account }, stamp) : [token];
  for (const id of ids) await setTokenMode.run(tx, { organization: tenant, id, mode: 'frozen' }, stamp);
  if (token === undefined) await holdAgentMail(tx, tenant, [credential], stamp);
  return ids.map((id) => publicId('token', id));
}

/** Tokens that may open a mailbox: a holder of its password may hold any of them. */
async function openersOf(
  tx: Write,
  { tenant, account }: { tenant: number; account: number },
  { now }: Stamp,
): Promise<number[]> {
  const rows = await tx.all<{ id: number }>(
    `SELECT t.id FROM token t WHERE t.organization_id = ?1 AND t.revoked_at IS NULL AND t.mode <> 'frozen'
       AND (t.expires_at IS NULL OR t.expires_at > ?3) AND t.service_id IS NULL
       AND (t.mailboxes IS NULL OR EXISTS (SELECT 1 FROM json_each(t.mailboxes) WHERE value = ?2))
       AND (t.project_id IS NULL OR t.project_id = (SELECT project_id FROM mailbox_setup WHERE account_id = ?2))`,
    tenant,
    account,
    now,
  );
  return rows.map(({ id }) => id);
}

async function nameOf(tx: Write, credential: string): Promise<string> {
  const token = rowId('token', credential);
  if (token === undefined) return 'a password of the mailbox';
  return (await tx.get<{ name: string }>('SELECT name FROM token WHERE id = ?', token))?.name ?? '';
}

type NotifiedTrip = Pick<UnreportedTrip, 'canary' | 'account' | 'credential' | 'at' | 'about'>;

interface NotifyTrips {
  tenant: number;
  trips: readonly NotifiedTrip[];
  notices: readonly SystemNotice<'canary-alert'>[];
}

/**
 * Sends the alerts about trips, once each. Mail to a canary's address gets its audit row here; a frozen credential got its row
 * in the commit that froze it. Sends nothing if one of the trips was notified meanwhile.
 */
export const notifyTrips = command(
  'notify-trips',
  async (tx, { tenant, trips, notices }: NotifyTrips, stamp): Promise<{ notified: number }> => {
    for (const one of trips) if (!(await isUnreported(tx, one))) return { notified: 0 };
    for (const one of trips) {
      await tx.run(
        'UPDATE canary_trip SET notified_at = ? WHERE canary_id = ? AND credential = ?',
        stamp.now,
        one.canary,
        one.credential,
      );
      if (one.credential === '') await auditMail(tx, tenant, one, stamp);
    }
    await sendNotices(tx, notices, stamp);
    return { notified: trips.length };
  },
);

async function isUnreported(tx: Write, { canary, credential, at }: NotifiedTrip): Promise<boolean> {
  const there = await tx.get(
    'SELECT 1 AS there FROM canary_trip WHERE canary_id = ? AND credential = ? AND at = ? AND notified_at IS NULL',
    canary,
    credential,
    at,
  );
  return there !== undefined;
}

async function auditMail(
  tx: Write,
  organization: number,
  { canary, account, about }: NotifiedTrip,
  stamp: Stamp,
): Promise<void> {
  const who = { organization, actor: 'mailstead', actorName: '', way: 'box', ip: '' } as const;
  const detail = { mailbox: publicId('mailbox', account), what: 'written-to', from: about };
  const target = publicId('canary', canary);
  await appendAudit(tx, { ...who, operation: 'trip_canary', target, detail }, 'tripped', stamp);
}

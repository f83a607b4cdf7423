import { noteTrip } from '../../mail/store/canary-commands.ts';
import type { TripKind } from '../../mail/store/canary.ts';
import { holdAgentMail } from '../../mail/store/agent-hold.ts';
import { command, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { setTokenMode } from '../agents/mode-commands.ts';
import { appendAudit } from '../audit/commands.ts';
import { publicId, rowId } from '../ids.ts';
import { freshTrips } from './queries.ts';

interface Tripping {
  /** Public id of a token, or of the mailbox whose password it is. */
  credential: string;
  canaries: readonly number[];
  door: string;
  what: TripKind;
  /** Addresses. */
  about: readonly string[];
}

/** Addresses that are remembered. */
const MOST_NAMED = 20;

/**
 * Freezes who went to canaries, again where a person let it work again: a token, or all tokens that open the mailbox whose
 * password it was. What they sent and has not left is held. Answers how many canaries it was.
 */
export const tripCanaries = command(
  'trip-canaries',
  async (tx, { credential, canaries, door, what, about: all }: Tripping, stamp): Promise<{ tripped: number }> => {
    const fresh = await freshTrips.run(tx, { canaries, credential });
    const about = all.slice(0, MOST_NAMED);
    for (const { canary, account, tenant } of fresh) {
      await noteTrip(tx, { canary, credential, door, what, about }, stamp);
      const frozen = await freeze(tx, { credential, account, tenant }, stamp);
      const mailbox = publicId('mailbox', account);
      const detail = { mailbox, door, what, frozen, ...(about.length > 0 && { to: about }) };
      const who = { organization: tenant, actor: credential, actorName: await nameOf(tx, credential) };
      const target = publicId('canary', canary);
      await appendAudit(tx, { ...who, way: 'box', ip: '', operation: 'trip_canary', target, detail }, 'tripped', stamp);
    }
    return { tripped: fresh.length };
  },
);

/** Answers which tokens are frozen now. */
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

/** Tokens that may open a mailbox: who has its password may have any of them. */
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

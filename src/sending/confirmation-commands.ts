import { takeNoticeHit } from '../core/hits-commands.ts';
import { sendNotice, type SystemNotice } from '../../mail/delivery/notice.ts';
import { command, query, type Read, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { appendAudit } from '../audit/commands.ts';

const DAY_MS = 24 * 3_600_000;
/** Lifetime of a confirmation link. */
export const CONFIRM_DAYS = 7;

/** Confirmation request to the destination of a forward. */
export interface ForwardConfirmation {
  hash: Uint8Array;
  notice: SystemNotice<'forward-confirmation'>;
  /** Hash of the destination without its +tag, for the daily limit of notices. */
  base: string;
}

/** True if the policy of an organization requires confirmation and the domain is not one of its own. */
export async function needsConfirmation(rx: Read, { organization, domain }: { organization: number; domain: string }) {
  const row = await rx.get(
    `SELECT 1 AS asks FROM organization WHERE id = ?1 AND confirm_forwards = 1
       AND NOT EXISTS (SELECT 1 FROM domain WHERE tenant = ?1 AND name = ?2 AND state = 1)`,
    organization,
    domain,
  );
  return row !== undefined;
}

export const forwardNeedsConfirmation = query('requires-confirmation', needsConfirmation);

/** Counts a notice to a destination. Returns 0, or ms until the next one is allowed. */
export function takeConfirmationHit(tx: Write, { base }: ForwardConfirmation, stamp: Stamp): Promise<number> {
  return takeNoticeHit(tx, 'forward-confirmation', base, stamp);
}

/** Sends the confirmation request of a pending forward. Older links stop working. */
export async function requestConfirmation(tx: Write, id: number, { hash, notice }: ForwardConfirmation, stamp: Stamp) {
  await tx.run(
    'UPDATE forwarder SET confirm_hash = ?, confirm_until = ? WHERE id = ?',
    hash,
    stamp.now + CONFIRM_DAYS * DAY_MS,
    id,
  );
  await sendNotice(tx, notice, stamp);
}

export const setForwardPolicy = command(
  'set-forward-policy',
  async (tx, input: { organization: number; confirm: boolean }): Promise<{ kind: 'set' | 'missing' }> => {
    const { changes } = await tx.run(
      'UPDATE organization SET confirm_forwards = ? WHERE id = ?',
      Number(input.confirm),
      input.organization,
    );
    return { kind: changes === 1 ? 'set' : 'missing' };
  },
);

/** Pending forward as shown on the confirmation page. */
export interface PendingForward {
  kind: 'asked';
  id: number;
  organization: number;
  name: string;
  source: string;
  destination: string;
}

export type InvalidConfirmation = { kind: 'missing' | 'used' | 'expired' | 'frozen' };

async function findPendingForward(
  rx: Read,
  hash: Uint8Array,
  now: number,
): Promise<PendingForward | InvalidConfirmation> {
  const row = await rx.get<{
    id: number;
    organization_id: number;
    name: string;
    source: string;
    destination: string;
    pending: number;
    stopped: number;
    confirm_until: number;
  }>(
    `SELECT f.id, f.organization_id, o.name, f.source, f.destination, f.pending, f.stopped, f.confirm_until
     FROM forwarder f JOIN organization o ON o.id = f.organization_id WHERE f.confirm_hash = ?`,
    hash,
  );
  if (row === undefined) return { kind: 'missing' };
  if (row.pending === 0) return { kind: 'used' };
  if (row.confirm_until <= now) return { kind: 'expired' };
  if (row.stopped === 1) return { kind: 'frozen' };
  const { id, organization_id: organization, name, source, destination } = row;
  return { kind: 'asked', id, organization, name, source, destination };
}

export const pendingForward = query('requested-forward', (rx, input: { hash: Uint8Array; now: number }) =>
  findPendingForward(rx, input.hash, input.now),
);

/** Confirms a forward, which becomes active. The link works once. */
export const confirmForward = command(
  'confirm-forward',
  async (
    tx,
    input: { hash: Uint8Array; ip: string },
    stamp,
  ): Promise<{ kind: 'confirmed'; source: string; destination: string } | InvalidConfirmation> => {
    const found = await findPendingForward(tx, input.hash, stamp.now);
    if (found.kind !== 'asked') return found;
    const { id, organization, source, destination } = found;
    await tx.run('UPDATE forwarder SET pending = 0 WHERE id = ?', id);
    const actor = { actor: 'anonymous', actorName: destination, way: 'portal' as const, ip: input.ip };
    const entry = { organization, ...actor, operation: 'confirm_forward', target: source, detail: { destination } };
    await appendAudit(tx, entry, 'confirmed', stamp);
    return { kind: 'confirmed', source, destination };
  },
);

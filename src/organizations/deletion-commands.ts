import { DELETED_RETENTION_MS } from '../../mail/store/account/account-retirement.ts';
import { command } from '../../mail/store/engine/types.ts';
import { heldAddress } from '../../mail/store/retention/rules.ts';
import { appendAudit } from '../audit/commands.ts';
import { publicId } from '../core/ids.ts';
import { freezeOrganization } from './commands.ts';
import { removeOrganization } from './removal-commands.ts';

/** Time of the purge of an organization whose removal has begun: a part of it may be gone. */
export const REMOVAL_BEGUN = 0;

export type DeletedOrganization =
  | {
      kind: 'deleted';
      /** Time until which it can be restored, ms UTC. */
      purgeAt: number;
      /** Its accounts, whose sessions must end. */
      accounts: number[];
    }
  | { kind: 'held'; address: string }
  | { kind: 'missing' };

/**
 * Deletes an organization: it is frozen, and nothing of it is removed until its time is over. `permanently`: its removal
 * begins, also if it was deleted before; it cannot be restored, and what a crash leaves of it is purged.
 */
export const deleteOrganization = command(
  'delete-organization',
  async (
    tx,
    { id, permanently = false }: { id: number; permanently?: boolean },
    stamp,
  ): Promise<DeletedOrganization> => {
    const address = await heldAddress.run(tx, { tenant: id });
    if (address !== undefined) return { kind: 'held', address };
    await tx.run(
      `UPDATE organization SET purge_at = ?1,
         frozen_before = iif(purge_at IS NULL, iif(frozen_at IS NULL, 0, 1), frozen_before)
       WHERE id = ?2 AND (purge_at IS NULL OR purge_at > ?1)`,
      permanently ? REMOVAL_BEGUN : stamp.now + DELETED_RETENTION_MS,
      id,
    );
    const row = await tx.get<{ purgeAt: number }>('SELECT purge_at AS "purgeAt" FROM organization WHERE id = ?', id);
    const frozen = await freezeOrganization.run(tx, { id, frozen: true }, stamp);
    if (row === undefined || !('accounts' in frozen)) return { kind: 'missing' };
    return { kind: 'deleted', purgeAt: row.purgeAt, accounts: frozen.accounts };
  },
);

/** Restores a deleted organization whose removal has not begun. One that was frozen before stays frozen. */
export const restoreOrganization = command(
  'restore-organization',
  async (
    tx,
    { id }: { id: number },
    stamp,
  ): Promise<{ kind: 'restored'; frozen: boolean; accounts: number[] } | { kind: 'missing' }> => {
    const row = await tx.get<{ frozen: number }>(
      'UPDATE organization SET purge_at = NULL WHERE id = ? AND purge_at > ? RETURNING frozen_before AS frozen',
      id,
      REMOVAL_BEGUN,
    );
    if (row === undefined) return { kind: 'missing' };
    if (row.frozen === 1) return { kind: 'restored', frozen: true, accounts: [] };
    const done = await freezeOrganization.run(tx, { id, frozen: false }, stamp);
    return { kind: 'restored', frozen: false, accounts: 'accounts' in done ? done.accounts : [] };
  },
);

/** Removes a slice of a deleted organization whose time is over, unless one of its mailboxes is under legal hold. */
export const purgeDeletedOrganizations = command(
  'purge-deleted-organizations',
  async (tx, _input: undefined, stamp): Promise<boolean> => {
    const row = await tx.get<{ id: number; name: string; slug: string }>(
      `SELECT id, name, slug FROM organization o WHERE purge_at <= ?
         AND NOT EXISTS (SELECT 1 FROM legal_hold h WHERE h.tenant = o.id) ORDER BY purge_at LIMIT 1`,
      stamp.now,
    );
    if (row === undefined) return false;
    const { id, name, slug } = row;
    await tx.run('UPDATE organization SET purge_at = ? WHERE id = ?', REMOVAL_BEGUN, id);
    const done = await removeOrganization.run(tx, { id }, stamp);
    if (done.kind !== 'removed') return done.kind === 'removing';
    const entry = { organization: id, actor: 'mailstead', actorName: '', way: 'box', ip: '' } as const;
    const what = { operation: 'remove_organization', target: publicId('organization', id) };
    await appendAudit(tx, { ...entry, ...what, detail: { name, slug, permanently: true } }, done.kind, stamp);
    return true;
  },
);

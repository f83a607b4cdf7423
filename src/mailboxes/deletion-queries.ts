import { lookup, query } from '../../mail/store/engine/types.ts';

/** Number of deleted mailboxes and services of the whole server that can be restored. */
export const countDeleted = lookup('count-deleted', async (rx): Promise<{ mailboxes: number; services: number }> => {
  const row = await rx.get<{ mailboxes: number; services: number }>(
    `SELECT (SELECT count(*) FROM deleted_account) AS mailboxes, (SELECT count(*) FROM deleted_service) AS services`,
  );
  return row ?? { mailboxes: 0, services: 0 };
});

/** A deleted mailbox as listed. Times are ms UTC. */
export interface DeletedMailboxLine {
  id: number;
  address: string;
  project: number;
  usedBytes: number;
  usedCount: number;
  deletedAt: number;
  purgeAt: number;
  /** Public id of the actor. */
  deletedBy: string;
  salt: Uint8Array;
  iterations: number;
}

interface DeletedMailboxFilter {
  tenant: number;
  /** Null: any. */
  id: number | null;
  /** Lookup key of its address; null: any. */
  key: string | null;
  project: number | null;
  after: number;
  limit: number;
}

/** Deleted mailboxes of an organization that can be restored, by id. */
export const listDeletedMailboxes = lookup(
  'list-deleted-mailboxes',
  (rx, input: DeletedMailboxFilter): Promise<DeletedMailboxLine[]> =>
    rx.all<{ [Name in keyof DeletedMailboxLine]: DeletedMailboxLine[Name] }>(
      `SELECT a.id, a.address, coalesce(s.project_id, 0) AS project, a.used_bytes AS "usedBytes",
         a.used_count AS "usedCount", a.salt, a.iterations, d.deleted_at AS "deletedAt", d.purge_at AS "purgeAt",
         d.deleted_by AS "deletedBy"
       FROM deleted_account d JOIN account a ON a.id = d.account_id LEFT JOIN mailbox_setup s ON s.account_id = a.id
       WHERE d.tenant = ?1 AND (?2 IS NULL OR d.account_id = ?2) AND (?3 IS NULL OR d.key = ?3)
         AND (?4 IS NULL OR coalesce(s.project_id, 0) = ?4) AND d.account_id > ?5 ORDER BY d.account_id LIMIT ?6`,
      input.tenant,
      input.id,
      input.key,
      input.project,
      input.after,
      input.limit,
    ),
);

/** The mailbox with this id or address that was deleted last. */
export const findDeletedMailbox = query(
  'find-deleted-mailbox',
  async (rx, input: Pick<DeletedMailboxFilter, 'tenant' | 'id' | 'key'>): Promise<DeletedMailboxLine | undefined> => {
    const last = await rx.get<{ id: number }>(
      `SELECT account_id AS id FROM deleted_account WHERE tenant = ?1 AND (?2 IS NULL OR account_id = ?2)
         AND (?3 IS NULL OR key = ?3) ORDER BY deleted_at DESC, account_id DESC LIMIT 1`,
      input.tenant,
      input.id,
      input.key,
    );
    if (last === undefined) return undefined;
    const which = { tenant: input.tenant, id: last.id, key: null, project: null, after: 0, limit: 1 };
    return (await listDeletedMailboxes.run(rx, which))[0];
  },
);

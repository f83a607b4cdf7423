import { lookup, type Row } from '../../mail/store/engine/types.ts';

/** Blob of a held message; undefined if not held any more. */
export const heldOctets = lookup(
  'waiting-octets',
  (rx, { id }: { id: number }): Promise<{ blob: number; size: number } | undefined> =>
    rx.get<{ blob: number; size: number }>(
      `SELECT s.blob_id AS blob, s.size FROM submission s JOIN scheduled d ON d.submission_id = s.id WHERE s.id = ?`,
      id,
    ),
);

/** Name of a token of an organization, revoked or not. */
export const tokenName = lookup(
  'token-name',
  async (rx, { organization, id }: { organization: number; id: number }): Promise<string | undefined> => {
    const sql = 'SELECT name FROM token WHERE id = ? AND organization_id = ?';
    return (await rx.get<{ name: string }>(sql, id, organization))?.name;
  },
);

/** A person who decides by a link. */
export interface Approver extends Row {
  user: number;
  email: string;
}

/** Owner of that organization whom a link names; undefined if the organization is frozen. */
export const approver = lookup(
  'approver',
  (rx, input: { organization: number; user: number }): Promise<Approver | undefined> =>
    rx.get<Approver>(
      `SELECT u.id AS user, u.email FROM member m JOIN user u ON u.id = m.user_id
         JOIN organization o ON o.id = m.organization_id
       WHERE m.organization_id = ? AND m.user_id = ? AND m.role = 'owner' AND o.frozen_at IS NULL`,
      input.organization,
      input.user,
    ),
);

/** Minimum time between two notices to the owners of an organization, so that no agent floods them. */
const NOTICE_INTERVAL_MS = 10 * 60_000;

/**
 * Organizations with pending mail or proposals that owners were not notified of, and whose last notice is old enough. A notice
 * time in the future comes from a wrong clock and is ignored.
 */
export const unreportedApprovals = lookup(
  'unnotified-approvals',
  async (rx, { now, limit }: { now: number; limit: number }): Promise<number[]> => {
    const rows = await rx.all<{ tenant: number }>(
      `SELECT tenant FROM (
         SELECT tenant FROM approval INDEXED BY approval_unnotified
           WHERE state = 'pending' AND notified_at IS NULL AND expires_at > ?1
         UNION SELECT organization_id FROM proposal INDEXED BY proposal_unnotified
           WHERE state = 'pending' AND notified_at IS NULL AND expires_at > ?1) w
       WHERE NOT EXISTS (SELECT 1 FROM approval b INDEXED BY approval_tenant
           WHERE b.tenant = w.tenant AND b.notified_at BETWEEN ?2 + 1 AND ?1)
         AND NOT EXISTS (SELECT 1 FROM proposal p INDEXED BY proposal_notified
           WHERE p.organization_id = w.tenant AND p.notified_at BETWEEN ?2 + 1 AND ?1)
       LIMIT ?3`,
      now,
      now - NOTICE_INTERVAL_MS,
      limit,
    );
    return rows.map(({ tenant }) => tenant);
  },
);

/** Newest rows that an organization was notified of; 0: none. */
export interface NotifiedUpTo extends Row {
  mail: number;
  proposal: number;
}

export const notifiedUpTo = lookup(
  'requested-up-to',
  async (rx, { tenant }: { tenant: number }): Promise<NotifiedUpTo> =>
    (await rx.get<NotifiedUpTo>(
      `SELECT coalesce((SELECT max(id) FROM approval INDEXED BY approval_tenant WHERE tenant = ?1), 0) AS mail,
         coalesce((SELECT max(id) FROM proposal WHERE organization_id = ?1), 0) AS proposal`,
      tenant,
    )) ?? { mail: 0, proposal: 0 },
);

/** Seal that a link to a message is bound to; undefined if there never was such a message. */
export const sealOfApproval = lookup(
  'seal-of-approval',
  (rx, { id }: { id: number }): Promise<{ seal: string; tenant: number } | undefined> =>
    rx.get<{ seal: string; tenant: number }>('SELECT seal, tenant FROM approval WHERE id = ?', id),
);

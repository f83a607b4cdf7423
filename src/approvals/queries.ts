import { query, type Row } from '../../mail/store/engine/types.ts';

/** Where the octets of a message are that waits; undefined when it waits no more. */
export const waitingOctets = query(
  'waiting-octets',
  (rx, { id }: { id: number }): Promise<{ blob: number; size: number } | undefined> =>
    rx.get<{ blob: number; size: number }>(
      `SELECT s.blob_id AS blob, s.size FROM submission s JOIN scheduled d ON d.submission_id = s.id WHERE s.id = ?`,
      id,
    ),
);

/** What an organization calls one of its tokens; also one that is revoked. */
export const tokenName = query(
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

/** Who holds a link, if an owner of that organization still; frozen ones let nobody decide. */
export const approver = query(
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

/** Between two letters to the owners of an organization, so that no agent fills their mailbox. */
const BETWEEN_LETTERS_MS = 10 * 60_000;

/**
 * Organizations whose owners do not know yet of mail or a proposal that waits, and may be written to. A letter of a time
 * to come was written by a clock that ran ahead: it is no reason to wait.
 */
export const untoldApprovals = query(
  'untold-approvals',
  async (rx, { now, limit }: { now: number; limit: number }): Promise<number[]> => {
    const rows = await rx.all<{ tenant: number }>(
      `SELECT tenant FROM (
         SELECT tenant FROM approval INDEXED BY approval_untold
           WHERE state = 'pending' AND told_at IS NULL AND expires_at > ?1
         UNION SELECT organization_id FROM proposal INDEXED BY proposal_untold
           WHERE state = 'pending' AND told_at IS NULL AND expires_at > ?1) w
       WHERE NOT EXISTS (SELECT 1 FROM approval b INDEXED BY approval_tenant
           WHERE b.tenant = w.tenant AND b.told_at BETWEEN ?2 + 1 AND ?1)
         AND NOT EXISTS (SELECT 1 FROM proposal p INDEXED BY proposal_told
           WHERE p.organization_id = w.tenant AND p.told_at BETWEEN ?2 + 1 AND ?1)
       LIMIT ?3`,
      now,
      now - BETWEEN_LETTERS_MS,
      limit,
    );
    return rows.map(({ tenant }) => tenant);
  },
);

/** The newest that an organization was asked about, by their rows; 0: nothing. */
export interface AskedUpTo extends Row {
  mail: number;
  proposal: number;
}

export const askedUpTo = query(
  'asked-up-to',
  async (rx, { tenant }: { tenant: number }): Promise<AskedUpTo> =>
    (await rx.get<AskedUpTo>(
      `SELECT coalesce((SELECT max(id) FROM approval INDEXED BY approval_tenant WHERE tenant = ?1), 0) AS mail,
         coalesce((SELECT max(id) FROM proposal WHERE organization_id = ?1), 0) AS proposal`,
      tenant,
    )) ?? { mail: 0, proposal: 0 },
);

/** What a link to a message was made for; undefined: there never was such a message. */
export const sealOfApproval = query(
  'seal-of-approval',
  (rx, { id }: { id: number }): Promise<{ seal: string; tenant: number } | undefined> =>
    rx.get<{ seal: string; tenant: number }>('SELECT seal, tenant FROM approval WHERE id = ?', id),
);

import { holdTenant } from '../../mail/delivery/scheduled-messages.ts';
import { command, lookup, type Stamp, type Write } from '../../mail/store/engine/types.ts';

export type OrganizationOrigin = 'operator' | 'claim' | 'own';

export interface NewOrganization {
  name: string;
  origin: OrganizationOrigin;
  ip: string;
}

/** Name of the first project of each organization. */
const FIRST_PROJECT = 'Default';

/** Creates an organization with its first project; a taken slug gets a number. */
export async function insertOrganization(
  tx: Write,
  { name, origin, ip }: NewOrganization,
  stamp: Stamp,
): Promise<{ id: number; slug: string; project: number }> {
  const slug = await freeSlug(tx, slugOf(name));
  const { id } = await tx.run(
    'INSERT INTO organization (slug, name, origin, created_ip, created_at) VALUES (?, ?, ?, ?, ?)',
    slug,
    name,
    origin,
    ip,
    stamp.now,
  );
  const project = await insertProject(tx, { organization: id, name: FIRST_PROJECT }, stamp);
  return { id, slug, project };
}

export async function insertProject(
  tx: Write,
  { organization, name }: { organization: number; name: string },
  stamp: Stamp,
): Promise<number> {
  const { id } = await tx.run(
    'INSERT INTO project (organization_id, name, created_at) VALUES (?, ?, ?)',
    organization,
    name,
    stamp.now,
  );
  return id;
}

async function freeSlug(tx: Write, wanted: string): Promise<string> {
  const taken = await tx.all<{ slug: string }>(
    `SELECT slug FROM organization WHERE slug = ? OR slug > ? || '-' AND slug < ? || '.'`,
    wanted,
    wanted,
    wanted,
  );
  const known = new Set(taken.map((row) => row.slug));
  if (!known.has(wanted)) return wanted;
  let number = 2;
  while (known.has(`${wanted}-${number}`)) number++;
  return `${wanted}-${number}`;
}

/** Creates the operator's organization, once. It is the first, so its id is the engine's OPERATOR. */
export const seedOperator = command(
  'seed-operator',
  async (tx, input: { name: string }, stamp): Promise<{ id: number; made: boolean }> => {
    const there = await tx.get<{ id: number }>(`SELECT id FROM organization WHERE origin = 'operator'`);
    if (there !== undefined) return { id: there.id, made: false };
    const { id } = await insertOrganization(tx, { name: input.name, origin: 'operator', ip: '' }, stamp);
    return { id, made: true };
  },
);

export interface Organization {
  id: number;
  slug: string;
  name: string;
  origin: OrganizationOrigin;
  createdAt: number;
  claimedAt: number | null;
  frozenAt: number | null;
  /** Time from which it is purged, as it is deleted; null: it is not. */
  purgeAt: number | null;
  /** New forwards to other servers need confirmation by their destination. */
  confirmForwards: boolean;
}

type StoredOrganization = Omit<Organization, 'confirmForwards'> & { confirmForwards: number };

const COLUMNS = `o.id, o.slug, o.name, o.origin, o.created_at AS "createdAt", o.claimed_at AS "claimedAt",
  o.frozen_at AS "frozenAt", o.purge_at AS "purgeAt", o.confirm_forwards AS "confirmForwards"`;

export const findOrganization = lookup(
  'find-organization',
  async (rx, input: { id: number }): Promise<Organization | undefined> => {
    const row = await rx.get<StoredOrganization>(`SELECT ${COLUMNS} FROM organization o WHERE o.id = ?`, input.id);
    return row && { ...row, confirmForwards: row.confirmForwards === 1 };
  },
);

export type Project = { id: number; organization: number; name: string; createdAt: number };

export const listProjects = lookup('list-projects', (rx, input: { organization: number }): Promise<Project[]> =>
  rx.all<Project>(
    `SELECT id, organization_id AS organization, name, created_at AS "createdAt"
     FROM project WHERE organization_id = ? ORDER BY id`,
    input.organization,
  ),
);

export const renameOrganization = command(
  'rename-organization',
  async (tx, input: { id: number; name: string }): Promise<{ kind: 'renamed' | 'missing' }> => {
    const { changes } = await tx.run('UPDATE organization SET name = ? WHERE id = ?', input.name, input.id);
    return { kind: changes === 1 ? 'renamed' : 'missing' };
  },
);

/** Hold reason for mail of a frozen organization. */
export const FROZEN = 'the organization is frozen';

/** Holds its queued mail. */
async function holdQueue(tx: Write, tenant: number): Promise<void> {
  await tx.run(
    `UPDATE queue SET state = 1, hold_reason = ? WHERE state = 0
       AND submission_id IN (SELECT id FROM submission WHERE tenant = ?)`,
    FROZEN,
    tenant,
  );
}

async function releaseQueue(tx: Write, tenant: number, now: number): Promise<void> {
  await tx.run(
    `UPDATE queue SET state = 0, hold_reason = NULL, next_at = ? WHERE state = 1 AND hold_reason = ?
       AND submission_id IN (SELECT id FROM submission WHERE tenant = ?)`,
    now,
    FROZEN,
    tenant,
  );
}

/** Freezes or unfreezes an organization. Returns its accounts, whose sessions must end. A deleted one stays frozen. */
export const freezeOrganization = command(
  'freeze-organization',
  async (
    tx,
    input: { id: number; frozen: boolean },
    stamp,
  ): Promise<{ kind: 'frozen' | 'unfrozen'; accounts: number[] } | { kind: 'missing' } | { kind: 'deleted' }> => {
    const deleted = await tx.get('SELECT 1 AS there FROM organization WHERE id = ? AND purge_at IS NOT NULL', input.id);
    if (deleted !== undefined && !input.frozen) return { kind: 'deleted' };
    const { changes } = await tx.run(
      'UPDATE organization SET frozen_at = ? WHERE id = ?',
      input.frozen ? stamp.now : null,
      input.id,
    );
    if (changes === 0) return { kind: 'missing' };
    await holdTenant(tx, input.id, FROZEN, input.frozen);
    await tx.run('UPDATE forwarder SET stopped = ? WHERE organization_id = ?', Number(input.frozen), input.id);
    await (input.frozen ? holdQueue(tx, input.id) : releaseQueue(tx, input.id, stamp.now));
    const accounts = await tx.all<{ id: number }>(
      'UPDATE account SET state = ? WHERE tenant = ? AND state < 2 RETURNING id',
      Number(!input.frozen),
      input.id,
    );
    return { kind: input.frozen ? 'frozen' : 'unfrozen', accounts: accounts.map((row) => row.id) };
  },
);

export interface OrganizationUse extends Organization {
  domains: number;
  mailboxes: number;
  usedBytes: number;
  lastUsedAt: number | null;
}

/** Every organization with its size and the last use of its tokens. */
export const listOrganizationUse = lookup('list-organization-use', async (rx): Promise<OrganizationUse[]> => {
  const rows = await rx.all<Omit<OrganizationUse, 'confirmForwards'> & { confirmForwards: number }>(
    `SELECT ${COLUMNS}, (SELECT count(*) FROM domain d WHERE d.tenant = o.id) AS domains,
       (SELECT count(*) FROM account a WHERE a.tenant = o.id AND a.state < 2) AS mailboxes,
       (SELECT coalesce(sum(a.used_bytes), 0) FROM account a WHERE a.tenant = o.id) AS "usedBytes",
       (SELECT max(t.last_used_at) FROM token t WHERE t.organization_id = o.id) AS "lastUsedAt"
     FROM organization o ORDER BY o.id`,
  );
  return rows.map((row) => ({ ...row, confirmForwards: row.confirmForwards === 1 }));
});

const MAX_SLUG = 40;

/** Creates a slug from a name: lower case ASCII words with hyphens. Never empty. */
function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX_SLUG)
    .replace(/-+$/, '');
  return words === '' ? 'organization' : words;
}

interface OrganizationUsage {
  domains: number;
  mailboxes: number;
  messages: number;
  storedBytes: number;
  services: number;
  /** Queued recipients. */
  queued: number;
}

/** Usage of one organization. */
export const organizationUse = lookup(
  'organization-use',
  async (rx, input: { organization: number }): Promise<OrganizationUsage> => {
    const row = await rx.get<Record<keyof OrganizationUsage, number>>(
      `SELECT (SELECT count(*) FROM domain WHERE tenant = ?1) AS domains, count(*) AS mailboxes,
         coalesce(sum(used_count), 0) AS messages, coalesce(sum(used_bytes), 0) AS storedBytes,
         (SELECT count(*) FROM service WHERE organization_id = ?1) AS services,
         (SELECT count(*) FROM queue q JOIN submission s ON s.id = q.submission_id WHERE s.tenant = ?1) AS queued
       FROM account WHERE tenant = ?1 AND state < 2`,
      input.organization,
    );
    return row ?? { domains: 0, mailboxes: 0, messages: 0, storedBytes: 0, services: 0, queued: 0 };
  },
);

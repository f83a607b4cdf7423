import { holdTenant } from '../../mail/delivery/schedule.ts';
import { command, query, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { slugOf } from './slug.ts';

export type Origin = 'operator' | 'claim' | 'own';

export interface NewOrganization {
  name: string;
  origin: Origin;
  ip: string;
}

/** Every organization starts with one. */
const FIRST_PROJECT = 'Default';

/** Makes an organization with its first project; the slug gets a number when it is taken. */
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

/** Makes the operator's organization, once. It is the first, so its id is the engine's OPERATOR. */
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
  origin: Origin;
  createdAt: number;
  claimedAt: number | null;
  frozenAt: number | null;
  /** New forwards to elsewhere wait for the word of their destination. */
  confirmForwards: boolean;
}

type Columns = {
  id: number;
  slug: string;
  name: string;
  origin: string;
  created_at: number;
  claimed_at: number | null;
  frozen_at: number | null;
  confirm_forwards: number;
};

export const findOrganization = query(
  'find-organization',
  async (rx, input: { id: number }): Promise<Organization | undefined> => {
    const row = await rx.get<Columns>('SELECT * FROM organization WHERE id = ?', input.id);
    return row && organizationOf(row);
  },
);

function organizationOf(row: Columns): Organization {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    origin: row.origin as Origin,
    createdAt: row.created_at,
    claimedAt: row.claimed_at,
    frozenAt: row.frozen_at,
    confirmForwards: row.confirm_forwards === 1,
  };
}

export interface Project {
  id: number;
  organization: number;
  name: string;
  createdAt: number;
}

export const listProjects = query('list-projects', async (rx, input: { organization: number }): Promise<Project[]> => {
  const rows = await rx.all<{ id: number; organization_id: number; name: string; created_at: number }>(
    'SELECT id, organization_id, name, created_at FROM project WHERE organization_id = ? ORDER BY id',
    input.organization,
  );
  return rows.map((row) => ({
    id: row.id,
    organization: row.organization_id,
    name: row.name,
    createdAt: row.created_at,
  }));
});

export const renameOrganization = command(
  'rename-organization',
  async (tx, input: { id: number; name: string }): Promise<{ kind: 'renamed' | 'missing' }> => {
    const { changes } = await tx.run('UPDATE organization SET name = ? WHERE id = ?', input.name, input.id);
    return { kind: changes === 1 ? 'renamed' : 'missing' };
  },
);

/** Why mail of a frozen organization waits. */
export const FROZEN = 'the organization is frozen';

/** What it had queued waits too: nothing of it may work. */
async function holdQueue(tx: Write, tenant: number): Promise<void> {
  await tx.run(
    `UPDATE queue SET state = 1, held_because = ? WHERE state = 0
       AND submission_id IN (SELECT id FROM submission WHERE tenant = ?)`,
    FROZEN,
    tenant,
  );
}

async function releaseQueue(tx: Write, tenant: number, now: number): Promise<void> {
  await tx.run(
    `UPDATE queue SET state = 0, held_because = NULL, next_at = ? WHERE state = 1 AND held_because = ?
       AND submission_id IN (SELECT id FROM submission WHERE tenant = ?)`,
    now,
    FROZEN,
    tenant,
  );
}

/** Stops an organization, or lets it go on. Answers its accounts, whose sessions must end. */
export const freezeOrganization = command(
  'freeze-organization',
  async (
    tx,
    input: { id: number; frozen: boolean },
    stamp,
  ): Promise<{ kind: 'frozen' | 'unfrozen'; accounts: number[] } | { kind: 'missing' }> => {
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
      'UPDATE account SET state = ? WHERE tenant = ? AND state <> 2 RETURNING id',
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

/** Every organization with its size and when a token of it was last used. */
export const listOrganizationUse = query('list-organization-use', async (rx): Promise<OrganizationUse[]> => {
  const rows = await rx.all<Columns & { domains: number; mailboxes: number; used: number; last_used: number | null }>(
    `SELECT o.*, (SELECT count(*) FROM domain d WHERE d.tenant = o.id) AS domains,
       (SELECT count(*) FROM account a WHERE a.tenant = o.id AND a.state <> 2) AS mailboxes,
       (SELECT coalesce(sum(a.used_bytes), 0) FROM account a WHERE a.tenant = o.id) AS used,
       (SELECT max(t.last_used_at) FROM token t WHERE t.organization_id = o.id) AS last_used
     FROM organization o ORDER BY o.id`,
  );
  return rows.map((row) => ({
    ...organizationOf(row),
    domains: row.domains,
    mailboxes: row.mailboxes,
    usedBytes: row.used,
    lastUsedAt: row.last_used,
  }));
});

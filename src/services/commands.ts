import { command, type Write } from '../../mail/store/engine/types.ts';
import { insertProject } from '../organizations/commands.ts';

/** Limits of one organization. */
const MAX_PROJECTS = 200;
export const MAX_SERVICES = 500;
/** Revisions stored per service for rollback. */
const MAX_REVISIONS = 100;

export const createProject = command(
  'create-project',
  async (
    tx,
    input: { organization: number; name: string },
    stamp,
  ): Promise<{ kind: 'created'; id: number } | { kind: 'exists' | 'too-many' }> => {
    const same = 'SELECT 1 AS there FROM project WHERE organization_id = ? AND name = ?';
    if ((await tx.get(same, input.organization, input.name)) !== undefined) return { kind: 'exists' };
    const held = await count(tx, 'SELECT count(*) AS n FROM project WHERE organization_id = ?', input.organization);
    if (held >= MAX_PROJECTS) return { kind: 'too-many' };
    return { kind: 'created', id: await insertProject(tx, input, stamp) };
  },
);

export const createService = command(
  'create-service',
  async (
    tx,
    input: { organization: number; project: number; name: string },
    stamp,
  ): Promise<{ kind: 'created'; id: number } | { kind: 'exists' | 'too-many' }> => {
    const same = 'SELECT 1 AS there FROM service WHERE project_id = ? AND name = ?';
    if ((await tx.get(same, input.project, input.name)) !== undefined) return { kind: 'exists' };
    const held = await count(tx, 'SELECT count(*) AS n FROM service WHERE organization_id = ?', input.organization);
    if (held >= MAX_SERVICES) return { kind: 'too-many' };
    // Deleted ones are never purged early to make room: whoever creates and deletes could push out those of others.
    const deleted = 'SELECT count(*) AS n FROM deleted_service WHERE organization_id = ?';
    if ((await count(tx, deleted, input.organization)) >= MAX_SERVICES) return { kind: 'too-many' };
    const { id } = await tx.run(
      'INSERT INTO service (organization_id, project_id, name, created_at) VALUES (?, ?, ?, ?)',
      input.organization,
      input.project,
      input.name,
      stamp.now,
    );
    return { kind: 'created', id };
  },
);

async function count(tx: Write, sql: string, value: number): Promise<number> {
  return (await tx.get<{ n: number }>(sql, value))?.n ?? 0;
}

export interface NewRevision {
  service: number;
  /** Number that `env` was sealed for. */
  number: number;
  env: Uint8Array;
  spec: string;
  by: string;
}

/** Adds a revision and makes it current. `moved`: another one was added first, so the number is taken. */
export const addRevision = command(
  'add-revision',
  async (tx, input: NewRevision, stamp): Promise<{ kind: 'added' | 'moved' | 'missing' }> => {
    const service = await tx.get('SELECT 1 AS there FROM service WHERE id = ?', input.service);
    if (service === undefined) return { kind: 'missing' };
    const last = await tx.get<{ n: number | null }>(
      'SELECT max(number) AS n FROM service_revision WHERE service_id = ?',
      input.service,
    );
    if ((last?.n ?? 0) + 1 !== input.number) return { kind: 'moved' };
    await tx.run(
      `INSERT INTO service_revision (service_id, number, env, spec, state, detail, created_by, created_at)
       VALUES (?, ?, ?, ?, 'running', '', ?, ?)`,
      input.service,
      input.number,
      input.env,
      input.spec,
      input.by,
      stamp.now,
    );
    await tx.run(
      'DELETE FROM service_revision WHERE service_id = ? AND number <= ?',
      input.service,
      input.number - MAX_REVISIONS,
    );
    await makeCurrent(tx, input.service, input.number);
    return { kind: 'added' };
  },
);

/** Makes an earlier revision current again. */
export const rollBack = command(
  'roll-back',
  async (tx, input: { service: number; number: number }): Promise<{ kind: 'current' | 'missing' }> => {
    const there = await tx.get(
      'SELECT 1 AS there FROM service_revision WHERE service_id = ? AND number = ?',
      input.service,
      input.number,
    );
    if (there === undefined) return { kind: 'missing' };
    await makeCurrent(tx, input.service, input.number);
    return { kind: 'current' };
  },
);

async function makeCurrent(tx: Write, service: number, number: number): Promise<void> {
  await tx.run(`UPDATE service_revision SET state = 'superseded' WHERE service_id = ? AND state = 'running'`, service);
  await tx.run(
    `UPDATE service_revision SET state = 'running', detail = '' WHERE service_id = ? AND number = ?`,
    service,
    number,
  );
  await tx.run('UPDATE service SET revision = ? WHERE id = ?', number, service);
}

/** Records the outcome of a deploy, unless the revision is no longer current. */
export const endDeploy = command(
  'end-deploy',
  async (
    tx,
    input: { service: number; number: number; state: 'running' | 'failed' | 'superseded'; detail: string },
  ): Promise<void> => {
    await tx.run(
      `UPDATE service_revision SET state = ?, detail = ? WHERE service_id = ? AND number = ?
       AND number = (SELECT revision FROM service WHERE id = service_id)`,
      input.state,
      input.detail,
      input.service,
      input.number,
    );
  },
);

/** Sets how a service is run; for operators only. */
export const setControl = command(
  'set-service-control',
  async (tx, input: { id: number; control: string }): Promise<{ kind: 'set' | 'missing' }> => {
    const { changes } = await tx.run('UPDATE service SET control = ? WHERE id = ?', input.control, input.id);
    return { kind: changes === 1 ? 'set' : 'missing' };
  },
);

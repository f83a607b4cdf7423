import { lookup } from '../../mail/store/engine/types.ts';

export interface Service {
  id: number;
  organization: number;
  project: number;
  name: string;
  /** JSON. */
  control: string;
  /** Number of the current revision; 0: none was deployed. */
  revision: number;
  createdAt: number;
}

type Columns = {
  id: number;
  organization_id: number;
  project_id: number;
  name: string;
  control: string;
  revision: number;
  created_at: number;
};

const COLUMNS = 'id, organization_id, project_id, name, control, revision, created_at';

function serviceOf(row: Columns): Service {
  return {
    id: row.id,
    organization: row.organization_id,
    project: row.project_id,
    name: row.name,
    control: row.control,
    revision: row.revision,
    createdAt: row.created_at,
  };
}

/** Service of an organization. */
export const findService = lookup(
  'find-service',
  async (rx, input: { organization: number; id: number }): Promise<Service | undefined> => {
    const row = await rx.get<Columns>(
      `SELECT ${COLUMNS} FROM service WHERE id = ? AND organization_id = ?`,
      input.id,
      input.organization,
    );
    return row && serviceOf(row);
  },
);

/** Service of any organization, for the box itself. */
export const serviceById = lookup('service-by-id', async (rx, input: { id: number }): Promise<Service | undefined> => {
  const row = await rx.get<Columns>(`SELECT ${COLUMNS} FROM service WHERE id = ?`, input.id);
  return row && serviceOf(row);
});

export const listServices = lookup('list-services', async (rx, input: { organization: number }): Promise<Service[]> => {
  const rows = await rx.all<Columns>(
    `SELECT ${COLUMNS} FROM service WHERE organization_id = ? ORDER BY id`,
    input.organization,
  );
  return rows.map(serviceOf);
});

/** Services of all organizations that are not deleted. */
export const allServices = lookup('all-services', async (rx): Promise<Service[]> => {
  const rows = await rx.all<Columns>(`SELECT ${COLUMNS} FROM service
     WHERE organization_id NOT IN (SELECT id FROM organization WHERE purge_at IS NOT NULL) ORDER BY id`);
  return rows.map(serviceOf);
});

export interface Revision {
  number: number;
  /** JSON. */
  spec: string;
  state: 'running' | 'superseded' | 'failed';
  /** Output of its control. */
  detail: string;
  createdBy: string;
  createdAt: number;
}

/** Revisions of a service, newest first. */
export const listRevisions = lookup('list-revisions', async (rx, input: { service: number }): Promise<Revision[]> => {
  const rows = await rx.all<{
    number: number;
    spec: string;
    state: string;
    detail: string;
    created_by: string;
    created_at: number;
  }>(
    `SELECT number, spec, state, detail, created_by, created_at FROM service_revision
     WHERE service_id = ? ORDER BY number DESC LIMIT 1000`,
    input.service,
  );
  return rows.map((row) => ({
    number: row.number,
    spec: row.spec,
    state: row.state as Revision['state'],
    detail: row.detail,
    createdBy: row.created_by,
    createdAt: row.created_at,
  }));
});

export const sealedEnv = lookup(
  'sealed-env',
  async (rx, input: { service: number; number: number }): Promise<Uint8Array | undefined> => {
    const row = await rx.get<{ env: Uint8Array }>(
      'SELECT env FROM service_revision WHERE service_id = ? AND number = ?',
      input.service,
      input.number,
    );
    return row?.env;
  },
);

import { query } from '../../mail/store/engine/types.ts';

export interface Service {
  id: number;
  organization: number;
  project: number;
  name: string;
  /** JSON. */
  control: string;
  /** Number of the current revision; 0: nothing was deployed. */
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

/** One service of an organization. */
export const findService = query(
  'find-service',
  async (rx, input: { organization: number; id: number }): Promise<Service | undefined> => {
    const row = await rx.get<Columns>(
      'SELECT id, organization_id, project_id, name, control, revision, created_at FROM service WHERE id = ? AND organization_id = ?',
      input.id,
      input.organization,
    );
    return row && serviceOf(row);
  },
);

export const listServices = query('list-services', async (rx, input: { organization: number }): Promise<Service[]> => {
  const rows = await rx.all<Columns>(
    'SELECT id, organization_id, project_id, name, control, revision, created_at FROM service WHERE organization_id = ? ORDER BY id',
    input.organization,
  );
  return rows.map(serviceOf);
});

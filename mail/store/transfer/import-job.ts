import { command, lookup } from '../engine/types.ts';

export type ImportState = 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';

/** A job that imports mail. Times are ms UTC. */
export interface ImportJobRow extends Record<string, string | number | Uint8Array | null> {
  id: number;
  tenant: number;
  account: number;
  kind: 'file' | 'imap';
  /** JSON of the source, without secrets. */
  spec: string;
  /** Sealed; null: none, or the job ended. */
  secret: Uint8Array | null;
  state: ImportState;
  /** JSON. */
  progress: string;
  /** JSON. */
  report: string;
  by: string;
  createdAt: number;
  endedAt: number | null;
}

/** Jobs of one account that have not ended. */
const MAX_OPEN = 20;

/** Adds a job. Null: the account has too many that have not ended. */
export const addImportJob = command(
  'add-import-job',
  async (
    tx,
    input: {
      tenant: number;
      account: number;
      kind: 'file' | 'imap';
      spec: string;
      secret: Uint8Array | null;
      state: 'waiting' | 'running';
      by: string;
    },
    stamp,
  ): Promise<number | null> => {
    const open = await tx.get<{ n: number }>(
      'SELECT count(*) AS n FROM import_job WHERE account_id = ? AND ended_at IS NULL',
      input.account,
    );
    if ((open?.n ?? 0) >= MAX_OPEN) return null;
    const { id } = await tx.run(
      `INSERT INTO import_job (tenant, account_id, kind, spec, secret, state, progress, report, by, created_at)
       VALUES (?, ?, ?, ?, ?, ?, '{}', '{}', ?, ?)`,
      input.tenant,
      input.account,
      input.kind,
      input.spec,
      input.secret,
      input.state,
      input.by,
      stamp.now,
    );
    return id;
  },
);

/** Records the progress of a job that has not ended. False: it has ended, such as by a person. */
export const updateImportJob = command(
  'update-import-job',
  async (
    tx,
    input: { id: number; state: 'waiting' | 'running'; progress: string; report: string; spec?: string },
  ): Promise<boolean> => {
    const { changes } = await tx.run(
      `UPDATE import_job SET state = ?, progress = ?, report = ?, spec = ifnull(?, spec) WHERE id = ? AND ended_at IS NULL`,
      input.state,
      input.progress,
      input.report,
      input.spec ?? null,
      input.id,
    );
    return changes > 0;
  },
);

/** Ends a job and forgets its password. False: it had ended. */
export const endImportJob = command(
  'end-import-job',
  async (
    tx,
    input: { id: number; state: 'done' | 'failed' | 'cancelled'; progress?: string; report?: string },
    stamp,
  ): Promise<boolean> => {
    const { changes } = await tx.run(
      `UPDATE import_job SET state = ?, progress = ifnull(?, progress), report = ifnull(?, report), secret = NULL,
         ended_at = ? WHERE id = ? AND ended_at IS NULL`,
      input.state,
      input.progress ?? null,
      input.report ?? null,
      stamp.now,
      input.id,
    );
    return changes > 0;
  },
);

const COLUMNS = `id, tenant, account_id AS account, kind, spec, secret, state, progress, report, by,
  created_at AS createdAt, ended_at AS endedAt`;

/** One job of an organization. */
export const importJob = lookup(
  'import-job',
  (rx, input: { tenant: number; id: number }): Promise<ImportJobRow | undefined> =>
    rx.get<ImportJobRow>(`SELECT ${COLUMNS} FROM import_job WHERE tenant = ? AND id = ?`, input.tenant, input.id),
);

/** Jobs of an organization, the newest first; of all accounts, or of one. */
export const listImportJobs = lookup(
  'list-import-jobs',
  (rx, input: { tenant: number; account: number | null; before: number; limit: number }): Promise<ImportJobRow[]> =>
    rx.all<ImportJobRow>(
      `SELECT ${COLUMNS} FROM import_job WHERE tenant = ?1 AND id < ?3 AND (?2 IS NULL OR account_id = ?2)
       ORDER BY id DESC LIMIT ?4 + 0`,
      input.tenant,
      input.account,
      input.before,
      input.limit,
    ),
);

/** Jobs that may run, at most 1000: of each organization its oldest first, so that no organization delays those of others. */
export const dueImportJobs = lookup('due-import-jobs', (rx): Promise<ImportJobRow[]> =>
  rx.all<ImportJobRow>(
    `SELECT ${COLUMNS} FROM (SELECT j.*, row_number() OVER (PARTITION BY tenant ORDER BY id) AS place FROM import_job j
       WHERE ended_at IS NULL AND state = 'running') AS due ORDER BY place, id LIMIT 1000`,
  ),
);

/** Imports of files of an organization that have not ended, at most 1000. */
export const openUploads = lookup('open-uploads', async (rx, { tenant }: { tenant: number }): Promise<number[]> => {
  const rows = await rx.all<{ id: number }>(
    `SELECT id FROM import_job WHERE tenant = ? AND kind = 'file' AND ended_at IS NULL ORDER BY id LIMIT 1000`,
    tenant,
  );
  return rows.map(({ id }) => id);
});

/** True for a job that has not ended. */
export const isImportOpen = lookup(
  'is-import-open',
  async (rx, { id }: { id: number }): Promise<boolean> =>
    (await rx.get('SELECT 1 AS there FROM import_job WHERE id = ? AND ended_at IS NULL', id)) !== undefined,
);

/** Ends jobs whose upload did not come, at most 500: an account may have only a few that are open. */
export const expireUploads = command(
  'expire-uploads',
  async (tx, { before }: { before: number }, stamp): Promise<void> => {
    await tx.run(
      `UPDATE import_job SET state = 'cancelled', secret = NULL, ended_at = ? WHERE id IN
         (SELECT id FROM import_job WHERE ended_at IS NULL AND state = 'waiting' AND created_at < ? LIMIT 500)`,
      stamp.now,
      before,
    );
  },
);

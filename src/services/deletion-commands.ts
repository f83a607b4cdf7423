import { DELETED_RETENTION_MS } from '../../mail/store/account/account-retirement.ts';
import { command, lookup, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { appendAudit } from '../audit/commands.ts';
import { publicId } from '../core/ids.ts';
import { endServiceTokens } from '../tokens/deletion-commands.ts';
import { attachMailbox } from './attachment-commands.ts';
import { MAX_SERVICES } from './commands.ts';

/** Revisions purged by one command. */
const SLICE = 100;

interface Attachment {
  account: number;
  alias: string;
}

export type DeletedService =
  | { kind: 'deleted'; /** Time until which it can be restored, ms UTC. */ purgeAt: number; revokedTokens: number }
  | { kind: 'missing' };

/** Deletes a service so that it can be restored, and revokes its tokens. Its revisions and the mailboxes stay. */
export const deleteService = command(
  'delete-service',
  async (
    tx,
    { organization, id, by }: { organization: number; id: number; by: string },
    stamp,
  ): Promise<DeletedService> => {
    const mine = 'SELECT 1 AS there FROM service WHERE id = ? AND organization_id = ?';
    if ((await tx.get(mine, id, organization)) === undefined) return { kind: 'missing' };
    const attachments = await tx.all<{ account: number; alias: string }>(
      'DELETE FROM service_mailbox WHERE service_id = ? RETURNING account_id AS account, alias',
      id,
    );
    const purgeAt = stamp.now + DELETED_RETENTION_MS;
    await tx.run(
      `INSERT INTO deleted_service (id, organization_id, project_id, name, control, revision, created_at, attachments, deleted_at,
         purge_at, deleted_by)
       SELECT id, organization_id, project_id, name, control, revision, created_at, ?, ?, ?, ? FROM service WHERE id = ?`,
      JSON.stringify(attachments),
      stamp.now,
      purgeAt,
      by,
      id,
    );
    await tx.run('DELETE FROM service WHERE id = ?', id);
    const revokedTokens = await endServiceTokens(tx, { organization, service: id }, stamp);
    return { kind: 'deleted', purgeAt, revokedTokens };
  },
);

export type RestoredService =
  | {
      kind: 'restored';
      revision: number;
      /** Attachments that did not come back, in words for people. */
      lost: string[];
    }
  | { kind: 'missing' | 'too-many' }
  /** The project has a service of this name. */
  | { kind: 'exists'; name: string };

/** Restores a deleted service with its revisions and attachments. Its tokens stay revoked. */
export const restoreService = command(
  'restore-service',
  async (tx, { organization, id }: { organization: number; id: number }, stamp): Promise<RestoredService> => {
    const row = await tx.get<{ project_id: number; name: string; revision: number; attachments: string }>(
      'SELECT project_id, name, revision, attachments FROM deleted_service WHERE id = ? AND organization_id = ?',
      id,
      organization,
    );
    if (row === undefined) return { kind: 'missing' };
    const same = 'SELECT 1 AS there FROM service WHERE project_id = ? AND name = ?';
    if ((await tx.get(same, row.project_id, row.name)) !== undefined) return { kind: 'exists', name: row.name };
    const held = await tx.get<{ n: number }>(
      'SELECT count(*) AS n FROM service WHERE organization_id = ?',
      organization,
    );
    if ((held?.n ?? 0) >= MAX_SERVICES) return { kind: 'too-many' };
    await tx.run(
      `INSERT INTO service (id, organization_id, project_id, name, control, revision, created_at)
       SELECT id, organization_id, project_id, name, control, revision, created_at FROM deleted_service WHERE id = ?`,
      id,
    );
    await tx.run('DELETE FROM deleted_service WHERE id = ?', id);
    const attachments = JSON.parse(row.attachments) as Attachment[];
    const lost = await attachAll(tx, { organization, service: id, attachments }, stamp);
    return { kind: 'restored', revision: row.revision, lost };
  },
);

async function attachAll(
  tx: Write,
  { organization, service, attachments }: { organization: number; service: number; attachments: Attachment[] },
  stamp: Stamp,
): Promise<string[]> {
  const lost: string[] = [];
  for (const { account, alias } of attachments) {
    const there = 'SELECT 1 AS there FROM account WHERE id = ? AND tenant = ? AND state < 2';
    const exists = (await tx.get(there, account, organization)) !== undefined;
    const done = exists && (await attachMailbox(tx, { service, account, alias }, stamp)).kind !== 'alias-taken';
    if (done) continue;
    // A mailbox that is deleted as well is attached when it is restored.
    const { changes } = await tx.run(
      `UPDATE deleted_account SET kept = json_insert(kept, '$.services[#]', json(?)) WHERE account_id = ? AND tenant = ?`,
      JSON.stringify({ service, alias }),
      account,
      organization,
    );
    if (changes === 0) lost.push(`attachment of ${publicId('mailbox', account)}`);
  }
  return lost;
}

/** Attaches a mailbox to a deleted service when that is restored. False: the organization has no such service. */
export async function attachWhenRestored(
  tx: Write,
  { organization, service, account, alias }: { organization: number; service: number; account: number; alias: string },
): Promise<boolean> {
  const { changes } = await tx.run(
    `UPDATE deleted_service SET attachments = json_insert(attachments, '$[#]', json(?)) WHERE id = ? AND organization_id = ?`,
    JSON.stringify({ account, alias }),
    service,
    organization,
  );
  return changes === 1;
}

/** Purges a slice of a deleted service, finally the service. `purging`: call again. */
export const purgeService = command(
  'purge-service',
  (tx, input: { organization: number; id: number }): Promise<{ kind: 'purged' | 'purging' | 'missing' }> =>
    purgeOne(tx, input),
);

async function purgeOne(
  tx: Write,
  { organization, id }: { organization: number; id: number },
): Promise<{ kind: 'purged' | 'purging' | 'missing' }> {
  const mine = 'SELECT 1 AS there FROM deleted_service WHERE id = ? AND organization_id = ?';
  if ((await tx.get(mine, id, organization)) === undefined) return { kind: 'missing' };
  const { changes } = await tx.run(
    `DELETE FROM service_revision WHERE (service_id, number) IN
       (SELECT service_id, number FROM service_revision WHERE service_id = ? LIMIT ?)`,
    id,
    SLICE,
  );
  if (changes === SLICE) return { kind: 'purging' };
  await tx.run('DELETE FROM deleted_service WHERE id = ?', id);
  return { kind: 'purged' };
}

/** Purges one service whose time to be restored is over, with an audit row. Returns true while there may be more. */
export const purgeDeletedServices = command(
  'purge-deleted-services',
  async (tx, _input: undefined, stamp): Promise<boolean> => {
    const row = await tx.get<{ id: number; organization_id: number; name: string }>(
      'SELECT id, organization_id, name FROM deleted_service WHERE purge_at <= ? ORDER BY purge_at LIMIT 1',
      stamp.now,
    );
    if (row === undefined) return false;
    const { id, organization_id: organization, name } = row;
    const done = await purgeOne(tx, { organization, id });
    if (done.kind === 'purging') return true;
    const entry = { organization, actor: 'mailstead', actorName: '', way: 'box', ip: '' } as const;
    const what = { operation: 'delete_service', target: publicId('service', id), detail: { name, permanently: true } };
    await appendAudit(tx, { ...entry, ...what }, done.kind, stamp);
    return true;
  },
);

/** A deleted service as listed. Times are ms UTC. */
export interface DeletedServiceLine {
  id: number;
  project: number;
  name: string;
  revision: number;
  deletedAt: number;
  purgeAt: number;
  deletedBy: string;
  /** JSON. */
  attachments: string;
}

/** Deleted services of an organization that can be restored, by id; or the one with the given id. */
export const deletedServicesOf = lookup(
  'deleted-services-of',
  (rx, input: { organization: number; id: number | null }): Promise<DeletedServiceLine[]> =>
    rx.all<{ [Name in keyof DeletedServiceLine]: DeletedServiceLine[Name] }>(
      `SELECT id, project_id AS project, name, revision, attachments, deleted_at AS "deletedAt", purge_at AS "purgeAt",
         deleted_by AS "deletedBy"
       FROM deleted_service WHERE organization_id = ?1 AND (?2 IS NULL OR id = ?2) ORDER BY id`,
      input.organization,
      input.id,
    ),
);

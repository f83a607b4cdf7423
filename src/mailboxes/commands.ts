import { dismissAccount } from '../../mail/store/account-removal.ts';
import { attachPolicy } from '../../mail/store/agent-policy.ts';
import { insertAccount, type NewAccount } from '../../mail/store/account.ts';
import { command, query, type Write } from '../../mail/store/engine/types.ts';
import { tearDownManaged } from '../domains/commands.ts';
import { attachMailbox } from '../services/attachment-commands.ts';

export type ProvisionedMailbox =
  { kind: 'added'; account: number } | { kind: 'address-taken' | 'no-domain' | 'no-service' | 'alias-taken' };

/** A mailbox with what the appliance knows of it, and its attachment to a service, in one commit. */
export const provisionMailbox = command(
  'provision-mailbox',
  async (
    tx,
    input: NewAccount & {
      /** Null: the tenant's first. */
      project: number | null;
      displayName: string | null;
      /** Null: no limit. */
      quotaBytes: number | null;
      attach: { service: number; alias: string } | null;
      /** Agent policy that holds there from the beginning. */
      policy: number | null;
    },
    stamp,
  ): Promise<ProvisionedMailbox> => {
    if (input.attach !== null && !(await hasService(tx, input.tenant, input.attach.service)))
      return { kind: 'no-service' };
    const added = await insertAccount(tx, input, stamp);
    if (added.kind !== 'added') return added;
    await tx.run('UPDATE account SET quota_bytes = ? WHERE id = ?', input.quotaBytes, added.account);
    await tx.run(
      `INSERT INTO mailbox_setup (account_id, project_id, display_name)
       VALUES (?, coalesce(?, (SELECT min(id) FROM project WHERE organization_id = ?), 0), ?)`,
      added.account,
      input.project,
      input.tenant,
      input.displayName,
    );
    if (input.policy !== null) await attachPolicy(tx, { account: added.account }, input.policy);
    if (input.attach === null) return added;
    const done = await attachMailbox(tx, { ...input.attach, account: added.account }, stamp);
    // The service has another mailbox without an alias: a mailbox that is not attached as asked is not made.
    if (done.kind === 'alias-taken') await undo(tx, input.tenant, added.account);
    return done.kind === 'alias-taken' ? { kind: 'alias-taken' } : added;
  },
);

async function hasService(tx: Write, tenant: number, service: number): Promise<boolean> {
  const row = await tx.get('SELECT 1 AS there FROM service WHERE id = ? AND organization_id = ?', service, tenant);
  return row !== undefined;
}

async function undo(tx: Write, tenant: number, account: number): Promise<void> {
  await dismissAccount(tx, { tenant, account });
  await tx.run('DELETE FROM mailbox_setup WHERE account_id = ?', account);
}

export type DeletedMailbox = { kind: 'deleted'; services: number[]; tornDown: boolean } | { kind: 'missing' };

/** Takes a mailbox away with everything that hangs on it. Its mail is gone for everybody now, and from disk soon. */
export const deleteMailbox = command(
  'delete-mailbox',
  async (tx, input: { tenant: number; account: number }): Promise<DeletedMailbox> => {
    const address = await tx.get<{ key: string; domain_id: number }>(
      `SELECT key, domain_id FROM address WHERE account_id = ? AND kind = 'mailbox'`,
      input.account,
    );
    if (address === undefined || !(await dismissAccount(tx, input))) return { kind: 'missing' };
    const services = await tx.all<{ service_id: number }>(
      'DELETE FROM service_mailbox WHERE account_id = ? RETURNING service_id',
      input.account,
    );
    for (const sql of HANGING) await tx.run(sql, input.account);
    await tx.run('DELETE FROM forwarder WHERE organization_id = ? AND source_key = ?', input.tenant, address.key);
    const tornDown = await tearDownManaged(tx, address.domain_id);
    return { kind: 'deleted', services: services.map((row) => row.service_id), tornDown };
  },
);

const HANGING = [
  `DELETE FROM webhook_delivery WHERE listener_id IN (SELECT listener_id FROM webhook WHERE account_id = ?)`,
  'DELETE FROM webhook WHERE account_id = ?',
  'DELETE FROM member_mailbox WHERE account_id = ?',
  'DELETE FROM mailbox_setup WHERE account_id = ?',
];

export const nameMailbox = command(
  'name-mailbox',
  async (tx, input: { account: number; displayName: string | null }): Promise<{ kind: 'named' | 'missing' }> => {
    const { changes } = await tx.run(
      'UPDATE mailbox_setup SET display_name = ? WHERE account_id = ?',
      input.displayName,
      input.account,
    );
    return { kind: changes === 1 ? 'named' : 'missing' };
  },
);

export interface MailboxLine {
  id: number;
  address: string;
  domain: number;
  domainName: string;
  verified: boolean;
  /** ms UTC; its domain sends nothing since then. */
  pausedAt: number | null;
  project: number;
  displayName: string | null;
  usedBytes: number;
  quotaBytes: number | null;
  createdAt: number;
  /** Agent policy that holds there. */
  policy: number | null;
  services: number[];
}

/** Every mailbox of an organization, or one of them, as it is listed. */
export const listMailboxes = query(
  'list-mailboxes-of',
  async (rx, input: { tenant: number; account: number | null }): Promise<MailboxLine[]> => {
    const rows = await rx.all<{
      id: number;
      address: string;
      domain_id: number;
      name: string;
      state: number;
      paused_at: number | null;
      project_id: number | null;
      display_name: string | null;
      used_bytes: number;
      quota_bytes: number | null;
      created_at: number;
      policy_id: number | null;
      services: string;
    }>(
      `SELECT a.id, a.address, d.domain_id, o.name, o.state, o.paused_at, s.project_id, s.display_name, a.used_bytes, a.quota_bytes,
         a.created_at, (SELECT policy_id FROM agent_policy_account WHERE account_id = a.id) AS policy_id,
         (SELECT json_group_array(service_id) FROM service_mailbox WHERE account_id = a.id) AS services
       FROM account a JOIN address d ON d.account_id = a.id AND d.kind = 'mailbox' JOIN domain o ON o.id = d.domain_id
       LEFT JOIN mailbox_setup s ON s.account_id = a.id WHERE a.tenant = ?1 AND a.state <> 2 AND (?2 IS NULL OR a.id = ?2) ORDER BY a.id`,
      input.tenant,
      input.account,
    );
    return rows.map((row) => ({
      id: row.id,
      address: row.address,
      domain: row.domain_id,
      domainName: row.name,
      verified: row.state === 1,
      pausedAt: row.paused_at,
      project: row.project_id ?? 0,
      displayName: row.display_name,
      usedBytes: row.used_bytes,
      quotaBytes: row.quota_bytes,
      createdAt: row.created_at,
      policy: row.policy_id,
      services: JSON.parse(row.services) as number[],
    }));
  },
);

import { removeAccount } from '../../mail/store/account/account-removal.ts';
import { attachPolicy } from '../../mail/agents/policy/policies.ts';
import { insertAccount, type NewAccount } from '../../mail/store/account/account.ts';
import { command, lookup, type Write } from '../../mail/store/engine/types.ts';
import { attachMailbox } from '../services/attachment-commands.ts';

export type ProvisionedMailbox =
  { kind: 'added'; account: number } | { kind: 'address-taken' | 'no-domain' | 'no-service' | 'alias-taken' };

/** Creates a mailbox with its setup and its attachment to a service, in one commit. */
export const provisionMailbox = command(
  'provision-mailbox',
  async (
    tx,
    input: NewAccount & {
      /** Null for the tenant's first project. */
      project: number | null;
      displayName: string | null;
      /** Null for no limit. */
      quotaBytes: number | null;
      attach: { service: number; alias: string } | null;
      /** Initial agent policy. */
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
    // The alias is taken in this service: undo the mailbox, since it cannot be attached as requested.
    if (done.kind === 'alias-taken') await undoAccount(tx, input.tenant, added.account);
    return done.kind === 'alias-taken' ? { kind: 'alias-taken' } : added;
  },
);

async function hasService(tx: Write, tenant: number, service: number): Promise<boolean> {
  const row = await tx.get('SELECT 1 AS there FROM service WHERE id = ? AND organization_id = ?', service, tenant);
  return row !== undefined;
}

async function undoAccount(tx: Write, tenant: number, account: number): Promise<void> {
  await removeAccount(tx, { tenant, account });
  await tx.run('DELETE FROM mailbox_setup WHERE account_id = ?', account);
  await tx.run('DELETE FROM device_link WHERE account_id = ?', account);
}

export const nameMailbox = command(
  'set-mailbox-name',
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
  /** Time since which its domain's sending is paused, ms UTC. */
  pausedAt: number | null;
  project: number;
  displayName: string | null;
  usedBytes: number;
  quotaBytes: number | null;
  createdAt: number;
  /** Agent policy of the mailbox. */
  policy: number | null;
  services: number[];
  /** IMAP capabilities that its sessions do not list. */
  hiddenCapabilities: string[];
}

/** Lists the mailboxes of an organization, or one of them. */
export const listOrganizationMailboxes = lookup(
  'list-mailboxes-of',
  async (rx, input: { tenant: number; account: number | null }): Promise<MailboxLine[]> => {
    const rows = await rx.all<
      Omit<MailboxLine, 'verified' | 'services' | 'hiddenCapabilities'> & {
        verified: number;
        services: string;
        hidden: string;
      }
    >(
      `SELECT a.id, a.address, d.domain_id AS domain, o.name AS "domainName", o.state = 1 AS verified,
         o.paused_at AS "pausedAt", coalesce(s.project_id, 0) AS project, s.display_name AS "displayName",
         a.used_bytes AS "usedBytes", a.quota_bytes AS "quotaBytes", a.created_at AS "createdAt",
         (SELECT policy_id FROM agent_policy_account WHERE account_id = a.id) AS policy,
         (SELECT json_group_array(service_id) FROM service_mailbox WHERE account_id = a.id) AS services,
         coalesce(i.hidden_capabilities, '') AS hidden
       FROM account a JOIN address d ON d.account_id = a.id AND d.kind = 'mailbox' JOIN domain o ON o.id = d.domain_id
       LEFT JOIN mailbox_setup s ON s.account_id = a.id LEFT JOIN imap_setting i ON i.account_id = a.id
       WHERE a.tenant = ?1 AND a.state < 2 AND (?2 IS NULL OR a.id = ?2) ORDER BY a.id`,
      input.tenant,
      input.account,
    );
    return rows.map(({ verified, services, hidden, ...row }) => ({
      ...row,
      verified: verified === 1,
      services: JSON.parse(services) as number[],
      hiddenCapabilities: hidden.split(' ').filter((name) => name !== ''),
    }));
  },
);

import { unscheduleAccount } from '../../mail/delivery/scheduled-messages.ts';
import { type KeptRows, recordDeletedAccount, retireAccount } from '../../mail/store/account/account-retirement.ts';
import { removeAccount } from '../../mail/store/account/account-removal.ts';
import { restoreAccount, type RestoreAccountResult } from '../../mail/store/account/account-restoration.ts';
import type { NewCredential } from '../../mail/store/account/credential.ts';
import { isHeld } from '../../mail/store/retention/rules.ts';
import { command, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { appendAudit } from '../audit/commands.ts';
import { publicId } from '../core/ids.ts';
import { tearDownManaged } from '../domains/commands.ts';
import { type ForwarderRow, restoreForwarder, takeForwarders } from '../sending/forwarder-commands.ts';
import { attachMailbox } from '../services/attachment-commands.ts';
import { attachWhenRestored } from '../services/deletion-commands.ts';
import { endMailboxTokens } from '../tokens/deletion-commands.ts';

/** Rows of the appliance that come back with a mailbox. */
interface KeptMailbox extends KeptRows {
  forwarders: ForwarderRow[];
  services: { service: number; alias: string }[];
}

export type DeletedMailbox =
  | {
      kind: 'deleted';
      services: number[];
      tornDown: boolean;
      /** Time until which it can be restored, ms UTC. */
      purgeAt: number;
      revokedTokens: number;
      revokedAppPasswords: number;
    }
  | { kind: 'missing' };

/** Deletes a mailbox so that it can be restored: it takes no mail, and its logins and tokens end, in this commit. */
export const deleteMailbox = command(
  'delete-mailbox',
  async (
    tx,
    { tenant, account, by }: { tenant: number; account: number; by: string },
    stamp,
  ): Promise<DeletedMailbox> => {
    const domain = await domainOf(tx, account);
    const rows = await retireAccount(tx, { tenant, account });
    if (domain === undefined || rows === undefined) return { kind: 'missing' };
    const forwarders = await takeForwarders(tx, tenant, rows.address.key);
    const services = await detachAll(tx, account);
    const kept: KeptMailbox = { ...rows, forwarders, services };
    const revokedTokens = await endMailboxTokens(tx, { organization: tenant, account }, stamp);
    // A link could add a password that outlives the deletion.
    await tx.run('DELETE FROM device_link WHERE account_id = ?', account);
    return {
      kind: 'deleted',
      services: services.map(({ service }) => service),
      tornDown: await tearDownManaged(tx, domain),
      purgeAt: await recordDeletedAccount(tx, { tenant, account, kept, by }, stamp.now),
      revokedTokens,
      revokedAppPasswords: rows.appPasswords,
    };
  },
);

async function domainOf(tx: Write, account: number): Promise<number | undefined> {
  const address = await tx.get<{ domain_id: number }>('SELECT domain_id FROM address WHERE account_id = ?', account);
  return address?.domain_id;
}

function detachAll(tx: Write, account: number): Promise<{ service: number; alias: string }[]> {
  return tx.all<{ service: number; alias: string }>(
    'DELETE FROM service_mailbox WHERE account_id = ? RETURNING service_id AS service, alias',
    account,
  );
}

export type RestoredMailbox =
  | {
      kind: 'restored';
      /** Domain claim of its address. */
      domain: number;
      password: 'kept' | 'replaced';
      services: number[];
      revokedAppPasswords: number;
      /** Addresses and services that did not come back, in words for people. */
      lost: string[];
    }
  | Exclude<RestoreAccountResult, { kind: 'restored' }>;

/** Restores a deleted mailbox. Tokens and app passwords stay revoked; a generated password is replaced. */
export const restoreMailbox = command(
  'restore-mailbox',
  async (tx, input: { tenant: number; account: number; password: NewCredential }, stamp): Promise<RestoredMailbox> => {
    const { tenant, account } = input;
    const frozen = await tx.get(
      'SELECT 1 AS there FROM organization WHERE id = ? AND frozen_at IS NOT NULL',
      input.tenant,
    );
    const done = await restoreAccount<KeptMailbox>(tx, { ...input, frozen: frozen !== undefined }, stamp);
    if (done.kind !== 'restored') return done;
    const { kept, domain, password, lostAliases } = done;
    const lost = lostAliases.map((key) => `alias ${key}`);
    for (const forward of kept.forwarders) {
      if (!(await restoreForwarder(tx, forward, domain))) lost.push(`forward to ${forward.destination}`);
    }
    const attached = await attachAll(tx, { tenant, account, services: kept.services }, stamp);
    return {
      kind: 'restored',
      domain,
      password,
      services: attached.services,
      revokedAppPasswords: kept.appPasswords,
      lost: [...lost, ...attached.lost],
    };
  },
);

async function attachAll(
  tx: Write,
  { tenant, account, services }: { tenant: number; account: number; services: KeptMailbox['services'] },
  stamp: Stamp,
): Promise<{ services: number[]; lost: string[] }> {
  const attached: number[] = [];
  const lost: string[] = [];
  for (const { service, alias } of services) {
    const there = 'SELECT 1 AS there FROM service WHERE id = ? AND organization_id = ?';
    const exists = (await tx.get(there, service, tenant)) !== undefined;
    const done = exists ? await attachMailbox(tx, { service, account, alias }, stamp) : undefined;
    if (done !== undefined && done.kind !== 'alias-taken') attached.push(service);
    else if (exists || !(await attachWhenRestored(tx, { organization: tenant, service, account, alias })))
      lost.push(`attachment to ${publicId('service', service)}`);
  }
  return { services: attached, lost };
}

export type PurgedMailbox =
  { kind: 'purged' | 'purging'; services: number[]; tornDown: boolean } | { kind: 'missing' } | { kind: 'held' };

/**
 * Deletes a mailbox for good, whether it is in use or deleted: no reader finds it after this commit, and its rows and
 * files are purged in slices. `purging`: it has more waiting mail to cancel, call again.
 */
export const purgeMailbox = command(
  'purge-mailbox',
  (tx, input: { tenant: number; account: number }, stamp): Promise<PurgedMailbox> => purgeOne(tx, input, stamp),
);

async function purgeOne(
  tx: Write,
  { tenant, account }: { tenant: number; account: number },
  stamp: Stamp,
): Promise<PurgedMailbox> {
  const mine = 'SELECT 1 AS there FROM account WHERE id = ? AND tenant = ? AND state <> 2';
  if ((await tx.get(mine, account, tenant)) === undefined) return { kind: 'missing' };
  if (await isHeld(tx, account)) return { kind: 'held' };
  if (await unscheduleAccount(tx, account, stamp)) return { kind: 'purging', services: [], tornDown: false };
  const address = await tx.get<{ key: string; domain_id: number }>(
    'SELECT key, domain_id FROM address WHERE account_id = ?',
    account,
  );
  await removeAccount(tx, { tenant, account });
  await endMailboxTokens(tx, { organization: tenant, account }, stamp);
  const services = await detachAll(tx, account);
  for (const sql of DEPENDENT_ROWS) await tx.run(sql, account);
  if (address !== undefined) await takeForwarders(tx, tenant, address.key);
  const tornDown = address !== undefined && (await tearDownManaged(tx, address.domain_id));
  return { kind: 'purged', services: services.map(({ service }) => service), tornDown };
}

const DEPENDENT_ROWS = [
  `DELETE FROM webhook_delivery WHERE listener_id IN (SELECT listener_id FROM webhook WHERE account_id = ?)`,
  'DELETE FROM webhook WHERE account_id = ?',
  'DELETE FROM member_mailbox WHERE account_id = ?',
  'DELETE FROM mailbox_setup WHERE account_id = ?',
  'DELETE FROM device_link WHERE account_id = ?',
];

/** Purges one mailbox whose time to be restored is over, with an audit row. Returns true while there may be more. */
export const purgeDeletedMailboxes = command(
  'purge-deleted-mailboxes',
  async (tx, _input: undefined, stamp): Promise<boolean> => {
    const row = await tx.get<{ account_id: number; tenant: number; key: string }>(
      `SELECT account_id, tenant, key FROM deleted_account d WHERE purge_at <= ?
         AND NOT EXISTS (SELECT 1 FROM legal_hold h WHERE h.account_id = d.account_id) ORDER BY purge_at LIMIT 1`,
      stamp.now,
    );
    if (row === undefined) return false;
    const { account_id: account, tenant, key } = row;
    const done = await purgeOne(tx, { tenant, account }, stamp);
    if (done.kind === 'purging') return true;
    if (done.kind === 'held') return false;
    await tx.run('DELETE FROM deleted_account WHERE account_id = ?', account);
    const target = publicId('mailbox', account);
    const entry = { organization: tenant, actor: 'mailstead', actorName: '', way: 'box', ip: '' } as const;
    const what = { operation: 'delete_email', target, detail: { address: key, permanently: true } };
    await appendAudit(tx, { ...entry, ...what }, done.kind, stamp);
    return true;
  },
);

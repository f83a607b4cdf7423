import { unscheduleTenant } from '../../mail/delivery/scheduled-messages.ts';
import { removeAccount } from '../../mail/store/account/account-removal.ts';
import { dropDomain } from '../../mail/store/address/domain.ts';
import { command, type Write } from '../../mail/store/engine/types.ts';
import { heldAddress } from '../../mail/store/retention/rules.ts';
import { collectBlob } from '../../mail/store/retention/purge.ts';
import { changeQueue } from '../../mail/store/queue/queue-change.ts';
import { dropReports } from '../reports/commands.ts';

/** Mailboxes per commit. */
const SLICE = 100;
/** Plain rows per commit. */
const ROWS = 400;

/**
 * Deletes a slice of a frozen organization: queued mail, mailboxes, domains, finally everything else. Its audit rows stay.
 * Returns the deleted accounts, so that sessions end and programs stop.
 */
export const removeOrganization = command(
  'remove-organization',
  async (
    tx,
    input: { id: number },
    stamp,
  ): Promise<
    { kind: 'removing' | 'removed'; accounts: number[] } | { kind: 'missing' } | { kind: 'held'; address: string }
  > => {
    const address = await heldAddress.run(tx, { tenant: input.id });
    if (address !== undefined) return { kind: 'held', address };
    const frozen = await tx.get('SELECT 1 AS there FROM organization WHERE id = ? AND frozen_at IS NOT NULL', input.id);
    if (frozen === undefined) return { kind: 'missing' };
    const queue = { ids: 'all', what: 'cancel', tenant: input.id, accounts: null } as const;
    if ((await changeQueue.run(tx, queue, stamp)).changed > 0) return { kind: 'removing', accounts: [] };
    if ((await unscheduleTenant(tx, input.id, stamp)) > 0) return { kind: 'removing', accounts: [] };
    if (await removeSent(tx, input.id)) return { kind: 'removing', accounts: [] };
    if (await removeUploads(tx, input.id)) return { kind: 'removing', accounts: [] };
    const accounts = await tx.all<{ id: number }>(
      'SELECT id FROM account WHERE tenant = ? AND state <> 2 LIMIT ?',
      input.id,
      SLICE,
    );
    for (const { id } of accounts) await removeMailbox(tx, input.id, id);
    if (accounts.length > 0) return { kind: 'removing', accounts: accounts.map((row) => row.id) };
    await removeDomains(tx, input.id);
    for (const sql of REMAINING_TABLES) await tx.run(sql, input.id);
    return { kind: 'removed', accounts: [] };
  },
);

/** Deletes rows of large tables, a slice per commit. True while some may be left. */
async function removeSent(tx: Write, tenant: number): Promise<boolean> {
  for (const sql of LARGE_TABLES) {
    const { changes } = await tx.run(sql, tenant, ROWS);
    if (changes === ROWS) return true;
  }
  return false;
}

const LARGE_TABLES = [
  `DELETE FROM idempotency WHERE (credential, key) IN (SELECT b.credential, b.key FROM idempotency b
     JOIN sent_email s ON s.trace = b.trace WHERE s.organization_id = ? LIMIT ?)`,
  'DELETE FROM sent_email WHERE id IN (SELECT id FROM sent_email WHERE organization_id = ? LIMIT ?)',
  'DELETE FROM agent_rule_change WHERE id IN (SELECT id FROM agent_rule_change WHERE tenant = ? LIMIT ?)',
  `DELETE FROM narrow_token_use WHERE subject IN (SELECT json_extract(l.value, '$.of') FROM token t,
     json_each(t.narrow, '$.sends') l JOIN narrow_token_use u ON u.subject = json_extract(l.value, '$.of')
     WHERE t.organization_id = ? LIMIT ?)`,
  'DELETE FROM sender_rule WHERE id IN (SELECT id FROM sender_rule WHERE tenant = ? LIMIT ?)',
  'DELETE FROM suppression WHERE (tenant, key) IN (SELECT tenant, key FROM suppression WHERE tenant = ? LIMIT ?)',
  'DELETE FROM unsubscription WHERE (tenant, key) IN (SELECT tenant, key FROM unsubscription WHERE tenant = ? LIMIT ?)',
  `DELETE FROM correspondent WHERE (account_id, key) IN (SELECT c.account_id, c.key FROM correspondent c
     JOIN account a ON a.id = c.account_id WHERE a.tenant = ? LIMIT ?)`,
  'DELETE FROM correspondent WHERE (account_id, key) IN (SELECT account_id, key FROM correspondent WHERE account_id = -CAST(?1 AS INTEGER) LIMIT ?2)',
  `DELETE FROM untrusted_read WHERE (reader, email_id) IN (SELECT e.reader, e.email_id FROM untrusted_read e
     JOIN tainted_reader x ON x.reader = e.reader WHERE x.tenant = ? LIMIT ?)`,
  `DELETE FROM downloaded_content WHERE (tenant, size, reader, email_id) IN
     (SELECT tenant, size, reader, email_id FROM downloaded_content WHERE tenant = ? LIMIT ?)`,
  'DELETE FROM tainted_content WHERE content IN (SELECT content FROM tainted_content WHERE tenant = ? LIMIT ?)',
  'DELETE FROM tainted_reader WHERE reader IN (SELECT reader FROM tainted_reader WHERE tenant = ? LIMIT ?)',
  'DELETE FROM shown_secret WHERE (tenant, digest) IN (SELECT tenant, digest FROM shown_secret WHERE tenant = ? LIMIT ?)',
  'DELETE FROM agent_send WHERE id IN (SELECT id FROM agent_send WHERE tenant = ? LIMIT ?)',
  `DELETE FROM approval WHERE id IN (SELECT id FROM approval a WHERE tenant = ?
     AND NOT EXISTS (SELECT 1 FROM scheduled WHERE submission_id = a.id) LIMIT ?)`,
  `DELETE FROM template_version WHERE (template_id, version) IN (SELECT v.template_id, v.version
     FROM template_version v JOIN template t ON t.id = v.template_id WHERE t.organization_id = ? LIMIT ?)`,
  `DELETE FROM webhook_delivery WHERE id IN (SELECT w.id FROM webhook_delivery w
     JOIN account a ON a.id = w.account_id WHERE a.tenant = ? LIMIT ?)`,
  `DELETE FROM webhook_delivery WHERE id IN (SELECT w.id FROM webhook_delivery w
     JOIN listener l ON l.id = w.listener_id WHERE l.tenant = ? LIMIT ?)`,
  `DELETE FROM webhook_event WHERE id IN (SELECT n.id FROM webhook_event n
     JOIN listener l ON l.id = n.listener_id WHERE l.tenant = ? LIMIT ?)`,
];

/** Deletes uploads with their octets; unreferenced files are swept. True while some may be left. */
async function removeUploads(tx: Write, tenant: number): Promise<boolean> {
  const gone = await tx.all<{ blob_id: number }>(
    'DELETE FROM upload WHERE id IN (SELECT id FROM upload WHERE organization_id = ? LIMIT ?) RETURNING blob_id',
    tenant,
    SLICE,
  );
  for (const { blob_id: blob } of gone) await collectBlob(tx, blob);
  return gone.length === SLICE;
}

async function removeMailbox(tx: Write, tenant: number, account: number): Promise<void> {
  await removeAccount(tx, { tenant, account });
  await tx.run('DELETE FROM mailbox_setup WHERE account_id = ?', account);
  await tx.run('DELETE FROM device_link WHERE account_id = ?', account);
}

async function removeDomains(tx: Write, tenant: number): Promise<void> {
  for (const { id } of await tx.all<{ id: number }>('SELECT id FROM domain WHERE tenant = ?', tenant)) {
    await dropDomain(tx, id);
    await tx.run('DELETE FROM domain_setup WHERE domain_id = ?', id);
    await tx.run('DELETE FROM own_sts_policy WHERE domain_id = ?', id);
    await tx.run('DELETE FROM dns_provider WHERE domain_id = ?', id);
    await tx.run('DELETE FROM dns_written WHERE domain_id = ?', id);
    await dropReports(tx, id);
    await tx.run('DELETE FROM dns_drift WHERE domain_id = ?', id);
  }
}

/** Deletes dependent rows first. A person without any organization left is deleted last. */
const REMAINING_TABLES = [
  'DELETE FROM service_revision WHERE service_id IN (SELECT id FROM service WHERE organization_id = ?)',
  'DELETE FROM service_revision WHERE service_id IN (SELECT id FROM deleted_service WHERE organization_id = ?)',
  'DELETE FROM deleted_service WHERE organization_id = ?',
  'DELETE FROM service_mailbox WHERE service_id IN (SELECT id FROM service WHERE organization_id = ?)',
  'DELETE FROM service WHERE organization_id = ?',
  'DELETE FROM recovery WHERE recovery_key_id IN (SELECT id FROM recovery_key WHERE organization_id = ?)',
  'DELETE FROM recovery_key WHERE organization_id = ?',
  'DELETE FROM catalogue_change WHERE organization_id = ?',
  'DELETE FROM audit_notification WHERE organization_id = ?',
  'DELETE FROM digest WHERE organization_id = ?',
  'DELETE FROM digest_reply WHERE organization_id = ?',
  'DELETE FROM proposal WHERE organization_id = ?',
  'DELETE FROM mcp_session WHERE token_id IN (SELECT id FROM token WHERE organization_id = ?)',
  'DELETE FROM oauth_secret WHERE token_id IN (SELECT id FROM token WHERE organization_id = ?)',
  'DELETE FROM oauth_code WHERE organization_id = ?',
  'DELETE FROM token WHERE organization_id = ?',
  'DELETE FROM api_key WHERE organization_id = ?',
  'DELETE FROM webhook_delivery WHERE listener_id IN (SELECT listener_id FROM webhook WHERE organization_id = ?)',
  'DELETE FROM webhook WHERE organization_id = ?',
  'DELETE FROM webhook_event WHERE listener_id IN (SELECT id FROM listener WHERE tenant = ?)',
  'DELETE FROM listener WHERE tenant = ?',
  'DELETE FROM forwarder WHERE organization_id = ?',
  'DELETE FROM mail_policy WHERE tenant = ?',
  'DELETE FROM agent_policy_credential WHERE policy_id IN (SELECT id FROM agent_policy WHERE tenant = ?)',
  'DELETE FROM agent_policy WHERE tenant = ?',
  'DELETE FROM outbound_route WHERE tenant = ?',
  'DELETE FROM member_mailbox WHERE organization_id = ?',
  'DELETE FROM link WHERE organization_id = ?',
  'DELETE FROM sending_count WHERE tenant = ?',
  'DELETE FROM paused_sender WHERE tenant = ?',
  'DELETE FROM template WHERE organization_id = ?',
  `DELETE FROM budget_use WHERE subject = 'tenant/' || CAST(? AS INTEGER)`,
  `DELETE FROM passkey WHERE user_id IN (SELECT user_id FROM member m WHERE organization_id = ?
     AND NOT EXISTS (SELECT 1 FROM member o WHERE o.user_id = m.user_id AND o.organization_id <> m.organization_id))`,
  `DELETE FROM totp WHERE user_id IN (SELECT user_id FROM member m WHERE organization_id = ?
     AND NOT EXISTS (SELECT 1 FROM member o WHERE o.user_id = m.user_id AND o.organization_id <> m.organization_id))`,
  `DELETE FROM provider_identity WHERE user_id IN (SELECT user_id FROM member m WHERE organization_id = ?
     AND NOT EXISTS (SELECT 1 FROM member o WHERE o.user_id = m.user_id AND o.organization_id <> m.organization_id))`,
  `DELETE FROM recovery_code WHERE user_id IN (SELECT user_id FROM member m WHERE organization_id = ?
     AND NOT EXISTS (SELECT 1 FROM member o WHERE o.user_id = m.user_id AND o.organization_id <> m.organization_id))`,
  `DELETE FROM pending_sign_in WHERE user_id IN (SELECT user_id FROM member m WHERE organization_id = ?
     AND NOT EXISTS (SELECT 1 FROM member o WHERE o.user_id = m.user_id AND o.organization_id <> m.organization_id))`,
  `DELETE FROM device WHERE user_id IN (SELECT user_id FROM member m WHERE organization_id = ?
     AND NOT EXISTS (SELECT 1 FROM member o WHERE o.user_id = m.user_id AND o.organization_id <> m.organization_id))`,
  `DELETE FROM session WHERE user_id IN (SELECT user_id FROM member m WHERE organization_id = ?
     AND NOT EXISTS (SELECT 1 FROM member o WHERE o.user_id = m.user_id AND o.organization_id <> m.organization_id))`,
  `DELETE FROM user WHERE id IN (SELECT user_id FROM member m WHERE organization_id = ?
     AND NOT EXISTS (SELECT 1 FROM member o WHERE o.user_id = m.user_id AND o.organization_id <> m.organization_id))`,
  'DELETE FROM member WHERE organization_id = ?',
  'DELETE FROM project WHERE organization_id = ?',
  'DELETE FROM organization WHERE id = ?',
];

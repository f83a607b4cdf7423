import { lookup } from '../../mail/store/engine/types.ts';

/** Rows of one page. */
export const SECTION_PAGE = 200;

/** A part of an organization's data. `sql`: columns by name, none of them a secret; the first is the position of the row. */
interface ExportSection {
  name: string;
  sql: string;
  /** Position before the first row. */
  first: number | '';
  /** Columns with JSON. */
  json?: readonly string[];
}

/** Everything that an organization has, except mail and secrets. */
export const EXPORT_SECTIONS: readonly ExportSection[] = [
  {
    name: 'organization',
    first: 0,
    sql: 'SELECT id AS position, slug, name, created_at, second_factor, confirm_forwards FROM organization WHERE id = ?1 AND id > ?2 LIMIT ?3',
  },
  {
    name: 'members',
    first: 0,
    sql: `SELECT m.user_id AS position, u.email, u.display_name, m.role, m.created_at FROM member m JOIN user u ON u.id = m.user_id
      WHERE m.organization_id = ?1 AND m.user_id > ?2 ORDER BY m.user_id LIMIT ?3`,
  },
  {
    name: 'domains',
    first: 0,
    sql: 'SELECT id AS position, name, state, created_at, verified_at, paused_at FROM domain WHERE tenant = ?1 AND id > ?2 ORDER BY id LIMIT ?3',
  },
  {
    name: 'mailboxes',
    first: 0,
    sql: `SELECT id AS position, address, state, quota_bytes, quota_count, used_bytes, used_count, created_at FROM account
      WHERE tenant = ?1 AND id > ?2 ORDER BY id LIMIT ?3`,
  },
  {
    name: 'identities',
    first: 0,
    sql: `SELECT i.id AS position, a.address AS mailbox, i.email, i.name, i.reply_to, i.bcc, i.text_signature, i.html_signature
      FROM identity i JOIN account a ON a.id = i.account_id WHERE a.tenant = ?1 AND i.id > ?2 ORDER BY i.id LIMIT ?3`,
    json: ['reply_to', 'bcc'],
  },
  {
    name: 'aliases',
    first: 0,
    sql: `SELECT id AS position, key AS address, note, expires_at, max_messages, used, created_at FROM alias
      WHERE tenant = ?1 AND id > ?2 ORDER BY id LIMIT ?3`,
  },
  {
    name: 'aliasTargets',
    first: '',
    sql: `SELECT a.key || ' ' || m.address AS position, a.key AS alias, m.address AS mailbox FROM alias_account t
      JOIN alias a ON a.id = t.alias_id JOIN account m ON m.id = t.account_id
      WHERE a.tenant = ?1 AND a.key || ' ' || m.address > ?2 ORDER BY 1 LIMIT ?3`,
  },
  {
    name: 'forwarders',
    first: 0,
    sql: `SELECT id AS position, source, destination, keep_local, stopped, created_at FROM forwarder
      WHERE organization_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3`,
  },
  {
    name: 'senderRules',
    first: 0,
    sql: `SELECT r.id AS position, a.address AS mailbox, r.outgoing, r.kind, r.pattern, r.note, r.created_at FROM sender_rule r
      LEFT JOIN account a ON a.id = r.account_id WHERE r.tenant = ?1 AND r.id > ?2 ORDER BY r.id LIMIT ?3`,
  },
  {
    name: 'filter',
    first: 0,
    sql: 'SELECT tenant AS position, dmarc, rejects FROM mail_policy WHERE tenant = ?1 AND tenant > ?2 LIMIT ?3',
  },
  {
    name: 'retention',
    first: 0,
    sql: 'SELECT tenant AS position, deleted_days, trash_days, junk_days FROM retention_setting WHERE tenant = ?1 AND tenant > ?2 LIMIT ?3',
  },
  {
    name: 'retentionRules',
    first: '',
    sql: 'SELECT folder AS position, folder, days FROM retention_rule WHERE tenant = ?1 AND folder > ?2 ORDER BY folder LIMIT ?3',
  },
  {
    name: 'agentPolicies',
    first: 0,
    sql: `SELECT id AS position, name, preset, rules, created_at, changed_at FROM agent_policy
      WHERE tenant = ?1 AND id > ?2 ORDER BY id LIMIT ?3`,
    json: ['rules'],
  },
  {
    name: 'tokens',
    first: 0,
    sql: `SELECT id AS position, name, actions, mailboxes, mode, created_at, expires_at, last_used_at, revoked_at FROM token
      WHERE organization_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3`,
  },
  {
    name: 'apiKeys',
    first: 0,
    sql: `SELECT id AS position, name, allowed_domains, created_at, expires_at, last_used_at, revoked_at FROM api_key
      WHERE organization_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3`,
  },
  {
    name: 'webhooks',
    first: 0,
    sql: `SELECT w.listener_id AS position, a.address AS mailbox, w.url, w.created_at, w.disabled_at FROM webhook w
      LEFT JOIN account a ON a.id = w.account_id WHERE w.organization_id = ?1 AND w.listener_id > ?2 ORDER BY w.listener_id LIMIT ?3`,
  },
  {
    name: 'routes',
    first: 0,
    sql: `SELECT id AS position, receiver, sender, use, host, port, tls, username, created_at FROM outbound_route
      WHERE tenant = ?1 AND id > ?2 ORDER BY id LIMIT ?3`,
  },
  {
    name: 'suppressions',
    first: '',
    sql: 'SELECT key AS position, key AS address, reason, source, at FROM suppression WHERE tenant = ?1 AND key > ?2 ORDER BY key LIMIT ?3',
  },
  {
    name: 'audit',
    first: 0,
    sql: `SELECT id AS position, at, actor, actor_name, endpoint, ip, operation, target, outcome, detail FROM audit
      WHERE organization_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3`,
    json: ['detail'],
  },
];

type ExportRow = Record<string, string | number | null>;

/** A page of a section, as the database has it. `section`: number in {@link EXPORT_SECTIONS}. */
export const exportPage = lookup(
  'organization-export-page',
  async (
    rx,
    { tenant, section, after }: { tenant: number; section: number; after: string | number },
  ): Promise<ExportRow[]> => {
    const sql = EXPORT_SECTIONS[section]?.sql;
    return sql === undefined ? [] : rx.all<ExportRow>(sql, tenant, after, SECTION_PAGE);
  },
);

/** Number of the organization with a slug. */
export const organizationBySlug = lookup('organization-by-slug', (rx, { slug }: { slug: string }) =>
  rx.get<{ id: number }>('SELECT id FROM organization WHERE slug = ?', slug),
);

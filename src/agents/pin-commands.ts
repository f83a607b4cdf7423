import { sendNotices, type SystemNotice } from '../../mail/delivery/notice.ts';
import { command } from '../../mail/store/engine/types.ts';

/**
 * Stores the list of tools. `change` is the difference to `before`, which the caller read; owners of organizations with
 * agents are notified of it. `again`: another writer was faster.
 */
export const noteCatalogue = command(
  'record-catalogue',
  async (
    tx,
    input: { before: string | null; tools: string; change: string | null },
    stamp,
  ): Promise<{ kind: 'noted' | 'again' }> => {
    const there = await tx.get<{ tools: string }>('SELECT tools FROM catalogue WHERE id = 1');
    if ((there?.tools ?? null) !== input.before) return { kind: 'again' };
    await tx.run(
      `INSERT INTO catalogue (id, tools, changed_at) VALUES (1, ?1, ?2)
       ON CONFLICT (id) DO UPDATE SET tools = ?1, changed_at = ?2`,
      input.tools,
      stamp.now,
    );
    if (input.change === null) return { kind: 'noted' };
    await tx.run(
      `INSERT INTO catalogue_change (organization_id, change) SELECT id, ?1 FROM organization o
       WHERE o.claimed_at IS NOT NULL AND o.frozen_at IS NULL
         AND EXISTS (SELECT 1 FROM token t WHERE t.organization_id = o.id AND t.revoked_at IS NULL
           AND (t.expires_at IS NULL OR t.expires_at > ?2))
       ON CONFLICT (organization_id) DO UPDATE SET change = ?1`,
      input.change,
      stamp.now,
    );
    return { kind: 'noted' };
  },
);

/** Sends the notices about changed tools, once. */
export const notifyToolsChanged = command(
  'notify-tools-changed',
  async (
    tx,
    {
      organization,
      change,
      notices,
    }: { organization: number; change: string; notices: readonly SystemNotice<'tools-changed'>[] },
    stamp,
  ): Promise<{ notified: boolean }> => {
    const { changes } = await tx.run(
      'DELETE FROM catalogue_change WHERE organization_id = ? AND change = ?',
      organization,
      change,
    );
    if (changes === 0) return { notified: false };
    await sendNotices(tx, notices, stamp);
    return { notified: true };
  },
);

/** Sends the notices with the newest hash of an audit log, once a row. */
export const notifyAuditHead = command(
  'notify-audit-head',
  async (
    tx,
    {
      organization,
      audit,
      notices,
    }: { organization: number; audit: number; notices: readonly SystemNotice<'audit-head'>[] },
    stamp,
  ): Promise<{ notified: boolean }> => {
    const { changes } = await tx.run(
      `INSERT INTO audit_notification (organization_id, audit_id, notified_at) VALUES (?1, ?2, ?3)
       ON CONFLICT (organization_id) DO UPDATE SET audit_id = ?2, notified_at = ?3 WHERE audit_notification.audit_id < ?2`,
      organization,
      audit,
      stamp.now,
    );
    if (changes === 0) return { notified: false };
    await sendNotices(tx, notices, stamp);
    return { notified: true };
  },
);

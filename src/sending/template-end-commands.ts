import { noteRuleChange } from '../../mail/store/agent-rule-change.ts';
import type { Read, Stamp, Write } from '../../mail/store/engine/types.ts';

/** Characters of a deleted template that are kept; a longer one does not come back. */
const MOST_KEPT = 128 * 1024;

export interface StoredVersion {
  version: number;
  subject: string;
  text: string | null;
  html: string | null;
  created_by: string;
  created_at: number;
}

/** A template that an agent deleted, with the versions that undoing may need; none: they were too long to be kept. */
export interface StoredTemplate {
  id: number;
  name: string;
  created_at: number;
  versions: StoredVersion[];
}

/** Writes down a template that an agent is about to delete. `by` null or undefined: a person. */
export async function noteTemplateEnd(
  tx: Write,
  { organization: tenant, id, by }: { organization: number; id: number; by?: string | null },
  stamp: Stamp,
): Promise<void> {
  if (typeof by !== 'string') return;
  const row = await tx.get<Omit<StoredTemplate, 'versions'>>(
    'SELECT id, name, created_at FROM template WHERE id = ? AND organization_id = ?',
    id,
    tenant,
  );
  if (row === undefined) return;
  const whole = { ...row, versions: await lastVersions(tx, id, by) };
  const before = JSON.stringify(whole).length > MOST_KEPT ? { ...row, versions: [] } : whole;
  await noteRuleChange(tx, { tenant, by, what: 'template' }, { before, after: null }, stamp);
}

/** The newest, and the newest of somebody else: it may have rewritten the template before. */
function lastVersions(rx: Read, id: number, by: string): Promise<StoredVersion[]> {
  return rx.all<StoredVersion & Record<string, string | number | null>>(
    `SELECT version, subject, text, html, created_by, created_at FROM template_version WHERE template_id = ?1 AND version IN (
       (SELECT max(version) FROM template_version WHERE template_id = ?1),
       (SELECT max(version) FROM template_version WHERE template_id = ?1 AND created_by <> ?2)) ORDER BY version`,
    id,
    by,
  );
}

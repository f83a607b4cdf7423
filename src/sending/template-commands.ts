import { command, lookup, type Read, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import type { TemplateTexts } from './template-text.ts';
import {
  onRuleChange,
  type RuleUndoRequest,
  type RuleUndoResult,
  undoRules,
} from '../../mail/agents/undo/rule-changes.ts';

/** Templates in one organization. */
export const MAX_TEMPLATES = 1_000;
/** Versions stored for one template; the oldest is deleted. */
const MAX_VERSIONS = 100;

export interface NewTemplate extends TemplateTexts {
  organization: number;
  name: string;
  /** Public id of the author. */
  by: string;
}

export type Template = TemplateTexts & {
  id: number;
  name: string;
  version: number;
  newest: number;
  createdAt: number;
  /** Time of this version. */
  writtenAt: number;
};

export const createTemplate = command(
  'create-template',
  async (tx, input: NewTemplate, stamp): Promise<{ kind: 'created'; id: number } | { kind: 'exists' | 'too-many' }> => {
    const { organization, name } = input;
    const same = await tx.get(
      'SELECT 1 AS there FROM template WHERE organization_id = ? AND name = ?',
      organization,
      name,
    );
    if (same !== undefined) return { kind: 'exists' };
    const all = await tx.get<{ n: number }>(
      'SELECT count(*) AS n FROM template WHERE organization_id = ?',
      organization,
    );
    if ((all?.n ?? 0) >= MAX_TEMPLATES) return { kind: 'too-many' };
    const { id } = await tx.run(
      'INSERT INTO template (organization_id, name, version, created_at) VALUES (?, ?, 1, ?)',
      organization,
      name,
      stamp.now,
    );
    await tx.run(ADD_VERSION, id, 1, input.subject, input.text, input.html, input.by, stamp.now);
    return { kind: 'created', id };
  },
);

/** Values: template, version, subject, text, html, author, ms UTC. */
export const ADD_VERSION = `INSERT INTO template_version (template_id, version, subject, text, html, created_by, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;

/** Adds a new version; older ones can still be used by number. */
export const updateTemplate = command(
  'update-template',
  async (
    tx,
    input: TemplateTexts & { organization: number; id: number; by: string },
    stamp,
  ): Promise<{ kind: 'updated'; version: number } | { kind: 'missing' }> => {
    const row = await tx.get<{ version: number }>(
      'UPDATE template SET version = version + 1 WHERE id = ? AND organization_id = ? RETURNING version',
      input.id,
      input.organization,
    );
    if (row === undefined) return { kind: 'missing' };
    const { version } = row;
    await addVersion(tx, { ...input, version }, stamp);
    return { kind: 'updated', version };
  },
);

/** Adds the newest version and deletes those beyond the limit. */
export async function addVersion(
  tx: Write,
  { id, version, subject, text, html, by }: TemplateTexts & { id: number; version: number; by: string },
  { now }: Stamp,
): Promise<void> {
  await tx.run(ADD_VERSION, id, version, subject, text, html, by, now);
  await tx.run('DELETE FROM template_version WHERE template_id = ? AND version <= ?', id, version - MAX_VERSIONS);
}

/** Deletes a template with its versions; `by` is the deleting agent. */
export const deleteTemplate = command(
  'delete-template',
  async (
    tx,
    input: { organization: number; id: number; by?: string | null },
    stamp,
  ): Promise<{ kind: 'deleted' | 'missing' }> => {
    await recordTemplateDeletion(tx, input, stamp);
    const { changes } = await tx.run(
      'DELETE FROM template WHERE id = ? AND organization_id = ?',
      input.id,
      input.organization,
    );
    if (changes === 1) await tx.run('DELETE FROM template_version WHERE template_id = ?', input.id);
    return { kind: changes === 1 ? 'deleted' : 'missing' };
  },
);

const COLUMNS = `t.id, t.name, v.version, t.version AS newest, v.subject, v.text, v.html, t.created_at AS "createdAt",
  v.created_at AS "writtenAt"`;

/** Finds one version of a template, by default the newest. */
export const findTemplate = lookup(
  'find-template',
  (rx, input: { organization: number; id: number; version: number | null }): Promise<Template | undefined> =>
    rx.get<Template>(
      `SELECT ${COLUMNS} FROM template t JOIN template_version v ON v.template_id = t.id
         AND v.version = coalesce(?, t.version) WHERE t.id = ? AND t.organization_id = ?`,
      input.version,
      input.id,
      input.organization,
    ),
);

/** Lists templates by id, after `after`. */
export const listTemplates = lookup(
  'list-templates',
  (rx, input: { organization: number; after: number; limit: number }): Promise<Template[]> =>
    rx.all<Template>(
      `SELECT ${COLUMNS} FROM template t JOIN template_version v ON v.template_id = t.id AND v.version = t.version
       WHERE t.organization_id = ? AND t.id > ? ORDER BY t.id LIMIT ?`,
      input.organization,
      input.after,
      input.limit,
    ),
);

/** Lists ids and names of the templates of an organization. */
export const templateNames = lookup(
  'template-names',
  (rx, input: { organization: number }): Promise<{ id: number; name: string }[]> =>
    rx.all('SELECT id, name FROM template WHERE organization_id = ?', input.organization),
);

/** Characters of a deleted template stored for undo; longer ones cannot be restored. */
const MAX_STORED_CHARS = 128 * 1024;

export interface StoredVersion {
  version: number;
  subject: string;
  text: string | null;
  html: string | null;
  created_by: string;
  created_at: number;
}

/** A template deleted by an agent, with the versions needed for undo; empty if they were too long. */
export interface StoredTemplate {
  id: number;
  name: string;
  created_at: number;
  versions: StoredVersion[];
}

/** Records a template before an agent deletes it. `by` null or undefined: a person. */
async function recordTemplateDeletion(
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
  const before = JSON.stringify(whole).length > MAX_STORED_CHARS ? { ...row, versions: [] } : whole;
  await onRuleChange(tx, { tenant, by, what: 'template' }, { before, after: null }, stamp);
}

/** Reads the newest version, and the newest by another author: the agent may have rewritten it before. */
function lastVersions(rx: Read, id: number, by: string): Promise<StoredVersion[]> {
  return rx.all<StoredVersion & Record<string, string | number | null>>(
    `SELECT version, subject, text, html, created_by, created_at FROM template_version WHERE template_id = ?1 AND version IN (
       (SELECT max(version) FROM template_version WHERE template_id = ?1),
       (SELECT max(version) FROM template_version WHERE template_id = ?1 AND created_by <> ?2)) ORDER BY version`,
    id,
    by,
  );
}

type Newest = { id: number; version: number; subject: string; text: string | null; html: string | null };

/**
 * Undoes an agent's changes to templates: restores deleted ones, adds the previous version again where the agent wrote the
 * newest, and deletes templates that it created.
 */
export const undoTemplates = command(
  'undo-templates',
  async (tx, input: RuleUndoRequest, stamp): Promise<RuleUndoResult> => {
    const done = await undoRules<StoredTemplate>(tx, input, 'template', async ({ before }) =>
      before === null ? true : restore(tx, input.tenant, before),
    );
    const written = await tx.all<Newest>(
      `SELECT t.id, t.version, v.subject, v.text, v.html FROM template t
     JOIN template_version v ON v.template_id = t.id AND v.version = t.version
     WHERE t.organization_id = ? AND v.created_by = ? AND v.created_at >= ?`,
      input.tenant,
      input.who,
      input.since,
    );
    for (const newest of written) {
      const was = await revertVersion(tx, newest, input, stamp);
      if (was !== 'same') done[was]++;
    }
    return done;
  },
);

/** Restores a deleted template, unless its name is taken, the limit is reached, or its texts were not stored. */
async function restore(tx: Write, organization: number, row: StoredTemplate): Promise<boolean> {
  const { id, name, versions, created_at: createdAt } = row;
  const newest = versions.at(-1);
  if (newest === undefined || !(await canRestore(tx, organization, name))) return false;
  await tx.run(
    'INSERT INTO template (id, organization_id, name, version, created_at) VALUES (?, ?, ?, ?, ?)',
    id,
    organization,
    name,
    newest.version,
    createdAt,
  );
  for (const { version, subject, text, html, created_by: by, created_at: at } of versions) {
    await tx.run(ADD_VERSION, id, version, subject, text, html, by, at);
  }
  return true;
}

async function canRestore(rx: Read, organization: number, name: string): Promise<boolean> {
  const all = await rx.get<{ n: number; taken: number | null }>(
    'SELECT count(*) AS n, sum(name = ?) AS taken FROM template WHERE organization_id = ?',
    name,
    organization,
  );
  return (all?.n ?? 0) < MAX_TEMPLATES && (all?.taken ?? 0) === 0;
}

/** Reverts to the version before the agent's, as a new version. `kept`: older versions were already deleted. */
async function revertVersion(
  tx: Write,
  newest: Newest,
  about: RuleUndoRequest,
  stamp: Stamp,
): Promise<'undone' | 'kept' | 'same'> {
  const { id } = newest;
  const before = await versionBefore(tx, id, about);
  if (before === undefined) return (await hasFirstVersion(tx, id)) ? drop(tx, id) : 'kept';
  const { subject, text, html, created_by: by } = before;
  if (subject === newest.subject && text === newest.text && html === newest.html) return 'same';
  const version = newest.version + 1;
  await tx.run('UPDATE template SET version = ? WHERE id = ?', version, id);
  await addVersion(tx, { id, version, subject, text, html, by }, stamp);
  return 'undone';
}

function versionBefore(rx: Read, id: number, { who, since }: RuleUndoRequest): Promise<StoredVersion | undefined> {
  return rx.get<StoredVersion & Record<string, string | number | null>>(
    `SELECT version, subject, text, html, created_by, created_at FROM template_version
     WHERE template_id = ? AND NOT (created_by = ? AND created_at >= ?) ORDER BY version DESC LIMIT 1`,
    id,
    who,
    since,
  );
}

/** True if the first version still exists. */
async function hasFirstVersion(rx: Read, id: number): Promise<boolean> {
  const first = await rx.get('SELECT 1 AS there FROM template_version WHERE template_id = ? AND version = 1', id);
  return first !== undefined;
}

async function drop(tx: Write, id: number): Promise<'undone'> {
  await tx.run('DELETE FROM template_version WHERE template_id = ?', id);
  await tx.run('DELETE FROM template WHERE id = ?', id);
  return 'undone';
}

import { command, query, type Read, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { noteTemplateEnd } from './template-end-commands.ts';
import type { TemplateTexts } from './template-text.ts';

/** Templates of an organization. */
export const MOST_TEMPLATES = 1_000;
/** Versions that are kept of one; the oldest goes. */
const KEPT = 100;

export interface NewTemplate extends TemplateTexts {
  organization: number;
  name: string;
  /** Public id of who wrote it. */
  by: string;
}

export interface Template extends TemplateTexts {
  id: number;
  name: string;
  version: number;
  newest: number;
  createdAt: number;
  /** Of this version. */
  writtenAt: number;
}

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
    if ((all?.n ?? 0) >= MOST_TEMPLATES) return { kind: 'too-many' };
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

/** Template, version, subject, text, html, who, ms UTC. */
export const ADD_VERSION = `INSERT INTO template_version (template_id, version, subject, text, html, created_by, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;

/** Writes a new version; the older ones can still be named. */
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

/** Adds a version that is the newest, and makes room for it. */
export async function addVersion(
  tx: Write,
  { id, version, subject, text, html, by }: TemplateTexts & { id: number; version: number; by: string },
  { now }: Stamp,
): Promise<void> {
  await tx.run(ADD_VERSION, id, version, subject, text, html, by, now);
  await tx.run('DELETE FROM template_version WHERE template_id = ? AND version <= ?', id, version - KEPT);
}

/** Deletes a template with its versions; `by` is the agent that does it. */
export const deleteTemplate = command(
  'delete-template',
  async (
    tx,
    input: { organization: number; id: number; by?: string | null },
    stamp,
  ): Promise<{ kind: 'deleted' | 'missing' }> => {
    await noteTemplateEnd(tx, input, stamp);
    const { changes } = await tx.run(
      'DELETE FROM template WHERE id = ? AND organization_id = ?',
      input.id,
      input.organization,
    );
    if (changes === 1) await tx.run('DELETE FROM template_version WHERE template_id = ?', input.id);
    return { kind: changes === 1 ? 'deleted' : 'missing' };
  },
);

type Columns = {
  id: number;
  name: string;
  version: number;
  newest: number;
  subject: string;
  text: string | null;
  html: string | null;
  created_at: number;
  written_at: number;
};

const COLUMNS = `t.id, t.name, v.version, t.version AS newest, v.subject, v.text, v.html, t.created_at,
  v.created_at AS written_at`;

/** One version of a template, by default the newest. */
export const findTemplate = query(
  'find-template',
  async (
    rx: Read,
    input: { organization: number; id: number; version: number | null },
  ): Promise<Template | undefined> => {
    const row = await rx.get<Columns>(
      `SELECT ${COLUMNS} FROM template t JOIN template_version v ON v.template_id = t.id
         AND v.version = coalesce(?, t.version) WHERE t.id = ? AND t.organization_id = ?`,
      input.version,
      input.id,
      input.organization,
    );
    return row && templateOf(row);
  },
);

/** In the order of their making, from after `after`. */
export const listTemplates = query(
  'list-templates',
  async (rx, input: { organization: number; after: number; limit: number }): Promise<Template[]> => {
    const rows = await rx.all<Columns>(
      `SELECT ${COLUMNS} FROM template t JOIN template_version v ON v.template_id = t.id AND v.version = t.version
       WHERE t.organization_id = ? AND t.id > ? ORDER BY t.id LIMIT ?`,
      input.organization,
      input.after,
      input.limit,
    );
    return rows.map(templateOf);
  },
);

/** What the templates of an organization are called. */
export const templateNames = query(
  'template-names',
  (rx, input: { organization: number }): Promise<{ id: number; name: string }[]> =>
    rx.all('SELECT id, name FROM template WHERE organization_id = ?', input.organization),
);

function templateOf({ created_at: createdAt, written_at: writtenAt, ...rest }: Columns): Template {
  return { ...rest, createdAt, writtenAt };
}

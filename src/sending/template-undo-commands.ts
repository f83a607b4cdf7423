import { type RulesToUndo, type RulesUndone, undoRules } from '../../mail/store/agent-rule-change.ts';
import { command, type Read, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { ADD_VERSION, addVersion, MOST_TEMPLATES } from './template-commands.ts';
import type { StoredTemplate, StoredVersion } from './template-end-commands.ts';

type Newest = { id: number; version: number; subject: string; text: string | null; html: string | null };

/**
 * Undoes what an agent did to templates of an organization: deleted ones are back, and where it wrote the newest version
 * the one before it is sent again, as a further version. What it made itself goes.
 */
export const undoTemplates = command('undo-templates', async (tx, input: RulesToUndo, stamp): Promise<RulesUndone> => {
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
    const was = await takeBack(tx, newest, input, stamp);
    if (was !== 'same') done[was]++;
  }
  return done;
});

/** Not where another one has its name by now, there are as many as there may be, or its texts were not kept. */
async function restore(tx: Write, organization: number, row: StoredTemplate): Promise<boolean> {
  const { id, name, versions, created_at: createdAt } = row;
  const newest = versions.at(-1);
  if (newest === undefined || !(await fits(tx, organization, name))) return false;
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

async function fits(rx: Read, organization: number, name: string): Promise<boolean> {
  const all = await rx.get<{ n: number; taken: number | null }>(
    'SELECT count(*) AS n, sum(name = ?) AS taken FROM template WHERE organization_id = ?',
    name,
    organization,
  );
  return (all?.n ?? 0) < MOST_TEMPLATES && (all?.taken ?? 0) === 0;
}

/** Versions that somebody may have named stay as they are. `kept`: those from before were pushed out. */
async function takeBack(
  tx: Write,
  newest: Newest,
  about: RulesToUndo,
  stamp: Stamp,
): Promise<'undone' | 'kept' | 'same'> {
  const { id } = newest;
  const before = await versionBefore(tx, id, about);
  if (before === undefined) return (await isWholly(tx, id)) ? drop(tx, id) : 'kept';
  const { subject, text, html, created_by: by } = before;
  if (subject === newest.subject && text === newest.text && html === newest.html) return 'same';
  const version = newest.version + 1;
  await tx.run('UPDATE template SET version = ? WHERE id = ?', version, id);
  await addVersion(tx, { id, version, subject, text, html, by }, stamp);
  return 'undone';
}

function versionBefore(rx: Read, id: number, { who, since }: RulesToUndo): Promise<StoredVersion | undefined> {
  return rx.get<StoredVersion & Record<string, string | number | null>>(
    `SELECT version, subject, text, html, created_by, created_at FROM template_version
     WHERE template_id = ? AND NOT (created_by = ? AND created_at >= ?) ORDER BY version DESC LIMIT 1`,
    id,
    who,
    since,
  );
}

/** Its first version is still there. */
async function isWholly(rx: Read, id: number): Promise<boolean> {
  const first = await rx.get('SELECT 1 AS there FROM template_version WHERE template_id = ? AND version = 1', id);
  return first !== undefined;
}

async function drop(tx: Write, id: number): Promise<'undone'> {
  await tx.run('DELETE FROM template_version WHERE template_id = ?', id);
  await tx.run('DELETE FROM template WHERE id = ?', id);
  return 'undone';
}

import { z } from 'zod';
import { EXPORT_SECTIONS, exportPage, organizationBySlug, SECTION_PAGE } from '../../organizations/export-sections.ts';
import { publicId } from '../../core/ids.ts';
import { operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { Line } from '../../core/schemas.ts';

const Cursor = z.union([z.string().max(2_000), z.number()]);

export const exportOrganizationStep = operation({
  name: 'export_organization_step',
  title: 'Export a page of an organization',
  toolset: 'org',
  reach: 'organization',
  action: 'read',
  socketOnly: true,
  description: 'Returns a page of everything that an organization has, except mail and secrets.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    organization: Line(1, 200).describe('Slug of the organization'),
    section: z.int().min(0).max(EXPORT_SECTIONS.length).describe('Number of the section').default(0),
    after: Cursor.describe('next of the page before').optional(),
  }),
  output: z.object({
    section: z.string(),
    rows: z.array(z.record(z.string(), z.unknown())),
    next: z.object({ section: z.number(), after: Cursor.optional() }).nullable(),
  }),
  async run(call, { organization, section, after }) {
    const found = await call.store.read(organizationBySlug, { slug: organization });
    const part = EXPORT_SECTIONS[section];
    if (found === undefined || part === undefined) {
      return refuse('not_found', `No organization ${organization} on this server. List them with list_organizations.`);
    }
    if (section === 0) await call.note(publicId('organization', found.id), { organization });
    const rows = await call.store.read(exportPage, { tenant: found.id, section, after: after ?? part.first });
    const last = rows.at(-1)?.['position'] ?? undefined;
    const following = section + 1 < EXPORT_SECTIONS.length ? { section: section + 1 } : null;
    return {
      section: part.name,
      rows: rows.map((row) => readable(row, part.json ?? [])),
      next: rows.length === SECTION_PAGE && last !== undefined ? { section, after: last } : following,
    };
  },
});

/** A row without its position, times as text and JSON as values. */
function readable(row: Record<string, string | number | null>, json: readonly string[]): Record<string, unknown> {
  const entries = Object.entries(row).flatMap(([name, value]): [string, unknown][] => {
    if (name === 'position') return [];
    if (typeof value === 'number' && /(?:_at|^at)$/.test(name)) return [[name, new Date(value).toISOString()]];
    return [[name, typeof value === 'string' && json.includes(name) ? parsed(value) : value]];
  });
  return Object.fromEntries(entries);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

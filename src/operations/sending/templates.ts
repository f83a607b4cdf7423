import { z } from 'zod';
import { publicId, rowId } from '../../core/ids.ts';
import {
  createTemplate,
  deleteTemplate,
  findTemplate,
  listTemplates,
  type Template,
  updateTemplate,
} from '../../sending/template-commands.ts';
import { hasStrayBraces, type TemplateTexts, variablesOf } from '../../sending/template-text.ts';
import { noMailboxes } from '../affected-mailboxes.ts';
import { agentOf } from '../../core/caller.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, isoOf, Line, nextCursor, Page } from '../../core/schemas.ts';

const MAX_BODY_CHARS = 500_000;

const Shown = z.object({
  id: z.string(),
  name: z.string(),
  version: z.number(),
  newestVersion: z.number(),
  subject: z.string(),
  variables: z.array(z.string()),
  createdAt: z.string(),
  writtenAt: z.string(),
});
const Whole = Shown.extend({ text: z.string().nullable(), html: z.string().nullable() });

const TEXTS = {
  subject: Line(0, 998).describe('Subject'),
  text: z.string().max(MAX_BODY_CHARS).describe('Plain text body').optional(),
  html: z.string().max(MAX_BODY_CHARS).describe('HTML body').optional(),
};

export const createEmailTemplate = operation({
  name: 'create_email_template',
  title: 'Create an email template',
  toolset: 'email',
  reach: 'organization',
  action: 'manage',
  description:
    'Stores subject, text and html with {{variables}} under a name, for send_email and the send API. Values are escaped in html; a missing variable is an error when sending.',
  hints: {},
  input: z.strictObject({ name: Line(1, 80).describe('Name of the template'), ...TEXTS }),
  output: z.object({ template: Whole }),
  rest: { method: 'POST', path: '/api/email/templates', status: 201 },
  async run(call, { name, ...texts }) {
    const input = { organization: call.tenant, name, by: call.caller.actor, ...written(texts) };
    const done = await call.change(createTemplate, input, name);
    switch (done.kind) {
      case 'exists':
        return refuse(
          'already_exists',
          `A template named ${name} already exists: change it with update_email_template.`,
        );
      case 'too-many':
        return refuse('conflict', 'Limit reached: an organization has at most 1,000 templates. Delete one first.');
      case 'created':
        return { template: await whole(call, done.id) };
    }
  },
});

export const updateEmailTemplate = operation({
  name: 'update_email_template',
  title: 'Update an email template',
  toolset: 'email',
  reach: 'organization',
  action: 'manage',
  description:
    'Stores a new version of a template, which is used from now on unless a version is named. The last 100 versions stay.',
  hints: {},
  rule: noMailboxes,
  input: z.strictObject({ templateId: Id('template'), ...TEXTS }),
  output: z.object({ template: Whole }),
  rest: { method: 'PUT', path: '/api/email/templates/:templateId' },
  async run(call, { templateId, ...texts }) {
    const id = rowId('template', templateId) ?? 0;
    const input = { organization: call.tenant, id, by: call.caller.actor, ...written(texts) };
    const done = await call.change(updateTemplate, input, templateId);
    return done.kind === 'missing' ? notFound('template') : { template: await whole(call, id) };
  },
});

export const listEmailTemplates = operation({
  name: 'list_email_templates',
  title: 'List email templates',
  toolset: 'email',
  reach: 'organization',
  action: 'read',
  description: 'Lists the email templates of this organization with their variables. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject(Page),
  output: z.object({ templates: z.array(Shown), nextCursor }),
  rest: { method: 'GET', path: '/api/email/templates' },
  async run({ store, tenant }, { cursor = '0', limit }) {
    const after = Number(cursor.replace(/^tpl_/, '')) || 0;
    const rows = await store.read(listTemplates, { organization: tenant, after, limit: limit + 1 });
    const page = rows.slice(0, limit);
    const next = rows.length > limit ? String(page.at(-1)?.id ?? 0) : null;
    return { templates: page.map(shown), nextCursor: next };
  },
});

export const getEmailTemplate = operation({
  name: 'get_email_template',
  title: 'Get an email template',
  toolset: 'email',
  reach: 'organization',
  action: 'read',
  description: 'Returns one version of a template with its texts. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    templateId: Id('template'),
    version: z.number().int().min(1).max(1_000_000).describe('Default: the newest').optional(),
  }),
  output: z.object({ template: Whole }),
  rest: { method: 'GET', path: '/api/email/templates/:templateId' },
  async run(call, { templateId, version }) {
    return { template: await whole(call, rowId('template', templateId) ?? 0, version) };
  },
});

export const deleteEmailTemplate = operation({
  name: 'delete_email_template',
  title: 'Delete an email template',
  toolset: 'email',
  reach: 'organization',
  action: 'manage',
  description: 'Deletes a template with all versions; sending with it fails from now on. Scheduled mail stays.',
  hints: { destructive: true, idempotent: true },
  rule: noMailboxes,
  input: z.strictObject({ templateId: Id('template') }),
  output: z.object({ deleted: z.literal(true) }),
  rest: { method: 'DELETE', path: '/api/email/templates/:templateId' },
  async run(call, { templateId }) {
    const id = rowId('template', templateId) ?? 0;
    const input = { organization: call.tenant, id, by: agentOf(call.caller) };
    const done = await call.change(deleteTemplate, input, templateId);
    return done.kind === 'missing' ? notFound('template') : { deleted: true as const };
  },
});

function written({
  subject,
  text,
  html,
}: {
  subject: string;
  text?: string | undefined;
  html?: string | undefined;
}): TemplateTexts {
  if (text === undefined && html === undefined) wrong('text', 'text or html is needed');
  for (const [path, one] of Object.entries({ subject, text, html })) {
    if (one !== undefined && hasStrayBraces(one)) wrong(path, 'has {{ or }} outside a variable such as {{name}}');
  }
  return { subject, text: text ?? null, html: html ?? null };
}

function wrong(path: string, message: string): never {
  return refuse('invalid_arguments', `${path}: ${message}.`, { issues: [{ path, message }] });
}

async function whole({ store, tenant }: Call, id: number, version?: number): Promise<z.output<typeof Whole>> {
  const found = await store.read(findTemplate, { organization: tenant, id, version: version ?? null });
  return found === undefined ? notFound('template') : { ...shown(found), text: found.text, html: found.html };
}

function shown(row: Template): z.output<typeof Shown> {
  return {
    id: publicId('template', row.id),
    name: row.name,
    version: row.version,
    newestVersion: row.newest,
    subject: row.subject,
    variables: variablesOf(row),
    createdAt: isoOf(row.createdAt),
    writtenAt: isoOf(row.writtenAt),
  };
}

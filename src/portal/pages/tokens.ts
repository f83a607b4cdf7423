import type { listProjects } from '../../operations/organization/organization.ts';
import type { createAgentToken, listAgentTokens } from '../../operations/organization/tokens.ts';
import type { listServicesOf } from '../../operations/services/services.ts';
import type { listEmails } from '../../operations/mailboxes/list.ts';
import { catalogueSha256 } from '../../core/catalogue-pin.ts';
import { checkboxes, field, select } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { operationAction, formStateFor, type Page, actionForm, type PageState, confirmedAction } from '../page.ts';
import { cursorOf, dateOnly, emptyState, pageHead, nextPage, secret, table, tag } from '../components.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import { endOfDay, expiryField } from './expiry.ts';

type Token = OutputOf<typeof listAgentTokens>['tokens'][number];

export const tokens: Page = {
  path: '/tokens',
  name: 'Tokens',
  menu: 'Programs',
  needs: 'list_agent_tokens',
  notForMembers: true,
  notices: { revoked: 'Token revoked. Its running requests were stopped.' },
  actions: {
    mint: operationAction(
      'create_agent_token',
      (result, visit) => minted(visit, result as OutputOf<typeof createAgentToken>),
      (fields) => ({
        name: fields.line('name') ?? '',
        actions: fields.list('actions'),
        projectId: fields.line('projectId'),
        serviceId: fields.line('serviceId'),
        mailboxIds: fields.list('mailboxIds'),
        expiresAt: endOfDay(fields.line('expiresAt')),
      }),
    ),
    revoke: operationAction('revoke_agent_token', 'revoked', ['tokenId']),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await readOperation<typeof listAgentTokens>(visit, 'list_agent_tokens', page);
    const all = listed?.tokens ?? [];
    const about = 'Credentials of agents and programs for MCP and HTTP. Each is shown once and can be revoked.';
    return html`${pageHead('Tokens', about)} ${all.length === 0 ? NONE : tokenTable(visit, all)}
    ${nextPage(`${visit.base}/tokens`, listed?.nextCursor)} ${PIN}
    ${isAllowed(visit, 'create_agent_token') && (await mintForm(visit, state))}`;
  },
};

/** Equals the digest in tools/list. */
const PIN = html`<p class="small soft">SHA-256 of the tool catalogue: <code>${catalogueSha256()}</code>.</p>`;

const NONE = emptyState('No tokens', 'Create one for each agent or program, with the fewest permissions it needs.');

function minted({ context }: Visit, { secret: value, token }: OutputOf<typeof createAgentToken>) {
  const command = `claude mcp add --transport http mailstead ${context.baseUrl()}/mcp --header "Authorization: Bearer ${value}"`;
  const rows = [
    ['Token', value],
    ['Claude Code command', command],
  ] as const;
  return {
    kind: 'shown',
    panel: secret(`The token ${token.name}`, rows, 'Shown only once. Store it where only its user can read it.'),
  } as const;
}

function tokenTable(visit: Visit, all: readonly Token[]): HtmlPart {
  return table(
    'Tokens',
    ['Name', 'Permissions', 'Last used', 'Expires', ''],
    all.map((one) => [
      [one.name, html` <span class="soft"><code>${one.prefix}...</code></span>`],
      [one.actions.join(', '), limits(one)],
      one.lastUsedAt === null ? html`<span>Never</span>` : dateOnly(one.lastUsedAt),
      one.expiresAt === null ? '' : dateOnly(one.expiresAt),
      one.revoked ? tag('Revoked') : isAllowed(visit, 'revoke_agent_token') && revokeForm(visit, one),
    ]),
  );
}

function limits({ projectId, serviceId, mailboxIds, owner, kind, createdBy }: Token): HtmlPart {
  const all = [
    owner && 'owner token',
    kind === 'oauth' && `OAuth, granted by ${createdBy}`,
    projectId !== null && `only ${projectId}`,
    serviceId !== null && `only ${serviceId}`,
    mailboxIds !== null && `only ${mailboxIds.join(', ')}`,
  ].filter((one) => one !== false);
  return all.length > 0 && html` <span class="soft">${all.join('; ')}</span>`;
}

function revokeForm(visit: Visit, { id, name }: Token): HtmlPart {
  return confirmedAction(visit, 'revoke', {
    label: 'Revoke',
    question: `Requests with ${name} are refused at once.`,
    yes: 'Revoke',
    values: { tokenId: id },
  });
}

const ACTIONS = [
  { value: 'read', label: 'read', hint: 'everything, including mail' },
  { value: 'manage', label: 'manage', hint: 'create, change, delete, send' },
  { value: 'deploy', label: 'deploy', hint: 'services' },
  { value: 'logs', label: 'logs', hint: 'of services' },
  { value: 'restart', label: 'restart', hint: 'services' },
  { value: 'rollback', label: 'rollback', hint: 'services' },
  { value: 'send', label: 'send', hint: 'mail only' },
  { value: 'mail_read', label: 'mail_read', hint: 'mail only' },
  { value: 'organize', label: 'organize', hint: 'mark, label, move and trash mail' },
];

async function mintForm(visit: Visit, state: PageState): Promise<HtmlPart> {
  const formState = formStateFor(state, 'mint');
  const [projects, services, mailboxes] = await Promise.all([
    readOperation<typeof listProjects>(visit, 'list_projects', { limit: 100 }),
    readOperation<typeof listServicesOf>(visit, 'list_services', { limit: 100 }),
    readOperation<typeof listEmails>(visit, 'list_emails', { limit: 100 }),
  ]);
  const any = { value: '', label: 'Any' };
  const named = (list: readonly { id: string; name: string }[]) => [
    any,
    ...list.map((one) => ({ value: one.id, label: one.name })),
  ];
  const boxes = (mailboxes?.mailboxes ?? []).map((one) => ({ value: one.id, label: one.address }));
  const body = html`${field({ name: 'name', label: 'Name', hint: 'The agent or program that uses it.' }, formState)}
    ${checkboxes({ name: 'actions', label: 'Permissions', choices: ACTIONS, ticked: ['read'] }, formState)}
    <div class="row">
      ${projects !== undefined && select({ name: 'projectId', label: 'Project', choices: named(projects.projects) }, formState)}
      ${services !== undefined && select({ name: 'serviceId', label: 'Service', choices: named(services.services) }, formState)}
    </div>
    ${boxes.length > 0 && checkboxes({ name: 'mailboxIds', label: 'Mailboxes', hint: 'None selected: all mailboxes.', choices: boxes }, formState)}
    ${expiryField('token-expires', formState)}`;
  return html`<section>
    <h2>Create a token</h2>
    ${actionForm(visit, 'mint', 'Create token', body)}
  </section>`;
}

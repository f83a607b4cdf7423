import type { listProjects } from '../../operations/organization/projects.ts';
import type { createAgentToken, listAgentTokens } from '../../operations/organization/tokens.ts';
import type { listServicesOf } from '../../operations/services/services.ts';
import type { listEmails } from '../../operations/mailboxes/list.ts';
import { catalogueSha256 } from '../../mcp/catalogue-pin.ts';
import { checks, field, select } from '../forms.ts';
import { html, type Part } from '../html.ts';
import { acting, filledFor, type Page, sheet, type State, sure } from '../page.ts';
import { cursorOf, day, empty, head, nextPage, secret, table, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';
import { endOf, expiryField } from './shared.ts';

type Token = Answer<typeof listAgentTokens>['tokens'][number];

export const tokens: Page = {
  path: '/tokens',
  name: 'Tokens',
  menu: 'Programs',
  needs: 'list_agent_tokens',
  notForMembers: true,
  done: { revoked: 'The token is revoked. Nothing that was begun with it goes on.' },
  acts: {
    mint: acting(
      'create_agent_token',
      (fields) => ({
        name: fields.line('name') ?? '',
        actions: fields.list('actions'),
        projectId: fields.line('projectId'),
        serviceId: fields.line('serviceId'),
        mailboxIds: fields.list('mailboxIds'),
        expiresAt: endOf(fields.line('expiresAt')),
      }),
      (result, visit) => minted(visit, result as Answer<typeof createAgentToken>),
    ),
    revoke: acting(
      'revoke_agent_token',
      (fields) => ({ tokenId: fields.text('tokenId') }),
      () => ({ kind: 'done', said: 'revoked' }),
    ),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await read<typeof listAgentTokens>(visit, 'list_agent_tokens', page);
    const all = listed?.tokens ?? [];
    const about = 'What agents and programs work with, over MCP and HTTP. Each is shown once and can be revoked.';
    return html`${head('Tokens', about)} ${all.length === 0 ? NONE : tokenTable(visit, all)}
    ${nextPage(`${visit.base}/tokens`, listed?.nextCursor)} ${PIN}
    ${can(visit, 'create_agent_token') && (await mintForm(visit, state))}`;
  },
};

/** The same as tools/list tells agents. */
const PIN = html`<p class="small soft">
  The tools that agents are shown have the SHA-256 <code>${catalogueSha256()}</code>.
</p>`;

const NONE = empty('No token yet', 'Mint one for each agent or program, with no more than it needs.');

function minted({ world }: Visit, { secret: value, token }: Answer<typeof createAgentToken>) {
  const command = `claude mcp add --transport http mailstead ${world.baseUrl()}/mcp --header "Authorization: Bearer ${value}"`;
  const rows = [
    ['Token', value],
    ['For Claude Code, for example', command],
  ] as const;
  return {
    kind: 'shown',
    panel: secret(`The token ${token.name}`, rows, 'It is shown this once. Keep it where only its user can read it.'),
  } as const;
}

function tokenTable(visit: Visit, all: readonly Token[]): Part {
  return table(
    'Tokens',
    ['Name', 'May', 'Last used', 'Ends', ''],
    all.map((one) => [
      [one.name, html` <span class="soft"><code>${one.prefix}...</code></span>`],
      [one.actions.join(', '), limits(one)],
      one.lastUsedAt === null ? html`<span>never</span>` : day(one.lastUsedAt),
      one.expiresAt === null ? '' : day(one.expiresAt),
      one.revoked ? tag('revoked') : can(visit, 'revoke_agent_token') && revoking(visit, one),
    ]),
  );
}

function limits({ projectId, serviceId, mailboxIds, owner, kind, createdBy }: Token): Part {
  const all = [
    owner && 'owner token',
    kind === 'oauth' && `a program that ${createdBy} let in`,
    projectId !== null && `only ${projectId}`,
    serviceId !== null && `only ${serviceId}`,
    mailboxIds !== null && `only ${mailboxIds.join(', ')}`,
  ].filter((one) => one !== false);
  return all.length > 0 && html` <span class="soft">${all.join('; ')}</span>`;
}

function revoking(visit: Visit, { id, name }: Token): Part {
  return sure(visit, 'revoke', {
    label: 'Revoke',
    question: `Whoever uses ${name} is refused from this moment on.`,
    yes: 'Revoke it',
    values: { tokenId: id },
  });
}

const ACTIONS = [
  { value: 'read', label: 'read', hint: 'see everything, mail too' },
  { value: 'manage', label: 'manage', hint: 'make, change, delete, send' },
  { value: 'deploy', label: 'deploy', hint: 'services' },
  { value: 'logs', label: 'logs', hint: 'of services' },
  { value: 'restart', label: 'restart', hint: 'services' },
  { value: 'rollback', label: 'rollback', hint: 'services' },
  { value: 'send', label: 'send', hint: 'mail, and no more' },
  { value: 'mail_read', label: 'mail_read', hint: 'mail, and no more' },
];

async function mintForm(visit: Visit, state: State): Promise<Part> {
  const filled = filledFor(state, 'mint');
  const [projects, services, mailboxes] = await Promise.all([
    read<typeof listProjects>(visit, 'list_projects', { limit: 100 }),
    read<typeof listServicesOf>(visit, 'list_services', { limit: 100 }),
    read<typeof listEmails>(visit, 'list_emails', { limit: 100 }),
  ]);
  const any = { value: '', label: 'Any' };
  const named = (list: readonly { id: string; name: string }[]) => [
    any,
    ...list.map((one) => ({ value: one.id, label: one.name })),
  ];
  const boxes = (mailboxes?.mailboxes ?? []).map((one) => ({ value: one.id, label: one.address }));
  const body = html`${field({ name: 'name', label: 'Name', hint: 'Who or what will use it.' }, filled)}
    ${checks({ name: 'actions', label: 'It may', choices: ACTIONS, ticked: ['read'] }, filled)}
    <div class="row">
      ${projects !== undefined && select({ name: 'projectId', label: 'Project', choices: named(projects.projects) }, filled)}
      ${services !== undefined && select({ name: 'serviceId', label: 'Service', choices: named(services.services) }, filled)}
    </div>
    ${boxes.length > 0 && checks({ name: 'mailboxIds', label: 'Only these mailboxes', hint: 'None ticked: all.', choices: boxes }, filled)}
    ${expiryField('token-expires', filled)}`;
  return html`<section>
    <h2>Mint a token</h2>
    ${sheet(visit, 'mint', 'Mint the token', body)}
  </section>`;
}

import type { listProjects } from '../../operations/organization/organization.ts';
import type { createAgentToken, listAgentTokens } from '../../operations/organization/tokens.ts';
import type { listServicesOf } from '../../operations/services/services.ts';
import type { listEmails } from '../../operations/mailboxes/list.ts';
import { catalogueSha256 } from '../../core/catalogue-pin.ts';
import { checkboxes, field, select } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { operationAction, formStateFor, type Page, actionForm, type PageState, confirmedAction } from '../page.ts';
import { cursorOf, dateOnly, emptyState, pageHead, nextPage, secret, table, tag } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import { endOfDay, expiryField } from './expiry.ts';

type Token = OutputOf<typeof listAgentTokens>['tokens'][number];

export const tokens: Page = {
  path: '/tokens',
  name: 'Tokens',
  translated: true,
  menu: 'Programs',
  needs: 'list_agent_tokens',
  notForMembers: true,
  notices: { revoked: { message: 'token.revoked' } },
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
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Tokens'), t('token.about'))}
    ${all.length === 0 ? emptyState(t('token.none'), t('token.none-text')) : tokenTable(t, visit, all)}
    ${nextPage(`${visit.base}/tokens`, listed?.nextCursor, t)} ${pin(t)}
    ${isAllowed(visit, 'create_agent_token') && (await mintForm(t, visit, state))}`;
  },
};

/** Equals the digest in tools/list. */
const pin = (t: Translator): HtmlPart =>
  html`<p class="small soft">${t.rich('token.digest', { digest: html`<code>${catalogueSha256()}</code>` })}</p>`;

function minted({ context, request }: Visit, { secret: value, token }: OutputOf<typeof createAgentToken>) {
  const command = `claude mcp add --transport http mailstead ${context.baseUrl()}/mcp --header "Authorization: Bearer ${value}"`;
  const t = translatorOf(request);
  const rows = [
    [t('token.name'), value],
    [t('token.command'), command],
  ] as const;
  return {
    kind: 'shown',
    panel: secret(t('token.made', { name: token.name }), rows, t('token.once')),
  } as const;
}

function tokenTable(t: Translator, visit: Visit, all: readonly Token[]): HtmlPart {
  return table(
    t('page.Tokens'),
    [t('account.name'), t('apps.permissions'), t('devices.last-used'), t('access.expires'), ''],
    all.map((one) => [
      [one.name, html` <span class="soft"><code>${one.prefix}...</code></span>`],
      [one.actions.join(', '), limits(t, one)],
      one.lastUsedAt === null ? html`<span>${t('devices.never')}</span>` : dateOnly(one.lastUsedAt, t),
      one.expiresAt === null ? t('devices.never') : dateOnly(one.expiresAt, t),
      one.revoked ? tag(t('token.is-revoked')) : isAllowed(visit, 'revoke_agent_token') && revokeForm(t, visit, one),
    ]),
    t,
  );
}

function limits(t: Translator, { projectId, serviceId, mailboxIds, owner, kind, createdBy }: Token): HtmlPart {
  const all = [
    owner && t('token.owner'),
    kind === 'oauth' && t('token.granted', { name: createdBy }),
    projectId !== null && t('token.only', { what: projectId }),
    serviceId !== null && t('token.only', { what: serviceId }),
    mailboxIds !== null && t('token.only', { what: mailboxIds.join(', ') }),
  ].filter((one) => one !== false);
  return all.length > 0 && html` <span class="soft">${all.join('; ')}</span>`;
}

function revokeForm(t: Translator, visit: Visit, { id, name }: Token): HtmlPart {
  return confirmedAction(visit, 'revoke', {
    label: t('devices.revoke'),
    question: t('token.revoke-question', { name }),
    yes: t('devices.revoke'),
    values: { tokenId: id },
  });
}

/** Actions by their names in the interface, which are the same in every language. */
const ACTIONS = ['read', 'manage', 'deploy', 'logs', 'restart', 'rollback', 'send', 'mail_read', 'organize'] as const;

async function mintForm(t: Translator, visit: Visit, state: PageState): Promise<HtmlPart> {
  const formState = formStateFor(state, 'mint');
  const [projects, services, mailboxes] = await Promise.all([
    readOperation<typeof listProjects>(visit, 'list_projects', { limit: 100 }),
    readOperation<typeof listServicesOf>(visit, 'list_services', { limit: 100 }),
    readOperation<typeof listEmails>(visit, 'list_emails', { limit: 100 }),
  ]);
  const any = { value: '', label: t('token.any') };
  const named = (list: readonly { id: string; name: string }[]) => [
    any,
    ...list.map((one) => ({ value: one.id, label: one.name })),
  ];
  const boxes = (mailboxes?.mailboxes ?? []).map((one) => ({ value: one.id, label: one.address }));
  const actions = ACTIONS.map((value) => ({ value, label: value, hint: t(`token-hint.${value}`) }));
  const only = { name: 'mailboxIds', label: t('page.Mailboxes'), hint: t('token.all-mailboxes'), choices: boxes };
  const body = html`${field({ name: 'name', label: t('account.name'), hint: t('token.hint') }, formState)}
    ${checkboxes({ name: 'actions', label: t('apps.permissions'), choices: actions, ticked: ['read'] }, formState)}
    <div class="row">
      ${projects !== undefined && select({ name: 'projectId', label: t('service.project'), choices: named(projects.projects) }, formState)}
      ${services !== undefined && select({ name: 'serviceId', label: t('page.Service'), choices: named(services.services) }, formState)}
    </div>
    ${boxes.length > 0 && checkboxes(only, formState)} ${expiryField('token-expires', formState, t)}`;
  return html`<section>
    <h2>${t('token.create-title')}</h2>
    ${actionForm(visit, 'mint', t('token.create'), body)}
  </section>`;
}

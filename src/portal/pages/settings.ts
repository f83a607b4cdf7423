import type { getDeployGateStatus } from '../../operations/accounts/gate.ts';
import type { getOrganization, listProjects } from '../../operations/organization/organization.ts';
import type { getMailPolicy } from '../../operations/sending/mail-policy.ts';
import { checkboxes, field, select } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { operationAction, formStateFor, collapsedForm, type Page, actionForm, type PageState } from '../page.ts';
import { dateOnly, descriptionList, pageHead, timestamp, table, tag } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';

type OrganizationDetails = OutputOf<typeof getOrganization>['organization'];

export const settings: Page = {
  path: '/settings',
  name: 'Settings',
  translated: true,
  menu: 'Organization',
  needs: 'update_organization',
  notices: {
    renamed: { message: 'settings.renamed' },
    project: { message: 'settings.project-created' },
    mail: { message: 'settings.mail-saved' },
  },
  actions: {
    rename: operationAction('update_organization', 'renamed', (fields) => ({ name: fields.line('name') ?? '' })),
    mail: operationAction('update_mail_policy', 'mail', (fields) => ({
      dmarc: fields.text('dmarc'),
      keepRejects: fields.text('keepRejects') === 'true',
    })),
    project: operationAction('create_project', 'project', (fields) => ({ name: fields.line('name') ?? '' })),
  },
  async show(visit, state) {
    const found = await readOperation<typeof getOrganization>(visit, 'get_organization', {});
    if (found === undefined) return undefined;
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Settings'))} ${about(t, found.organization)}
    ${rename(t, visit, state, found.organization)} ${await mail(t, visit, state)} ${await projects(t, visit, state)}
    ${await gate(t, visit)}`;
  },
};

function about(t: Translator, { id, slug, origin, createdAt, claimedAt }: OrganizationDetails): HtmlPart {
  return descriptionList([
    [t('log.id'), html`<code>${id}</code>`],
    [t('settings.slug'), html`<code>${slug}</code>`],
    [t('settings.created'), t.rich(`settings-origin.${origin}`, { time: timestamp(createdAt, t) })],
    [t('settings.claimed'), claimedAt === null ? t('settings.unclaimed') : timestamp(claimedAt, t)],
  ]);
}

function rename(t: Translator, visit: Visit, state: PageState, { name }: OrganizationDetails): HtmlPart {
  const one = { name: 'name', id: 'organization-name', label: t('settings.organization-name'), value: name };
  return html`<section>
    <h2>${t('account.name')}</h2>
    ${actionForm(visit, 'rename', t('settings.save-name'), field(one, formStateFor(state, 'rename')))}
  </section>`;
}

const HANDLING = ['follow', 'junk', 'mark'] as const;

async function mail(t: Translator, visit: Visit, state: PageState): Promise<HtmlPart> {
  if (!isAllowed(visit, 'update_mail_policy')) return undefined;
  const policy = await readOperation<typeof getMailPolicy>(visit, 'get_mail_policy', {});
  if (policy === undefined) return undefined;
  const formState = formStateFor(state, 'mail');
  const choices = HANDLING.map((value) => ({ value, label: t(`settings-dmarc.${value}`) }));
  const kept = { value: 'true', label: t('settings.keep-rejected') };
  const ticked = policy.keepRejects ? ['true'] : [];
  const rejected = { name: 'keepRejects', label: t('settings.rejected'), choices: [kept], ticked };
  return html`<section>
    <h2>${t('settings.mail')}</h2>
    ${actionForm(
      visit,
      'mail',
      t('mailbox.save'),
      html`${select({ name: 'dmarc', label: t('settings.dmarc'), choices, value: policy.dmarc }, formState)}
      ${checkboxes(rejected, formState)}`,
    )}
  </section>`;
}

async function projects(t: Translator, visit: Visit, state: PageState): Promise<HtmlPart> {
  const listed = await readOperation<typeof listProjects>(visit, 'list_projects', { limit: 100 });
  if (listed === undefined) return undefined;
  const one = { name: 'name', id: 'project-name', label: t('project.name') };
  return html`<section>
    <h2>${t('project.title')}</h2>
    <p>${t('project.about')}</p>
    ${table(
      t('project.title'),
      [t('account.name'), t('log.id'), t('mailbox.created')],
      listed.projects.map(({ id, name, createdAt }) => [name, html`<code>${id}</code>`, dateOnly(createdAt, t)]),
      t,
    )}
    ${
      isAllowed(visit, 'create_project') &&
      collapsedForm(
        visit,
        state,
        'project',
        t('project.create-title'),
        t('project.create'),
        field(one, formStateFor(state, 'project')),
      )
    }
  </section>`;
}

const LOOKS = { satisfied: 'ok', missing: 'warn', not_required: '' } as const;

async function gate(t: Translator, visit: Visit): Promise<HtmlPart> {
  const found = await readOperation<typeof getDeployGateStatus>(visit, 'get_deploy_gate_status', {});
  if (found === undefined) return undefined;
  return html`<section>
    <h2>${t('deploying.title')}</h2>
    <p>${t(found.open ? 'deploying.open' : 'deploying.closed')}</p>
    ${table(
      t('deploying.requirements'),
      [t('deploying.requirement'), t('domains.status'), t('deploying.next')],
      found.requirements.map(({ id, status, howTo, advisory }) => [
        [t(`deploy-requirement.${id}`), advisory && html` <span class="soft">${t('deploying.recommended')}</span>`],
        tag(t(`deploy-status.${status}`), LOOKS[status]),
        status === 'missing' ? t.english(howTo) : '',
      ]),
      t,
    )}
  </section>`;
}

import type { getDeployGateStatus } from '../../operations/accounts/gate.ts';
import type { getOrganization, listProjects } from '../../operations/organization/organization.ts';
import type { getMailPolicy } from '../../operations/sending/mail-policy.ts';
import { checkboxes, field, select } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { operationAction, formStateFor, collapsedForm, type Page, actionForm, type PageState } from '../page.ts';
import { dateOnly, descriptionList, pageHead, timestamp, table, tag } from '../components.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';

type OrganizationDetails = OutputOf<typeof getOrganization>['organization'];

export const settings: Page = {
  path: '/settings',
  name: 'Settings',
  menu: 'Organization',
  needs: 'update_organization',
  notices: {
    renamed: 'Name saved.',
    project: 'Project created.',
    mail: 'Inbound mail settings saved.',
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
    return html`${pageHead('Settings')} ${about(found.organization)} ${rename(visit, state, found.organization)}
    ${await mail(visit, state)} ${await projects(visit, state)} ${await gate(visit)}`;
  },
};

const ORIGINS: Readonly<Record<OrganizationDetails['origin'], string>> = {
  operator: 'with this server',
  claim: 'by an agent or program for its owner',
  own: 'by an agent for itself',
};

function about({ id, slug, origin, createdAt, claimedAt }: OrganizationDetails): HtmlPart {
  return descriptionList([
    ['ID', html`<code>${id}</code>`],
    ['Slug', html`<code>${slug}</code>`],
    ['Created', [timestamp(createdAt), ', ', ORIGINS[origin]]],
    ['Claimed', claimedAt === null ? 'No' : timestamp(claimedAt)],
  ]);
}

function rename(visit: Visit, state: PageState, { name }: OrganizationDetails): HtmlPart {
  const one = { name: 'name', id: 'organization-name', label: 'Organization name', value: name };
  return html`<section>
    <h2>Name</h2>
    ${actionForm(visit, 'rename', 'Save name', field(one, formStateFor(state, 'rename')))}
  </section>`;
}

const HANDLING = [
  { value: 'follow', label: 'Follow the domain’s policy: reject it, or move it to Junk' },
  { value: 'junk', label: 'Move it to Junk' },
  { value: 'mark', label: 'Deliver it with a mark' },
];

async function mail(visit: Visit, state: PageState): Promise<HtmlPart> {
  if (!isAllowed(visit, 'update_mail_policy')) return undefined;
  const policy = await readOperation<typeof getMailPolicy>(visit, 'get_mail_policy', {});
  if (policy === undefined) return undefined;
  const formState = formStateFor(state, 'mail');
  const kept = { value: 'true', label: 'Keep rejected mail for 7 days in the folder Rejects' };
  const ticked = policy.keepRejects ? ['true'] : [];
  return html`<section>
    <h2>Inbound mail</h2>
    ${actionForm(
      visit,
      'mail',
      'Save',
      html`${select(
        {
          name: 'dmarc',
          label: 'Mail that fails DMARC',
          choices: HANDLING,
          value: policy.dmarc,
        },
        formState,
      )}
      ${checkboxes({ name: 'keepRejects', label: 'Rejected mail', choices: [kept], ticked }, formState)}`,
    )}
  </section>`;
}

async function projects(visit: Visit, state: PageState): Promise<HtmlPart> {
  const listed = await readOperation<typeof listProjects>(visit, 'list_projects', { limit: 100 });
  if (listed === undefined) return undefined;
  const one = { name: 'name', id: 'project-name', label: 'Project name' };
  return html`<section>
    <h2>Projects</h2>
    <p>Groups of domains, mailboxes, keys and services. Tokens can be limited to a project.</p>
    ${table(
      'Projects',
      ['Name', 'ID', 'Created'],
      listed.projects.map(({ id, name, createdAt }) => [name, html`<code>${id}</code>`, dateOnly(createdAt)]),
    )}
    ${
      isAllowed(visit, 'create_project') &&
      collapsedForm(
        visit,
        state,
        'project',
        'Create a project',
        'Create project',
        field(one, formStateFor(state, 'project')),
      )
    }
  </section>`;
}

const NAMES = { recovery: 'Recovery key', billing: 'Payment method', domain_verified: 'Verified domain' } as const;
const LOOKS = { satisfied: 'ok', missing: 'warn', not_required: '' } as const;
const WORDS = { satisfied: 'Satisfied', missing: 'Missing', not_required: 'Not required' } as const;

async function gate(visit: Visit): Promise<HtmlPart> {
  const found = await readOperation<typeof getDeployGateStatus>(visit, 'get_deploy_gate_status', {});
  if (found === undefined) return undefined;
  return html`<section>
    <h2>Deployment</h2>
    <p>${found.open ? 'Services can be deployed.' : 'Services cannot be deployed yet.'}</p>
    ${table(
      'Deployment requirements',
      ['Requirement', 'Status', 'Next step'],
      found.requirements.map(({ id, status, howTo, advisory }) => [
        [NAMES[id], advisory && html` <span class="soft">recommended</span>`],
        tag(WORDS[status], LOOKS[status]),
        status === 'missing' ? howTo : '',
      ]),
    )}
  </section>`;
}

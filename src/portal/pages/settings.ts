import type { getDeployGateStatus } from '../../operations/accounts/gate.ts';
import type { getOrganization } from '../../operations/organization/organization.ts';
import type { listProjects } from '../../operations/organization/projects.ts';
import type { getMailPolicy } from '../../operations/sending/mail-policy.ts';
import { checks, field, select } from '../forms.ts';
import { html, type Part } from '../html.ts';
import { acting, filledFor, more, type Page, sheet, type State } from '../page.ts';
import { day, facts, head, moment, table, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';

type Whole = Answer<typeof getOrganization>['organization'];

export const settings: Page = {
  path: '/settings',
  name: 'Settings',
  menu: 'Organization',
  needs: 'update_organization',
  done: {
    renamed: 'The new name is saved.',
    project: 'The project is there.',
    mail: 'What you want done with mail from outside is saved.',
  },
  acts: {
    rename: acting(
      'update_organization',
      (fields) => ({ name: fields.line('name') ?? '' }),
      () => ({ kind: 'done', said: 'renamed' }),
    ),
    mail: acting(
      'update_mail_policy',
      (fields) => ({ dmarc: fields.text('dmarc'), keepRejects: fields.text('keepRejects') === 'true' }),
      () => ({ kind: 'done', said: 'mail' }),
    ),
    project: acting(
      'create_project',
      (fields) => ({ name: fields.line('name') ?? '' }),
      () => ({ kind: 'done', said: 'project' }),
    ),
  },
  async show(visit, state) {
    const found = await read<typeof getOrganization>(visit, 'get_organization', {});
    if (found === undefined) return undefined;
    return html`${head('Settings')} ${about(found.organization)} ${rename(visit, state, found.organization)}
    ${await mail(visit, state)} ${await projects(visit, state)} ${await gate(visit)}`;
  },
};

const ORIGINS: Readonly<Record<Whole['origin'], string>> = {
  operator: 'with this server',
  claim: 'for its owner, by an agent or program',
  own: 'by an agent, for itself',
};

function about({ id, slug, origin, createdAt, claimedAt }: Whole): Part {
  return facts([
    ['Id', html`<code>${id}</code>`],
    ['Slug', html`<code>${slug}</code>`],
    ['Made', [moment(createdAt), ', ', ORIGINS[origin]]],
    ['Claimed', claimedAt === null ? 'not yet' : moment(claimedAt)],
  ]);
}

function rename(visit: Visit, state: State, { name }: Whole): Part {
  const one = { name: 'name', id: 'organization-name', label: 'Name of the organization', value: name };
  return html`<section>
    <h2>Name</h2>
    ${sheet(visit, 'rename', 'Save the name', field(one, filledFor(state, 'rename')))}
  </section>`;
}

const HANDLING = [
  { value: 'follow', label: 'do what that domain asks: refuse it, or put it into Junk' },
  { value: 'junk', label: 'put it into Junk' },
  { value: 'mark', label: 'deliver it, and say so' },
];

async function mail(visit: Visit, state: State): Promise<Part> {
  if (!can(visit, 'update_mail_policy')) return undefined;
  const policy = await read<typeof getMailPolicy>(visit, 'get_mail_policy', {});
  if (policy === undefined) return undefined;
  const filled = filledFor(state, 'mail');
  const kept = { value: 'true', label: 'Keep refused mail for 7 days, in the mailbox Rejects' };
  const ticked = policy.keepRejects ? ['true'] : [];
  return html`<section>
    <h2>Mail from outside</h2>
    ${sheet(
      visit,
      'mail',
      'Save it',
      html`${select(
        {
          name: 'dmarc',
          label: 'Mail whose author the domain in From does not vouch for (DMARC)',
          choices: HANDLING,
          value: policy.dmarc,
        },
        filled,
      )}
      ${checks({ name: 'keepRejects', label: 'Refused mail', choices: [kept], ticked }, filled)}`,
    )}
  </section>`;
}

async function projects(visit: Visit, state: State): Promise<Part> {
  const listed = await read<typeof listProjects>(visit, 'list_projects', { limit: 100 });
  if (listed === undefined) return undefined;
  const one = { name: 'name', id: 'project-name', label: 'Name of the project' };
  return html`<section>
    <h2>Projects</h2>
    <p>Groups of domains, mailboxes, keys and services, to which tokens can be limited.</p>
    ${table(
      'Projects',
      ['Name', 'Id', 'Since'],
      listed.projects.map(({ id, name, createdAt }) => [name, html`<code>${id}</code>`, day(createdAt)]),
    )}
    ${
      can(visit, 'create_project') &&
      more(visit, state, 'project', 'Make a project', 'Make it', field(one, filledFor(state, 'project')))
    }
  </section>`;
}

const NAMES = { recovery: 'A way back in', billing: 'Payment', domain_verified: 'A verified domain' } as const;
const LOOKS = { satisfied: 'ok', missing: 'warn', not_required: '' } as const;
const WORDS = { satisfied: 'there', missing: 'missing', not_required: 'not needed' } as const;

async function gate(visit: Visit): Promise<Part> {
  const found = await read<typeof getDeployGateStatus>(visit, 'get_deploy_gate_status', {});
  if (found === undefined) return undefined;
  return html`<section>
    <h2>Deploying</h2>
    <p>${found.open ? 'Services may be deployed.' : 'Services may not be deployed yet.'}</p>
    ${table(
      'What deploying needs',
      ['What', 'State', 'How'],
      found.requirements.map(({ id, status, howTo, advisory }) => [
        [NAMES[id], advisory && html` <span class="soft">advice</span>`],
        tag(WORDS[status], LOOKS[status]),
        status === 'missing' ? howTo : '',
      ]),
    )}
  </section>`;
}

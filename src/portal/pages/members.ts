import type { listEmails } from '../../operations/mailboxes/list.ts';
import type { getSignInPolicy } from '../../operations/organization/sign-in-policy.ts';
import type { listOrganizationMembers } from '../../operations/organization/members.ts';
import { checkboxes, field, select } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { operationAction, formStateFor, type Page, actionForm, type PageState, confirmedAction } from '../page.ts';
import { buttonRow, dateOnly, pageHead, table, tag } from '../components.ts';
import { type OutputOf, runOperation, isAllowed, readOperation, type Visit } from '../visit.ts';

type Member = OutputOf<typeof listOrganizationMembers>['members'][number];

export const members: Page = {
  path: '/members',
  name: 'Members',
  menu: 'Organization',
  needs: 'list_members',
  notices: {
    invited: 'Invitation sent. Its link expires in 7 days.',
    changed: 'Changes saved.',
    removed: 'Member removed.',
    policy: 'Sign-in policy saved.',
  },
  actions: {
    invite: operationAction('invite_member', 'invited', (fields) => ({
      email: fields.line('email') ?? '',
      role: fields.text('role'),
    })),
    async change(visit, fields) {
      const [userId, role] = [fields.text('userId'), fields.text('role')];
      // For members, no box checked means no mailbox. Other roles keep their list.
      const mailboxes = role === 'member' ? { mailboxIds: fields.list('mailboxIds') } : {};
      const done = await runOperation(visit, 'update_member', { userId, role, ...mailboxes });
      if (done.kind === 'done') return { kind: 'done', notice: 'changed' };
      return { kind: 'refused', form: { values: {}, errors: {}, problem: done.refusal.message } };
    },
    remove: operationAction('remove_member', 'removed', ['userId']),
    policy: operationAction('set_sign_in_policy', 'policy', (fields) => ({
      secondFactor: fields.text('secondFactor'),
      singleSignOn: fields.line('singleSignOn'),
    })),
  },
  async show(visit, state) {
    const all = (await readOperation<typeof listOrganizationMembers>(visit, 'list_members', {}))?.members ?? [];
    const boxes = (await readOperation<typeof listEmails>(visit, 'list_emails', { limit: 100 }))?.mailboxes ?? [];
    const choices = boxes.map((one) => ({ value: one.id, label: one.address }));
    return html`${pageHead('Members', 'Members of this organization and their roles.')}
    ${memberTable(visit, all, choices)} ${isAllowed(visit, 'invite_member') && inviteForm(visit, state)}
    ${await policyForm(visit, state)}`;
  },
};

const ROLES = { owner: 'Owner', admin: 'Administrator', member: 'Member' } as const;

function memberTable(
  visit: Visit,
  all: readonly Member[],
  boxes: readonly { value: string; label: string }[],
): HtmlPart {
  return table(
    'Members',
    ['Person', 'Role', 'Since', ''],
    all.map((one) => [
      [one.displayName ?? one.email, one.displayName !== null && html` <span class="soft">${one.email}</span>`],
      [ROLES[one.role], ' ', one.status === 'pending' && tag('Pending', 'warn'), ' ', unverified(one)],
      dateOnly(one.since),
      buttonRow(
        isAllowed(visit, 'update_member') && changeForm(visit, one, boxes),
        isAllowed(visit, 'remove_member') && one.userId !== visit.caller.actor && removeForm(visit, one),
      ),
    ]),
  );
}

function unverified({ status, addressProven }: Member): HtmlPart {
  return status === 'active' && !addressProven && tag('Address unverified', 'warn');
}

function changeForm(visit: Visit, one: Member, boxes: readonly { value: string; label: string }[]): HtmlPart {
  const choices = Object.entries(ROLES).map(([value, label]) => ({ value, label }));
  const id = `role-${one.userId}`;
  const hint = 'Applies to members only.';
  return confirmedAction(visit, 'change', {
    label: 'Change',
    calm: true,
    question: `Role of ${one.email}.`,
    yes: 'Save',
    values: { userId: one.userId },
    body: html`${select({ name: 'role', id, label: 'Role', choices, value: one.role })}
    ${boxes.length > 0 && checkboxes({ name: 'mailboxIds', label: 'Mailboxes', hint, choices: boxes, ticked: one.mailboxIds })}`,
  });
}

function removeForm(visit: Visit, { userId, email }: Member): HtmlPart {
  return confirmedAction(visit, 'remove', {
    label: 'Remove',
    question: `${email} loses access to this organization. Passwords that they know stay valid: change them.`,
    yes: 'Remove',
    values: { userId },
  });
}

function inviteForm(visit: Visit, state: PageState): HtmlPart {
  const formState = formStateFor(state, 'invite');
  const email = { name: 'email', label: 'Mail address', type: 'email', autocomplete: 'off' } as const;
  const choices = [
    { value: 'member', label: 'Member' },
    { value: 'admin', label: 'Administrator' },
  ];
  return html`<section>
    <h2>Invite a person</h2>
    ${actionForm(
      visit,
      'invite',
      'Send invitation',
      html`<div class="row">
          ${field(email, formState)} ${select({ name: 'role', label: 'Role', choices }, formState)}
        </div>
        <p class="hint">A member has access to assigned mailboxes, an administrator to everything.</p>`,
    )}
  </section>`;
}

const RULES = [
  { value: 'none', label: 'Nobody' },
  { value: 'owners', label: 'Owners' },
  { value: 'admins', label: 'Owners and administrators' },
  { value: 'everybody', label: 'Everybody' },
];

const PROVIDER_RULES = [
  { value: 'off', label: 'Off' },
  { value: 'allowed', label: 'Allowed' },
  { value: 'required', label: 'Required, except for owners' },
];

function providerRule(value: string, state: PageState): HtmlPart {
  const one = { name: 'singleSignOn', label: 'Single sign-on', choices: PROVIDER_RULES, value };
  return select(one, formStateFor(state, 'policy'));
}

async function policyForm(visit: Visit, state: PageState): Promise<HtmlPart> {
  const policy = await readOperation<typeof getSignInPolicy>(visit, 'get_sign_in_policy', {});
  if (policy === undefined || visit.membership.role !== 'owner') return undefined;
  const { secondFactor: value, singleSignOn, members: all, withSecondFactor } = policy;
  const one = { name: 'secondFactor', label: 'Second factor required for', choices: RULES, value };
  return html`<section>
    <h2>Sign-in policy</h2>
    <p>${withSecondFactor} of ${all === 1 ? '1 person has' : `${all} people have`} a second factor.</p>
    ${actionForm(
      visit,
      'policy',
      'Save',
      html`${select(one, formStateFor(state, 'policy'))}
        ${singleSignOn !== undefined && providerRule(singleSignOn, state)}
        <p class="hint">
          People without a second factor must set one up before they can continue. Tokens are unaffected.
        </p>`,
    )}
  </section>`;
}

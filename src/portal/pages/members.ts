import type { listEmails } from '../../operations/mailboxes/list.ts';
import type { listOrganizationMembers } from '../../operations/organization/members.ts';
import { checks, field, select } from '../forms.ts';
import { html, type Part } from '../html.ts';
import { acting, filledFor, type Page, sheet, type State, sure } from '../page.ts';
import { acts, day, head, table, tag } from '../parts.ts';
import { type Answer, ask, can, read, type Visit } from '../visit.ts';

type Member = Answer<typeof listOrganizationMembers>['members'][number];

export const members: Page = {
  path: '/members',
  name: 'Members',
  menu: 'Organization',
  needs: 'list_members',
  done: {
    invited: 'The invitation is on its way. Its link is good for 7 days.',
    changed: 'The changes are saved.',
    removed: 'The person no longer belongs to this organization.',
  },
  acts: {
    invite: acting(
      'invite_member',
      (fields) => ({ email: fields.line('email') ?? '', role: fields.text('role') }),
      () => ({ kind: 'done', said: 'invited' }),
    ),
    async change(visit, fields) {
      const [userId, role] = [fields.text('userId'), fields.text('role')];
      // Of a member none ticked is none; of others the mailboxes do not matter, and stay.
      const mailboxes = role === 'member' ? { mailboxIds: fields.list('mailboxIds') } : {};
      const done = await ask(visit, 'update_member', { userId, role, ...mailboxes });
      if (done.kind === 'done') return { kind: 'done', said: 'changed' };
      return { kind: 'refused', filled: { values: {}, errors: {}, problem: done.refusal.message } };
    },
    remove: acting(
      'remove_member',
      (fields) => ({ userId: fields.text('userId') }),
      () => ({ kind: 'done', said: 'removed' }),
    ),
  },
  async show(visit, state) {
    const all = (await read<typeof listOrganizationMembers>(visit, 'list_members', {}))?.members ?? [];
    const boxes = (await read<typeof listEmails>(visit, 'list_emails', { limit: 100 }))?.mailboxes ?? [];
    const choices = boxes.map((one) => ({ value: one.id, label: one.address }));
    return html`${head('Members', 'Who belongs to this organization, and as what.')} ${memberTable(visit, all, choices)}
    ${can(visit, 'invite_member') && inviteForm(visit, state)}`;
  },
};

const ROLES = { owner: 'Owner', admin: 'Administrator', member: 'Member' } as const;

function memberTable(visit: Visit, all: readonly Member[], boxes: readonly { value: string; label: string }[]): Part {
  return table(
    'Members',
    ['Person', 'Role', 'Since', ''],
    all.map((one) => [
      [one.displayName ?? one.email, one.displayName !== null && html` <span class="soft">${one.email}</span>`],
      [ROLES[one.role], ' ', one.status === 'pending' && tag('not claimed yet', 'warn'), ' ', unproven(one)],
      day(one.since),
      acts(
        can(visit, 'update_member') && changing(visit, one, boxes),
        can(visit, 'remove_member') && one.userId !== visit.caller.actor && removing(visit, one),
      ),
    ]),
  );
}

function unproven({ status, addressProven }: Member): Part {
  return status === 'active' && !addressProven && tag('address not proved', 'warn');
}

function changing(visit: Visit, one: Member, boxes: readonly { value: string; label: string }[]): Part {
  const choices = Object.entries(ROLES).map(([value, label]) => ({ value, label }));
  const id = `role-${one.userId}`;
  const hint = 'For members: the mailboxes that are theirs.';
  return sure(visit, 'change', {
    label: 'Change',
    calm: true,
    question: `What ${one.email} is here.`,
    yes: 'Save',
    values: { userId: one.userId },
    body: html`${select({ name: 'role', id, label: 'Role', choices, value: one.role })}
    ${boxes.length > 0 && checks({ name: 'mailboxIds', label: 'Mailboxes', hint, choices: boxes, ticked: one.mailboxIds })}`,
  });
}

function removing(visit: Visit, { userId, email }: Member): Part {
  return sure(visit, 'remove', {
    label: 'Remove',
    question: `${email} no longer sees anything of this organization. Passwords that they know still hold: set new ones.`,
    yes: 'Remove them',
    values: { userId },
  });
}

function inviteForm(visit: Visit, state: State): Part {
  const filled = filledFor(state, 'invite');
  const email = { name: 'email', label: 'Mail address', type: 'email', autocomplete: 'off' } as const;
  const choices = [
    { value: 'member', label: 'Member' },
    { value: 'admin', label: 'Administrator' },
  ];
  return html`<section>
    <h2>Invite a person</h2>
    ${sheet(
      visit,
      'invite',
      'Send the invitation',
      html`<div class="row">${field(email, filled)} ${select({ name: 'role', label: 'As', choices }, filled)}</div>
        <p class="hint">A member works with mailboxes of their own, an administrator with everything.</p>`,
    )}
  </section>`;
}

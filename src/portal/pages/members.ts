import type { listEmails } from '../../operations/mailboxes/list.ts';
import type { getSignInPolicy } from '../../operations/organization/sign-in-policy.ts';
import type { listOrganizationMembers } from '../../operations/organization/members.ts';
import { checkboxes, field, select } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import type { PlainPortalKey } from '../message-types.ts';
import { operationAction, formStateFor, type Page, actionForm, type PageState, confirmedAction } from '../page.ts';
import { buttonRow, dateOnly, pageHead, table, tag } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, runOperation, isAllowed, readOperation, type Visit } from '../visit.ts';

type Member = OutputOf<typeof listOrganizationMembers>['members'][number];

export const members: Page = {
  path: '/members',
  name: 'Members',
  translated: true,
  menu: 'Organization',
  needs: 'list_members',
  notices: {
    invited: { message: 'member.invited' },
    changed: { message: 'mailbox.changed' },
    removed: { message: 'member.removed' },
    policy: { message: 'sign-in-policy.saved' },
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
      return { kind: 'refused', form: { values: {}, errors: {}, problem: done.refusal.message, errorLanguage: 'en' } };
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
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Members'), t('member.about'))} ${memberTable(t, visit, all, choices)}
    ${isAllowed(visit, 'invite_member') && inviteForm(t, visit, state)} ${await policyForm(t, visit, state)}`;
  },
};

const ROLES = ['owner', 'admin', 'member'] as const;

function memberTable(
  t: Translator,
  visit: Visit,
  all: readonly Member[],
  boxes: readonly { value: string; label: string }[],
): HtmlPart {
  return table(
    t('page.Members'),
    [t('member.person'), t('account.role'), t('queue.since'), ''],
    all.map((one) => [
      [one.displayName ?? one.email, one.displayName !== null && html` <span class="soft">${one.email}</span>`],
      [
        t(`role.${one.role}`),
        ' ',
        one.status === 'pending' && tag(t('member.pending'), 'warn'),
        ' ',
        unverified(t, one),
      ],
      dateOnly(one.since, t),
      buttonRow(
        isAllowed(visit, 'update_member') && changeForm(t, visit, one, boxes),
        isAllowed(visit, 'remove_member') && one.userId !== visit.caller.actor && removeForm(t, visit, one),
      ),
    ]),
    t,
  );
}

function unverified(t: Translator, { status, addressProven }: Member): HtmlPart {
  return status === 'active' && !addressProven && tag(t('member.unverified'), 'warn');
}

function changeForm(
  t: Translator,
  visit: Visit,
  one: Member,
  boxes: readonly { value: string; label: string }[],
): HtmlPart {
  const choices = ROLES.map((value) => ({ value, label: t(`role.${value}`) }));
  const id = `role-${one.userId}`;
  const hint = t('member.mailboxes-hint');
  return confirmedAction(visit, 'change', {
    label: t('member.change'),
    calm: true,
    question: t('member.role-of', { address: one.email }),
    yes: t('mailbox.save'),
    values: { userId: one.userId },
    body: html`${select({ name: 'role', id, label: t('account.role'), choices, value: one.role })}
    ${boxes.length > 0 && checkboxes({ name: 'mailboxIds', label: t('page.Mailboxes'), hint, choices: boxes, ticked: one.mailboxIds })}`,
  });
}

function removeForm(t: Translator, visit: Visit, { userId, email }: Member): HtmlPart {
  return confirmedAction(visit, 'remove', {
    label: t('passkey.remove'),
    question: t('member.remove-question', { address: email }),
    yes: t('passkey.remove'),
    values: { userId },
  });
}

function inviteForm(t: Translator, visit: Visit, state: PageState): HtmlPart {
  const formState = formStateFor(state, 'invite');
  const email = { name: 'email', label: t('field.address'), type: 'email', autocomplete: 'off' } as const;
  const choices = (['member', 'admin'] as const).map((value) => ({ value, label: t(`role.${value}`) }));
  return html`<section>
    <h2>${t('member.invite-title')}</h2>
    ${actionForm(
      visit,
      'invite',
      t('member.invite'),
      html`<div class="row">
          ${field(email, formState)} ${select({ name: 'role', label: t('account.role'), choices }, formState)}
        </div>
        <p class="hint">${t('member.invite-hint')}</p>`,
    )}
  </section>`;
}

type Choices = readonly (readonly [value: string, label: PlainPortalKey])[];

const RULES: Choices = [
  ['none', 'sign-in-policy.none'],
  ['owners', 'sign-in-policy.owners'],
  ['admins', 'sign-in-policy.admins'],
  ['everybody', 'sign-in-policy.everybody'],
];

const PROVIDER_RULES: Choices = [
  ['off', 'state.off'],
  ['allowed', 'sign-in-policy.allowed'],
  ['required', 'sign-in-policy.required'],
];

function choicesOf(t: Translator, all: Choices): { value: string; label: string }[] {
  return all.map(([value, label]) => ({ value, label: t(label) }));
}

function providerRule(t: Translator, value: string, state: PageState): HtmlPart {
  const choices = choicesOf(t, PROVIDER_RULES);
  const one = { name: 'singleSignOn', label: t('security.single-sign-on'), choices, value };
  return select(one, formStateFor(state, 'policy'));
}

async function policyForm(t: Translator, visit: Visit, state: PageState): Promise<HtmlPart> {
  const policy = await readOperation<typeof getSignInPolicy>(visit, 'get_sign_in_policy', {});
  if (policy === undefined || visit.membership.role !== 'owner') return undefined;
  const { secondFactor: value, singleSignOn, members: all, withSecondFactor } = policy;
  const label = t('sign-in-policy.required-for');
  const one = { name: 'secondFactor', label, choices: choicesOf(t, RULES), value };
  return html`<section>
    <h2>${t('sign-in-policy.title')}</h2>
    <p>${t('sign-in-policy.enrolled', { enrolled: withSecondFactor, count: all })}</p>
    ${actionForm(
      visit,
      'policy',
      t('mailbox.save'),
      html`${select(one, formStateFor(state, 'policy'))}
        ${singleSignOn !== undefined && providerRule(t, singleSignOn, state)}
        <p class="hint">${t('sign-in-policy.hint')}</p>`,
    )}
  </section>`;
}
